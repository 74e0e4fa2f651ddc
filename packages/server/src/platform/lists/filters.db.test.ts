// Filters of deals, contacts and time entries.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'

let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	server = await startTestServer()
})
beforeEach(async () => {
	tenant = await server.newTenant()
})
afterAll(() => server.close())

const post = async (path: string, body: object = {}): Promise<string> => {
	server.clock.now++
	return (await tenant.ask('POST', path, { body })).body.id
}
const list = async (path: string, query: Record<string, string | number>) => {
	const { status, body } = await tenant.ask('GET', `${path}?${new URLSearchParams(query as Record<string, string>)}`)
	expect({ query, status }).toEqual({ query, status: 200 })
	return body.data.map((record: { name?: string; description?: string }) => record.name ?? record.description)
}

describe('deals', () => {
	const deals = (query: Record<string, string | number>) => list('/api/deals', query)

	it('are limited by stages, value, currency and time of creation, beside each other', async () => {
		const from = server.clock.now + 1
		await post('/api/deals', { name: 'A', stage: 'lead', valueCents: 100, currency: 'EUR' })
		await post('/api/deals', { name: 'B', stage: 'won', valueCents: 200, currency: 'EUR' })
		await post('/api/deals', { name: 'C', stage: 'paid', valueCents: 300, currency: 'USD' })
		await post('/api/deals', { name: 'D', stage: 'won' })
		expect(await deals({ stage: 'won' })).toEqual(['D', 'B'])
		expect(await deals({ stage: 'won,paid' })).toEqual(['D', 'C', 'B'])
		expect(await deals({ stage: 'won,paid', valueMin: 200, currency: 'EUR' })).toEqual(['B'])
		expect(await deals({ valueMin: 200 })).toEqual(['C', 'B'])
		expect(await deals({ valueMin: 100, valueMax: 200 })).toEqual(['B', 'A'])
		expect(await deals({ createdFrom: from + 1, createdTo: from + 2 })).toEqual(['C', 'B'])
		expect(await deals({ search: 'b', valueMax: 200 })).toEqual(['B'])
	})

	it('are sorted as asked for, and by their changes where those are asked for', async () => {
		const ids: string[] = []
		for (const name of ['A', 'B', 'C']) ids.push(await post('/api/deals', { name }))
		expect(await deals({ sortBy: 'createdAt', sortOrder: 'asc' })).toEqual(['A', 'B', 'C'])
		server.clock.now += 10
		const since = server.clock.now
		await tenant.ask('PATCH', `/api/deals/${ids[1]}`, { body: { valueCents: 1 } })
		server.clock.now++
		await tenant.ask('PATCH', `/api/deals/${ids[0]}`, { body: { valueCents: 1 } })
		expect(await deals({ updatedSince: since })).toEqual(['B', 'A'])
		expect(await deals({ updatedSince: since, sortBy: 'createdAt' })).toEqual(['B', 'A'])
		expect(await deals({ updatedSince: since, sortBy: 'createdAt', sortOrder: 'asc' })).toEqual(['A', 'B'])
		expect(await deals({ sortBy: 'updatedAt', sortOrder: 'desc' })).toEqual(['A', 'B', 'C'])
		expect(await deals({ updatedSince: since + 1, stage: 'lead' })).toEqual(['A'])
	})

	it.each([
		[{ valueMin: 2, valueMax: 1 }, 'valueMax'],
		[{ createdFrom: 2, createdTo: 1 }, 'createdTo'],
		[{ updatedSince: 'x' }, 'updatedSince'],
		[{ valueMin: 'x' }, 'valueMin'],
		[{ sortBy: 'name' }, 'sortBy'],
		[{ currency: 'euro' }, 'currency'],
	])('are 400 for %j, which names its place', async (query, parameter) => {
		const refused = await tenant.ask('GET', `/api/deals?${new URLSearchParams(query as unknown as Record<string, string>)}`)
		expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
		expect(refused.body.errors).toContainEqual(expect.objectContaining({ parameter }))
	})
})

it('a day is that day in the time zone of the organization, the last one whole, for every list', async () => {
	const { now } = server.clock
	tenant = await server.newTenant({ timeZone: 'America/New_York' })
	// The last millisecond of the 1st of March there.
	server.clock.now = Date.parse('2026-03-02T04:59:59.998Z')
	await post('/api/deals', { name: 'first' })
	await post('/api/contacts', { name: 'first' })
	const startedAt = server.clock.now - 1
	await tenant.newTimeEntry({
		description: 'first',
		startedAt,
		durationSeconds: 60,
		dealId: await tenant.newDeal({ name: 'second' }),
	})
	server.clock.now = now
	for (const day of ['2026-03-01', '2026-03-01T05:00:00Z']) {
		expect(await list('/api/deals', { createdFrom: day, createdTo: '2026-03-01' })).toEqual(['first'])
		expect(await list('/api/deals', { updatedSince: day })).toEqual(['first', 'second'])
		expect(await list('/api/contacts', { updatedSince: day })).toEqual(['first'])
		expect(await list('/api/time-entries', { from: day, to: '2026-03-01' })).toEqual(['first'])
	}
	expect(await list('/api/deals', { createdTo: '2026-02-28' })).toEqual([])
	expect(await list('/api/time-entries', { from: '2026-03-02' })).toEqual([])
	expect(await list('/api/contacts', { updatedSince: '2026-03-02' })).toEqual(['first'])
})

describe('contacts', () => {
	it('are limited by e-mail address in any case, and by their change', async () => {
		const companyId = await post('/api/companies', { name: 'Acme' })
		const id = await post('/api/contacts', { name: 'Ada', email: 'Ada@Acme.example', companyId })
		await post('/api/contacts', { name: 'Bob', email: 'bob@acme.example' })
		expect(await list('/api/contacts', { email: 'ada@ACME.example' })).toEqual(['Ada'])
		expect(await list('/api/contacts', { email: 'ada' })).toEqual([])
		server.clock.now += 5
		await tenant.ask('PATCH', `/api/contacts/${id}`, { body: { phone: '1' } })
		expect(await list('/api/contacts', { updatedSince: server.clock.now })).toEqual(['Ada'])
		expect(await list('/api/contacts', { updatedSince: 0 })).toEqual(['Bob', 'Ada'])
		expect(await list('/api/contacts', { updatedSince: 0, companyId })).toEqual(['Ada'])
	})
})

describe('time entries', () => {
	it('are limited by user, by what is billable, by their start and by their change', async () => {
		const entry = (description: string, more: object) => tenant.newTimeEntry({ description, durationSeconds: 60, ...more })
		const start = server.clock.now - 1_000_000
		await entry('A', { userId: 'usr_1', startedAt: start, billable: true })
		await entry('B', { userId: 'usr_1', startedAt: start + 10, billable: false })
		await entry('C', { userId: 'usr_2', startedAt: start + 20, billable: true })
		const entries = (query: Record<string, string | number>) => list('/api/time-entries', query)
		expect(await entries({ userId: 'usr_1' })).toEqual(['B', 'A'])
		expect(await entries({ userId: 'usr_1', status: 'open' })).toEqual(['B', 'A'])
		expect(await entries({ billable: 'true' })).toEqual(['C', 'A'])
		expect(await entries({ billable: 'false' })).toEqual(['B'])
		expect(await entries({ from: start + 10, to: start + 19 })).toEqual(['B'])
		expect(await entries({ from: start + 10, to: start + 20 })).toEqual(['C', 'B'])
		expect(await entries({ from: start + 10, userId: 'usr_1', billable: 'true' })).toEqual([])
		expect(await entries({ updatedSince: 0, billable: 'true' })).toHaveLength(2)
		const refused = await tenant.ask('GET', '/api/time-entries?from=2&to=1')
		expect(refused).toMatchObject({ status: 400, body: { errors: [{ parameter: 'to', code: 'range' }] } })
	})
})

it('a filter that no index serves is walked in parts: pages may be short, and lead to the next', async () => {
	await server.db.transaction(async (tx) => {
		const { createContact } = await import('../../billing/contacts/store.ts')
		const { createDeal } = await import('../../billing/deals/store.ts')
		const write = tenant.writing(tx)
		await createContact(write, { name: 'Nobody' })
		for (let n = 0; n < 2_300; n++) await createDeal(write, { name: `${n}`, valueCents: n % 1_000 === 7 ? 1_000_000 : n })
	})
	const query = { valueMin: 500_000 }
	const whole = (await tenant.ask('GET', '/api/deals?valueMin=500000&limit=100')).body
	expect(whole.data).toHaveLength(3)
	expect(whole.meta).toMatchObject({ total: 3, hasMore: false })
	const first = (await tenant.ask('GET', '/api/deals?valueMin=500000&limit=2')).body
	expect(first.meta).toMatchObject({ total: null, hasMore: true })
	const seen: string[] = []
	for await (const { id } of tenant.remit.deals.list({ ...query, limit: 1 })) seen.push(id)
	expect(seen).toEqual(whole.data.map(({ id }: { id: string }) => id))
	const rest = (await tenant.ask('GET', '/api/deals?valueMin=500000&offset=2')).body
	expect(rest.data.map(({ id }: { id: string }) => id)).toEqual(seen.slice(2))
})
