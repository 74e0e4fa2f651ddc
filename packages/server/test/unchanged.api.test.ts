// A PATCH or PUT that leaves a record as it is: no version, no event and no entry in the audit log tells of it.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { query } from '../src/platform/db/database.ts'
import { eventsOf } from './events.ts'
import { startTestServer, type Tenant, type TestServer } from './harness.ts'
import { secret } from './leaks.ts'

let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	server = await startTestServer()
})
beforeEach(async () => {
	tenant = await server.newTenant()
})
afterAll(() => server.close())

/** How many changes the audit log and the events tell of. */
async function told(): Promise<[audited: number, events: number]> {
	const rows = await server.db.all(entries, { organizationId: tenant.organizationId })
	return [rows.length, (await eventsOf(server, tenant)).length]
}

const entries = query<{ organizationId: string }, { id: string }>((knex, key) => knex('audit_log').where(key).select('id'))

const line = { description: 'Design', quantity: '1.5', unitPriceCents: 90_000, taxes: [{ label: 'VAT', percent: '19' }] }
const stages = [{ key: 'active', label: 'Active', type: 'won' }]
const source = { system: 'http_json', object: 'people' }
const url = 'https://receiver.example/hook'

interface Kind {
	readonly path: string
	/** The body that creates a record; none when the organization has it from the beginning. */
	create?(tenant: Tenant): Promise<object>
	/** Fields that a caller may write: the record has these values before they are written again. */
	readonly body: object
}

const kinds: Kind[] = [
	{
		path: '/api/invoices',
		create: async () => ({ lineItems: [line] }),
		body: { status: 'paid', paymentMethod: 'cash', dueDate: '2026-03-31', taxRate: 7, notes: 'Thanks', billTo: { name: 'Ada' } },
	},
	{
		path: '/api/companies',
		create: async () => ({ name: 'Acme' }),
		body: { name: 'Acme 2', domain: 'acme.example', phone: null },
	},
	{ path: '/api/contacts', create: async () => ({ name: 'Ada' }), body: { name: 'Ada L', email: 'ada@acme.example' } },
	{ path: '/api/deals', create: async () => ({ name: 'Shop' }), body: { valueCents: 7, stage: 'won', autoAdvance: false } },
	{ path: '/api/pipelines', create: async () => ({ name: 'Retainers', stages }), body: { name: 'Other', stages } },
	{ path: '/api/tax-rates', create: async () => ({ name: 'VAT', percent: '19' }), body: { percent: '20.0', isDefault: true } },
	{
		path: '/api/time-entries',
		create: async ({ newDeal }) => ({ dealId: await newDeal() }),
		body: { startedAt: '2026-03-02T09:00:00Z', endedAt: '2026-03-02T10:00:00Z', hourlyRateCents: 9_000 },
	},
	{ path: '/api/organization', body: { name: 'Studio', timeZone: 'Europe/Berlin', hourlyRateCents: 9_000, phone: null } },
	{
		path: '/mappings',
		create: async () => ({ name: 'People', source, target: { system: 'internal', object: 'company' }, fields: [] }),
		body: { name: 'Others', fields: [{ target: 'name', source: 'name' }], match: null, status: 'active' },
	},
	{
		path: '/webhooks/endpoints',
		create: async () => ({ url, eventTypes: ['*'] }),
		body: { url: `${url}/2`, eventTypes: ['invoice.*', 'company.*'], status: 'active', description: 'Books' },
	},
	{
		path: '/connections',
		create: async () => ({
			...{ provider: 'http_json', name: 'Acme', authType: 'api_key', credentials: { apiKey: secret('key') } },
			config: { baseUrl: 'https://api.example/v1' },
		}),
		body: { name: 'Acme 2', config: { baseUrl: 'https://api.example/v2', testPath: '/me' }, status: 'active' },
	},
]

describe.each(kinds)('a write to $path', ({ path, create, body }) => {
	it.each(path.startsWith('/api/') ? ['PATCH', 'PUT'] : ['PATCH'])(
		'of what is there already changes nothing: %s',
		async (method) => {
			const at = create ? (await tenant.ask('POST', path, { body: await create(tenant) })).headers.get('location') : path
			const ask = (body: object, headers = {}) => tenant.ask(method, at as string, { body, headers })
			const read = async () => (await tenant.ask('GET', at as string)).body.data
			const changed = await ask(body)
			const tag = changed.headers.get('etag') as string
			expect([changed.status, tag]).toEqual([200, '"2"'])
			const [record, before] = [await read(), await told()]
			server.clock.now += 1000
			for (const again of [{}, body, ...Object.entries(body).map(([field, value]) => ({ [field]: value }))]) {
				const answer = await ask(again, { 'if-match': tag })
				expect([answer.status, answer.body, answer.headers.get('etag')]).toEqual([200, { ok: true }, tag])
			}
			expect(await read()).toEqual(record)
			expect(await told()).toEqual(before)
			expect(await ask({}, { 'if-match': '"1"' })).toMatchObject({ status: 412 })
		},
	)
})

describe('an invoice', () => {
	const newInvoice = async (body: object) => (await tenant.remit.invoices.create(body)).id
	const read = (id: string) => tenant.remit.invoices.get(id)

	it('as it was read, with its lines, changes nothing', async () => {
		const dealId = await tenant.newDeal()
		const id = await newInvoice({
			dealId,
			status: 'sent',
			taxRate: 7.5,
			lineItems: [line, { kind: 'text', description: 'Notes' }],
		})
		const invoice = await read(id)
		const { status, issuedDate, taxRate, taxLabel, totalCents, currency, billFrom, locale, timeZone } = invoice
		const lineItems = invoice.lineItems.map(({ id, kind, description, quantity, unitPriceCents, taxes }) => {
			return { id, kind, description, quantity, unitPriceCents, taxes }
		})
		const same = { dealId, status, issuedDate, taxRate, taxLabel, totalCents, currency, lineItems }
		const before = await told()
		server.clock.now += 1000
		await tenant.remit.invoices.update(id, same)
		expect(await read(id)).toEqual(invoice)
		expect(await told()).toEqual(before)
		expect([billFrom, locale, timeZone]).not.toContain(null)
	})

	it('stays as it is when a caller writes the date that followed from its status', async () => {
		const id = await newInvoice({ status: 'paid' })
		const invoice = await read(id)
		const before = await told()
		await tenant.remit.invoices.update(id, { paidDate: invoice.paidDate })
		expect(await read(id)).toEqual(invoice)
		expect(await told()).toEqual(before)
	})
})

describe('a webhook endpoint that fails', () => {
	it('is as good as new when its owner sets it active, though it was active', async () => {
		const { id } = await tenant.remit.webhooks.endpoints.create({ url, eventTypes: ['*'] })
		await server.db.transaction((tx) => tx.run(fail, { organizationId: tenant.organizationId, id, now: server.clock.now }))
		await tenant.remit.webhooks.endpoints.update(id, { status: 'active' })
		expect(await tenant.remit.webhooks.endpoints.get(id)).toMatchObject({ failingSince: null, version: 2 })
	})

	const fail = query<{ organizationId: string; id: string; now: number }>((knex, { now, ...key }) =>
		knex('webhook_endpoints').where(key).update({ failingSince: now }),
	)
})
