// The audit log: who changed what, when and from where; that it holds no secret, cannot be rewritten and outlives retention.
// every-operation.api.test.ts checks that each operation that writes leaves its entries, and none when it is refused.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { browser, startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import type { AuditEntry } from '../../generated/contract.ts'
import { contractOperations } from '../contract/document.ts'
import { operations } from '../contract/routes.ts'
import { type Db, query } from '../db/database.ts'

let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	server = await startTestServer({ PAYMENT_PROCESSOR: 'test' })
})
beforeEach(async () => {
	tenant = await server.newTenant()
})
afterAll(() => server.close())

const post = async (path: string, body?: object) => (await tenant.ask('POST', path, { body })).body
const audit = async (search = ''): Promise<AuditEntry[]> => (await tenant.ask('GET', `/api/audit${search}`)).body.data
const historyOf = (path: string, of: Tenant = tenant) => of.ask('GET', `${path}/history`)

describe('an entry', () => {
	it('has all of a new record, only what changed of a changed one, and the last state of one that is removed', async () => {
		const entry = await tenant.newTimeEntry({ description: 'Draft' })
		const path = `/api/time-entries/${entry}`
		const created = (await tenant.ask('GET', path)).body.data
		await tenant.ask('PATCH', path, { body: { description: 'Final', billable: true } })
		const changed = (await tenant.ask('GET', path)).body.data
		await tenant.ask('DELETE', path)
		const { body } = await historyOf(path)
		expect(body.meta).toEqual({ total: null, limit: 50, offset: 0, hasMore: false, nextCursor: null })
		expect(body.data).toMatchObject([
			{ action: 'deleted', operation: 'timeEntries.delete', before: changed, after: null },
			{ action: 'updated', operation: 'timeEntries.update', before: { description: 'Draft' }, after: { description: 'Final' } },
			{ action: 'created', before: null, after: created, actor: { type: 'system', id: null }, requestId: null },
		])
		// Not more than what changed.
		expect([body.data[1].before, body.data[1].after]).toEqual([{ description: 'Draft' }, { description: 'Final' }])
	})

	it('of many lines has the lines that changed, and of each what changed', async () => {
		const lineItems = Array.from({ length: 1_000 }, (_, n) => ({ description: `Line ${n}`, unitPriceCents: 100 + n }))
		const { id } = await post('/api/invoices', { lineItems })
		const path = `/api/invoices/${id}`
		const { lineItems: lines } = (await tenant.ask('GET', path)).body.data
		await tenant.ask('PATCH', path, { body: { notes: 'Hello' } })
		const edited = lines.map(({ id }: { id: string }, n: number) => ({ id, ...(n === 7 && { description: 'Other' }) }))
		await tenant.ask('PATCH', path, { body: { lineItems: edited.slice(0, 999) } })
		await tenant.ask('PATCH', path, { body: { taxRate: 19 } })
		const [taxed, other, noted] = (await historyOf(path)).body.data
		expect([noted.before, noted.after]).toEqual([{ notes: null }, { notes: 'Hello' }])
		expect(other.before.lineItems).toEqual([{ id: lines[7].id, description: 'Line 7' }, lines[999]])
		expect(other.after.lineItems).toEqual([{ id: lines[7].id, description: 'Other' }])
		expect(taxed.after.lineItems).toHaveLength(999)
		expect(JSON.stringify(taxed).length).toBeLessThan(300_000)
	})

	it('says which key, request and address, and is by the newest first', async () => {
		const { id: keyId, key } = await tenant.newKey(['companies:write'])
		const headers = { 'x-request-id': 'trace-4711' }
		const { body } = await tenant.ask('POST', '/api/companies', { key, headers, body: { name: 'Acme' } })
		const [newest, ...older] = await audit()
		expect(newest).toMatchObject({
			organizationId: tenant.organizationId,
			createdAt: server.clock.now,
			operation: 'companies.create',
			resource: { type: 'company', id: body.id },
			actor: { type: 'api_key', id: keyId },
			address: '127.0.0.1',
			requestId: 'trace-4711',
		})
		expect(older.map(({ resource, action }) => `${resource.type} ${action}`)).toEqual([
			...['api_key created', 'api_key created'],
			...['pipeline created', 'organization_settings created'],
		])
	})

	it('is left by what the server does itself, by payers and by processors', async () => {
		const { id } = await post('/api/invoices', { status: 'sent', dueDate: Date.UTC(2026, 0, 1), totalCents: 100 })
		await server.runJobs()
		const { url } = await post(`/api/invoices/${id}/client-link`)
		const paying = await fetch(`${url}/pay`, { method: 'POST', redirect: 'manual' })
		await fetch(paying.headers.get('location') as string, { method: 'POST', redirect: 'manual' })
		const { data } = (await historyOf(`/api/invoices/${id}`)).body
		expect(data.map((entry: AuditEntry) => [entry.operation, entry.action, entry.actor.type, entry.actor.id])).toEqual([
			['payments.webhook', 'updated', 'payment_processor', 'test'],
			['payments.webhook', 'payment_received', 'payment_processor', 'test'],
			['pages.pay', 'payment_requested', 'client_link', null],
			['invoices.clientLink.create', 'shared', 'api_key', expect.any(String)],
			['jobs.overdue', 'updated', 'system', null],
			['invoices.create', 'created', 'api_key', expect.any(String)],
		])
		expect(data[1].after).toMatchObject({ outcome: 'applied', amountCents: 100, currency: 'USD' })
	})

	it('of another record is left for each that a change takes along', async () => {
		const dealId = await tenant.newDeal()
		const timeEntryId = await tenant.newTimeEntry({ dealId })
		await post('/api/tax-rates', { name: 'Old', percent: '19', isDefault: true })
		await post('/api/tax-rates', { name: 'New', percent: '20', isDefault: true })
		expect(await audit('?limit=2')).toMatchObject([
			{ operation: 'taxRates.create', action: 'created', after: { name: 'New' } },
			{ operation: 'taxRates.create', action: 'updated', before: { isDefault: true }, after: { isDefault: false } },
		])
		const { id } = await post('/api/invoices/from-time-entries', { dealId, timeEntryIds: [timeEntryId] })
		const [claimed] = await audit(`?resource=${timeEntryId}`)
		expect(claimed).toMatchObject({
			operation: 'invoices.createFromTimeEntries',
			before: { status: 'open', invoiceId: null },
			after: { status: 'invoiced', invoiceId: id },
		})
	})

	it('never holds a secret', async () => {
		const created = await post('/api-keys', { name: 'CI', scopes: ['read'] })
		const rotated = await post(`/api-keys/${created.id}/rotate`)
		const endpoint = await post('/webhooks/endpoints', { url: 'https://receiver.example', eventTypes: ['*'] })
		const { secret } = await post(`/webhooks/endpoints/${endpoint.id}/rotate-secret`)
		const { id } = await post('/api/invoices', { totalCents: 100 })
		const token = (await post(`/api/invoices/${id}/client-link`)).url.split('/').at(-1)
		const { url } = await post(`/api/invoices/${id}/payment-link`)
		await tenant.ask('DELETE', `/webhooks/endpoints/${endpoint.id}`)
		const text = JSON.stringify(await audit('?limit=100'))
		for (const hidden of [created.key, rotated.key, endpoint.secret, secret, token, url]) expect(text).not.toContain(hidden)
		expect(text).not.toMatch(/"(hash|secret|previousSecret|tokenHash|nonce)"/)
	})
})

describe('the log', () => {
	it('is for the scope admin; a history for the scope that reads the record, and without addresses', async () => {
		const { id } = await post('/api/companies', { name: 'Acme' })
		const { key } = await tenant.newKey(['companies:read'])
		expect((await tenant.ask('GET', '/api/audit', { key })).status).toBe(403)
		const { status, body } = await tenant.ask('GET', `/api/companies/${id}/history`, { key })
		expect(status).toBe(200)
		expect(body.data[0]).not.toHaveProperty('address')
	})

	it('shows a record to its own organization and kind alone', async () => {
		const invoice = (await post('/api/invoices')).id
		const other = await server.newTenant()
		expect(await historyOf(`/api/invoices/${invoice}`, other)).toMatchObject({ status: 404, body: { code: 'invoice_not_found' } })
		expect(await historyOf(`/api/companies/${invoice}`)).toMatchObject({ status: 404, body: { code: 'company_not_found' } })
		expect((await other.ask('GET', `/api/audit?resource=${invoice}`)).body.data).toEqual([])
	})

	it('is read by pages, by actor, by record and by time', async () => {
		const { id: keyId, key } = await tenant.newKey(['companies:write'])
		const { id } = (await tenant.ask('POST', '/api/companies', { key, body: { name: 'v0' } })).body
		const began = server.clock.now
		for (const name of ['v1', 'v2', 'v3']) {
			server.clock.now += 1_000
			await tenant.ask('PATCH', `/api/companies/${id}`, { key, body: { name } })
		}
		const names = async (search: string) => (await audit(search)).map(({ after }) => after?.name)
		expect(await names(`?actor=${keyId}`)).toEqual(['v3', 'v2', 'v1', 'v0'])
		expect(await names(`?resource=${id}&from=${began + 1_000}`)).toEqual(['v3', 'v2', 'v1'])
		expect(await names(`?resource=${id}&from=${began + 1_000}&to=${began + 3_000}`)).toEqual(['v2', 'v1'])
		const paged = []
		for await (const { after } of tenant.remit.audit.list({ resource: id, to: began + 3_000, limit: 2 })) paged.push(after?.name)
		expect(paged).toEqual(['v2', 'v1', 'v0'])
		const history = []
		for await (const { after } of tenant.remit.companies.history(id, { limit: 1 })) history.push(after?.name)
		expect(history).toEqual(['v3', 'v2', 'v1', 'v0'])
	})

	it('stays when the events of a record are gone', async () => {
		const { id } = await post('/api/companies', { name: 'Acme' })
		await tenant.ask('DELETE', `/api/companies/${id}`)
		const before = (await historyOf(`/api/companies/${id}`)).text
		const { now } = server.clock
		server.clock.now += 400 * 86_400_000
		await server.runJobs()
		server.clock.now = now
		expect((await historyOf(`/api/companies/${id}`)).text).toBe(before)
	})

	it('has no entry for reading, nor for a client who looks at an invoice', async () => {
		const { id } = await post('/api/invoices', { totalCents: 100 })
		const { url } = await post(`/api/invoices/${id}/client-link`)
		const before = await audit()
		expect((await fetch(url, { headers: { 'user-agent': browser } })).status).toBe(200)
		expect((await tenant.ask('GET', `/api/invoices/${id}`)).body.data.viewCount).toBe(1)
		await post('/api/invoices/preview')
		expect(await audit()).toEqual(before)
	})

	it('can be neither changed nor emptied, not even by SQL; only the values of an entry can be erased', async () => {
		await post('/api/companies', { name: 'Acme' })
		const [entry] = await audit('?limit=1')
		const sql = (text: string) =>
			server.db.transaction((tx: Db) =>
				tx.run(
					query<{ id: string }>((knex, { id }) => knex.raw(text, [id])),
					{ id: entry?.id ?? '' },
				),
			)
		const erase = '"before" = null, "after" = null, address = null, "erasedAt" = 7'
		for (const statement of [
			'delete from audit_log where id = ?',
			`update audit_log set "actorId" = 'key_other' where id = ?`,
			`update audit_log set "after" = '{}' where id = ?`,
			`update audit_log set ${erase}, "createdAt" = 1 where id = ?`,
			`update audit_log set ${erase}, "requestId" = null where id = ?`,
			server.db.dialect === 'sqlite'
				? 'insert or replace into audit_log select * from audit_log where id = ?'
				: `insert into audit_log select * from audit_log where id = ?
					on conflict ("organizationId", id) do update set "actorId" = 'key_other'`,
		])
			await expect(sql(statement), statement).rejects.toThrow('audit_log is append only')
		expect(await audit('?limit=1')).toEqual([entry])
		await sql(`update audit_log set ${erase} where id = ?`)
		expect(await audit('?limit=1')).toEqual([{ ...entry, before: null, after: null, address: null, erasedAt: 7 }])
	})
})

it('every kind of record of the invoicing API has its history', () => {
	// That of people is in the audit log alone, which takes `admin` as they do.
	const kinds = operations.filter(
		({ id, path, scopes }) => id.endsWith('.get') && /^\/api\/[a-z-]+\/\{id\}$/.test(path) && !scopes.includes('admin'),
	)
	expect(kinds.length).toBeGreaterThan(5)
	for (const { path, scopes } of kinds) {
		const history = operations.find((operation) => operation.path === `${path}/history`)
		expect({ path, scopes: history?.scopes }).toEqual({ path, scopes })
		expect(contractOperations.has(history?.id ?? '')).toBe(true)
	}
})
