// The rules for every write: it happens as a whole or not at all, once for an Idempotency-Key, invisible until it is committed,
// and only in the caller's organization.
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCompany, readCompanies } from '../src/billing/companies/store.ts'
import { scopes } from '../src/platform/auth/keys.ts'
import { type Answer, holdWrites, startTestServer, type Tenant, type TestServer } from './harness.ts'

let server: TestServer
beforeAll(async () => {
	server = await startTestServer()
})
afterAll(() => server.close())

const page = { sortBy: 'name', sortOrder: 'asc', limit: 100, offset: 0 } as const
const numbersOf = async ({ ask }: Tenant): Promise<string[]> =>
	(await ask('GET', '/api/invoices?limit=100')).body.data.map(({ invoiceNumber }: { invoiceNumber: string }) => invoiceNumber)

describe('a transaction', () => {
	it('is not seen by anyone until it is committed', async () => {
		const tenant = await server.newTenant()
		const begun = Promise.withResolvers<void>()
		const gate = Promise.withResolvers<void>()
		const writing = server.db.transaction(async (tx) => {
			const created = await createCompany(tenant.writing(tx, 1), { name: 'Unseen' })
			expect((await readCompanies(tx, tenant.organizationId, page)).rows).toHaveLength(1)
			begun.resolve()
			await gate.promise
			return created
		})
		await begun.promise
		const during = await Promise.all([1, 2, 3].map(() => tenant.ask('GET', '/api/companies?search=unseen')))
		for (const { body } of during) expect(body).toMatchObject({ data: [], meta: { total: 0 } })
		gate.resolve()
		const { id } = await writing
		expect((await tenant.ask('GET', `/api/companies/${id}`)).status).toBe(200)
	})

	it('that fails leaves nothing, and its error reaches whoever asked', async () => {
		const tenant = await server.newTenant()
		const failing = server.db.transaction(async (tx) => {
			await createCompany(tenant.writing(tx, 1), { name: 'Lost' })
			throw new Error('the last step failed')
		})
		await expect(failing).rejects.toThrow('the last step failed')
		expect((await tenant.ask('GET', '/api/companies')).body.meta.total).toBe(0)
	})

	it('can lose a part and keep the rest', async () => {
		const tenant = await server.newTenant()
		await server.db.transaction(async (tx) => {
			await createCompany(tenant.writing(tx, 1), { name: 'Kept' })
			const part = tx.attempt(async () => {
				await createCompany(tenant.writing(tx, 1), { name: 'Part' })
				throw new Error('part')
			})
			await expect(part).rejects.toThrow('part')
		})
		expect((await tenant.ask('GET', '/api/companies')).body.data).toEqual([expect.objectContaining({ name: 'Kept' })])
	})

	it('that is refused among others that run at once does not affect them, nor their numbers', async () => {
		const tenant = await server.newTenant()
		await tenant.ask('POST', '/api/invoices', { body: { invoiceNumber: 'TAKEN' } })
		const bodies = Array.from({ length: 60 }, (_, index) =>
			index % 3 === 1 ? { invoiceNumber: 'TAKEN' } : index % 3 === 2 ? { dealId: 'dl_unknown' } : {},
		)
		const answers = await Promise.all(bodies.map((body) => tenant.ask('POST', '/api/invoices', { body })))
		expect(answers.map(({ status }) => status)).toEqual(bodies.map((_, index) => [201, 409, 422][index % 3]))
		const expected = Array.from({ length: 20 }, (_, index) => `INV-${String(index + 1).padStart(4, '0')}`)
		expect((await numbersOf(tenant)).filter((number) => number !== 'TAKEN').sort()).toEqual(expected)
	})

	it('on one record waits for the other: no change is lost', async () => {
		const { body } = await server.ask('POST', '/api/companies', { body: { name: 'Busy' } })
		const path = `/api/companies/${body.id}`
		const fields = ['domain', 'phone', 'notes', 'billingCity', 'billingState', 'billingCountry', 'billingContactName']
		await Promise.all(fields.map((field) => server.ask('PATCH', path, { body: { [field]: field } })))
		const { data } = (await server.ask('GET', path)).body
		expect(data).toMatchObject({ version: 1 + fields.length, ...Object.fromEntries(fields.map((field) => [field, field])) })
	})

	it('lets one of two through that ask for the same version', async () => {
		const { body } = await server.ask('POST', '/api/invoices')
		const headers = { 'if-match': '"1"' }
		const change = (notes: string) => server.ask('PATCH', `/api/invoices/${body.id}`, { headers, body: { notes } })
		const statuses = (await Promise.all(['a', 'b', 'c', 'd'].map(change))).map(({ status }) => status)
		expect(statuses.sort()).toEqual([200, 412, 412, 412])
	})
})

describe('an Idempotency-Key', () => {
	const post = (headers: Record<string, string>, body: unknown, tenant: Tenant = server, path = '/api/invoices') =>
		tenant.ask('POST', path, { headers, body })

	it('lets one of many requests at once through', async () => {
		const tenant = await server.newTenant()
		const answers = await Promise.all(Array.from({ length: 20 }, () => post({ 'idempotency-key': 'once' }, {}, tenant)))
		const created = answers.filter(({ status }) => status === 201)
		expect(created.length).toBeGreaterThan(0)
		expect(new Set(created.map(({ body }) => body.id)).size).toBe(1)
		for (const answer of answers.filter(({ status }) => status !== 201)) {
			expect(answer).toMatchObject({ status: 409, body: { code: 'idempotency_key_in_use' } })
		}
		expect(await numbersOf(tenant)).toEqual(['INV-0001'])
	})

	it('takes the same JSON in another order for the same request, nested too', async () => {
		const headers = { 'idempotency-key': 'order' }
		const text = (body: string) => post(headers, body)
		const first = await text(
			'{"notes":"a","lineItems":[{"description":"b","unitPriceCents":100,"metadata":{"c":"1","d":"2"}},{"description":"e"}]}',
		)
		expect(first.status).toBe(201)
		const again = await text(
			'{ "lineItems": [{"metadata":{"d":"2","c":"1"},"unitPriceCents":1e2,"description":"\\u0062"},{"description":"e"}], "notes": "a" }',
		)
		expect(again).toMatchObject({ status: 201, text: first.text })
		expect(again.headers.get('idempotent-replayed')).toBe('true')
	})

	it.each([
		'{"lineItems":[{"description":"e"},{"description":"b"}]}',
		'{"lineItems":[{"description":"b","metadata":{"c":"1"}},{"description":"e"}]}',
		'{"lineItems":[{"description":"b"},{"description":"e","quantity":"2"}]}',
		'{"lineItems":[{"description":"b"}]}',
	])('takes other JSON for another request: %s', async (other) => {
		const headers = { 'idempotency-key': 'other order' }
		await post(headers, '{"lineItems":[{"description":"b"},{"description":"e"}]}')
		expect(await post(headers, other)).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } })
	})

	it('repeats a refusal, with the place and headers of the first', async () => {
		const headers = { 'idempotency-key': 'refused' }
		const body = { lineItems: [{ unitPriceCents: 100 }], totalCents: 1 }
		const [first, again] = [await post(headers, body), await post(headers, body)]
		expect(first).toMatchObject({ status: 422, body: { code: 'totals_mismatch' } })
		expect(again).toMatchObject({ status: 422, text: first.text })
		expect(again.headers.get('content-type')).toContain('application/problem+json')
		expect(again.headers.get('idempotent-replayed')).toBe('true')
	})

	it('repeats Location and ETag of what was created, also once it has changed', async () => {
		const headers = { 'idempotency-key': 'created' }
		const first = await post(headers, {})
		await server.ask('DELETE', `/api/invoices/${first.body.id}`)
		const again = await post(headers, {})
		for (const name of ['location', 'etag']) expect(again.headers.get(name)).toBe(first.headers.get(name))
		expect(again.text).toBe(first.text)
	})

	it('is not used up by a request that the contract refuses', async () => {
		const headers = { 'idempotency-key': 'mistyped' }
		expect((await post(headers, { staus: 'paid' })).status).toBe(400)
		expect((await post(headers, { status: 'paid' })).status).toBe(201)
	})

	it('belongs to one API key and one operation', async () => {
		const headers = { 'idempotency-key': 'shared' }
		const body = { name: 'Acme' }
		const answers = [await post(headers, body, server, '/api/companies'), await post(headers, { notes: 'Acme' })]
		const { key } = await server.newKey(scopes)
		answers.push(await server.ask('POST', '/api/companies', { headers, body, key }))
		answers.push(await post(headers, body, await server.newTenant(), '/api/companies'))
		expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201])
		expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(4)
	})

	it.each(['', 'x'.repeat(256)])('is refused when it is %j', async (key) => {
		const refused = await post({ 'idempotency-key': key }, {})
		expect(refused.status).toBe(400)
		expect(refused.body.errors).toEqual([expect.objectContaining({ parameter: expect.stringMatching(/^idempotency-key$/i) })])
	})
})

describe('an organization', () => {
	/** Two organizations with the same records. */
	async function twins() {
		const make = async (tenant: Tenant) => {
			const companyId = (await tenant.ask('POST', '/api/companies', { body: { name: 'Acme', domain: 'acme.example' } })).body.id
			const dealId = await tenant.newDeal()
			const { body } = await tenant.ask('POST', '/api/invoices', { body: { companyId, dealId, status: 'sent' } })
			return { ...tenant, companyId, dealId, invoiceId: body.id as string }
		}
		return [await make(await server.newTenant()), await make(await server.newTenant())] as const
	}

	it('sees nothing of another in any list, filter or search', async () => {
		const [a, b] = await twins()
		const paths = ['invoices', 'invoices?status=sent', `invoices?dealId=${a.dealId}`, `invoices?companyId=${a.companyId}`]
		paths.push('companies', 'companies?search=acme', 'companies?sortBy=createdAt&sortOrder=desc', 'companies?search=acme+example')
		for (const path of paths) {
			const { data } = (await a.ask('GET', `/api/${path}`)).body
			expect(data).toEqual([expect.objectContaining({ organizationId: a.organizationId })])
		}
		for (const path of [
			`invoices?dealId=${b.dealId}`,
			`invoices?companyId=${b.companyId}`,
			`companies?search=${b.organizationId}`,
		]) {
			expect((await a.ask('GET', `/api/${path}`)).body.data).toEqual([])
		}
	})

	it('cannot read, change or delete what is of another', async () => {
		const [a, b] = await twins()
		const before = await Promise.all(
			[`invoices/${b.invoiceId}`, `companies/${b.companyId}`].map((path) => b.ask('GET', `/api/${path}`)),
		)
		const tried: Answer[] = []
		for (const path of [`/api/invoices/${b.invoiceId}`, `/api/companies/${b.companyId}`]) {
			for (const method of ['GET', 'PATCH', 'PUT', 'DELETE']) {
				tried.push(await a.ask(method, path, { body: method.startsWith('P') ? { notes: 'Taken over' } : undefined }))
			}
		}
		expect(tried.map(({ status }) => status)).toEqual(tried.map(() => 404))
		const after = await Promise.all(
			[`invoices/${b.invoiceId}`, `companies/${b.companyId}`].map((path) => b.ask('GET', `/api/${path}`)),
		)
		expect(after.map(({ text }) => text)).toEqual(before.map(({ text }) => text))
	})

	it('cannot point to what is of another, in the words of what does not exist', async () => {
		const [a, b] = await twins()
		for (const [field, id] of Object.entries({ dealId: b.dealId, companyId: b.companyId })) {
			const refusals = [
				await a.ask('POST', '/api/invoices', { body: { [field]: id } }),
				await a.ask('PATCH', `/api/invoices/${a.invoiceId}`, { body: { [field]: id } }),
				await a.ask('POST', '/api/invoices/preview', { body: { [field]: id } }),
			]
			for (const { status, body } of refusals) {
				expect({ status, pointer: body.errors[0].pointer }).toEqual({ status: 422, pointer: `/${field}` })
				expect(body.detail).toMatch(/^There is no (deal|company) /)
			}
		}
	})

	it('cannot be changed by a body that names one', async () => {
		const [a, b] = await twins()
		const body = { organizationId: b.organizationId }
		for (const path of [`/api/invoices/${a.invoiceId}`, `/api/companies/${a.companyId}`]) {
			expect(await a.ask('PATCH', path, { body })).toMatchObject({
				status: 400,
				body: { errors: [{ pointer: '/organizationId' }] },
			})
		}
	})

	it('numbers its invoices by itself, however many write at once', async () => {
		const tenants = [await server.newTenant(), await server.newTenant()]
		await Promise.all(Array.from({ length: 200 }, (_, index) => tenants[index % 2]?.ask('POST', '/api/invoices')))
		const expected = Array.from({ length: 100 }, (_, index) => `INV-${String(index + 1).padStart(4, '0')}`)
		for (const tenant of tenants) expect((await numbersOf(tenant)).sort()).toEqual(expected)
	})
})

describe('closing', () => {
	/** Gives up after three seconds when closing does not end. */
	const soon = (closing: Promise<unknown>) =>
		Promise.race([closing.then(() => 'closed'), new Promise((late) => setTimeout(late, 3_000, 'still open').unref())])

	it('lets a request under way finish, and takes no new one', async () => {
		const closing = await startTestServer()
		const release = await holdWrites(closing)
		const headers = { 'idempotency-key': 'under way' }
		const both = [closing.ask('POST', '/api/invoices', { headers }), closing.ask('POST', '/api/invoices', { headers })]
		// The request that is answered first is rejected, because the other one is under way.
		expect((await Promise.race(both)).status).toBe(409)
		const closed = closing.close()
		const ask = () => fetch(`${closing.url}/health`, { headers: { connection: 'close' } }).then(String, () => 'refused')
		await expect.poll(ask).toBe('refused')
		await release()
		expect((await Promise.all(both)).map(({ status }) => status).sort()).toEqual([201, 409])
		expect(await soon(closed)).toBe('closed')
	})

	it('does not wait for a connection on which nothing was asked', async () => {
		const closing = await startTestServer()
		const { hostname, port } = new URL(closing.url)
		const socket = connect(Number(port), hostname)
		await new Promise((connected) => socket.once('connect', connected))
		await closing.ask('GET', '/api/invoices')
		const closed = closing.close()
		const outcome = await soon(closed)
		socket.destroy()
		await closed
		expect(outcome).toBe('closed')
	})
})
