// The behaviour that contacts, deals, pipelines, tax rates and time entries share.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { invalid, recordsAt } from '../../../test/records.ts'

let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	server = await startTestServer()
})
beforeEach(async () => {
	tenant = await server.newTenant()
})
afterAll(() => server.close())

interface Kind {
	readonly path: string
	readonly prefix: string
	/** The body that creates a record; `change` makes a body that changes it, with each number to something else. */
	create(tenant: Tenant): Promise<object>
	change(value: number): object
	/** The number of records that a new organization has. */
	readonly given?: number
	/** Whether a deleted record can still be read. */
	readonly archived?: boolean
}

const kinds: Kind[] = [
	{ path: '/api/contacts', prefix: 'ct', create: async () => ({ name: 'Ada' }), change: (value) => ({ phone: String(value) }) },
	{ path: '/api/deals', prefix: 'dl', create: async () => ({ name: 'Shop' }), change: (value) => ({ valueCents: value }) },
	{
		path: '/api/pipelines',
		prefix: 'pl',
		create: async () => ({ name: 'Retainers', stages: [{ key: 'active', label: 'Active', type: 'won' }] }),
		change: (value) => ({ name: `Name ${value}` }),
		given: 1,
	},
	{
		path: '/api/tax-rates',
		prefix: 'txr',
		create: async () => ({ name: 'VAT', percent: '19' }),
		change: (value) => ({ label: `Label ${value}` }),
		archived: true,
	},
	{
		path: '/api/time-entries',
		prefix: 'te',
		create: async ({ newDeal }) => ({ dealId: await newDeal(), userId: randomUUID() }),
		change: (value) => ({ description: `Words ${value}` }),
	},
]

describe.each(kinds)('$path', ({ path, prefix, create, change, given = 0, archived = false }) => {
	const records = recordsAt(path)
	const make = async (of: Tenant = tenant) => records.create(of, await create(of))
	const gone = { status: 404, body: { code: expect.stringMatching(/_not_found$/) } }

	it('creates at version 1, and answers with the location', async () => {
		const { status, headers, body } = await records.post(tenant, await create(tenant))
		expect([status, headers.get('location'), headers.get('etag')]).toEqual([201, records.at(body.id), '"1"'])
		expect(body.id).toMatch(new RegExp(`^${prefix}_[0-9A-Za-z]{20}$`))
		const { now } = server.clock
		const { organizationId } = tenant
		expect(await records.read(tenant, body.id)).toMatchObject({
			id: body.id,
			organizationId,
			createdAt: now,
			updatedAt: now,
			version: 1,
		})
	})

	it.each(['PATCH', 'PUT'])('changes what %s sends and keeps the rest', async (method) => {
		const id = await make()
		const before = await records.read(tenant, id)
		server.clock.now += 5
		const updatedAt = server.clock.now
		const answer = await tenant.ask(method, records.at(id), { body: change(7) })
		expect([answer.status, answer.body, answer.headers.get('etag')]).toEqual([200, { ok: true }, '"2"'])
		expect(await records.read(tenant, id)).toEqual({ ...before, ...change(7), updatedAt, version: 2 })
	})

	it('changes and deletes only the version that If-Match names', async () => {
		const id = await make()
		const attempt = async (method: string, tag: string) => {
			const body = method === 'DELETE' ? undefined : change(method === 'PUT' ? 8 : 7)
			return (await tenant.ask(method, records.at(id), { body, headers: { 'if-match': tag } })).status
		}
		expect([await attempt('PATCH', '"1"'), await attempt('PUT', '"2"')]).toEqual([200, 200])
		for (const tag of ['"2"', 'W/"2"', '"4"', '3', '"3anything"', '"3-anything"', 'W/"3gzip"']) {
			for (const method of ['PATCH', 'PUT', 'DELETE'])
				expect([method, tag, await attempt(method, tag)]).toEqual([method, tag, 412])
		}
		expect(await records.read(tenant, id)).toMatchObject({ ...change(8), version: 3 })
		expect(await attempt('DELETE', '"2", "3"')).toBe(200)
	})

	it('answers 304 while nothing has changed', async () => {
		const id = await make()
		const status = async () => (await tenant.ask('GET', records.at(id), { headers: { 'if-none-match': '"1"' } })).status
		expect(await status()).toBe(304)
		await records.patch(tenant, id, change(7))
		expect(await status()).toBe(200)
	})

	it('loses none of twenty changes at the same time', async () => {
		const id = await make()
		const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => records.patch(tenant, id, change(index))))
		const tags = answers.map(({ headers }) => headers.get('etag')).toSorted()
		expect(tags).toEqual(Array.from({ length: 20 }, (_, index) => `"${index + 2}"`).toSorted())
		expect(await records.read(tenant, id)).toMatchObject({ version: 21 })
	})

	it('lets one of twenty changes of the same version through', async () => {
		const id = await make()
		const options = { body: change(7), headers: { 'if-match': '"1"' } }
		const answers = await Promise.all(Array.from({ length: 20 }, () => tenant.ask('PATCH', records.at(id), options)))
		expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(19).fill(412)])
	})

	it('deletes once', async () => {
		const [id, other] = [await make(), await make()]
		expect(await records.remove(tenant, id)).toMatchObject({ status: 200, body: { ok: true } })
		if (archived) return
		for (const method of ['GET', 'PATCH', 'PUT', 'DELETE']) {
			const body = method.startsWith('P') ? change(7) : undefined
			expect(await tenant.ask(method, records.at(id), { body })).toMatchObject(gone)
		}
		const left = await records.ids(tenant)
		expect([left.includes(id), left.includes(other), left.length]).toEqual([false, true, 1 + given])
	})

	it('lists the newest first, in pages that hold each record once, also when their times are equal', async () => {
		const made: string[] = []
		for (let index = 0; index < 12; index++) {
			if (index % 4 === 0) server.clock.now++
			made.push(await make())
		}
		const all = (await tenant.ask('GET', path)).body.data
		const order = path === '/api/time-entries' ? 'startedAt' : 'createdAt'
		const sorted = all.toSorted(
			(a: Record<string, number | string>, b: Record<string, number | string>) =>
				Number(b[order]) - Number(a[order]) || (String(a.id) < String(b.id) ? 1 : -1),
		)
		expect(all).toEqual(sorted)
		const seen: string[] = []
		for (const offset of [0, 5, 10, 15]) {
			const page = (await tenant.ask('GET', `${path}?limit=5&offset=${offset}`)).body
			const hasMore = offset + 5 < 12 + given
			const nextCursor = hasMore ? expect.any(String) : null
			expect(page.meta).toEqual({ total: 12 + given, limit: 5, offset, hasMore, nextCursor })
			seen.push(...page.data.map(({ id }: { id: string }) => id))
		}
		expect(seen).toEqual(all.map(({ id }: { id: string }) => id))
		expect(seen).toEqual(expect.arrayContaining(made))
	})

	it('rejects a list with a parameter that the contract does not allow, and names it', async () => {
		for (const query of ['limit=0', 'limit=101', 'limit=x', 'offset=-1', 'sortBy=name']) {
			const parameter = query.split('=')[0]
			expect(await tenant.ask('GET', `${path}?${query}`)).toMatchObject({ status: 400, body: { errors: [{ parameter }] } })
		}
	})

	it('shows nothing of another organization, and lets nobody else change it', async () => {
		const [id, stranger] = [await make(), await server.newTenant()]
		const before = await records.read(tenant, id)
		for (const method of ['GET', 'PATCH', 'PUT', 'DELETE']) {
			const body = method.startsWith('P') ? change(7) : undefined
			expect(await stranger.ask(method, records.at(id), { body })).toMatchObject(gone)
		}
		expect(await records.ids(stranger)).toHaveLength(given)
		expect(await records.read(tenant, id)).toEqual(before)
	})

	it('takes no field that the server sets, and no unknown field', async () => {
		const [body, id] = [await create(tenant), await make()]
		for (const field of ['id', 'organizationId', 'createdAt', 'updatedAt', 'deletedAt', 'version', 'nonsense']) {
			expect(await records.post(tenant, { ...body, [field]: 1 })).toMatchObject(invalid(`/${field}`))
			expect(await records.patch(tenant, id, { [field]: 1 })).toMatchObject(invalid(`/${field}`))
		}
	})
})
