// How `remit contract verify` asks the operations: what makes a record, a body that is taken, and bodies that break a rule.
import type { ServerUnderTest } from './server-under-test.ts'

type Ids = string | readonly string[]

/** A request that the contract answers with this error. */
interface ErrorCase {
	readonly status: number
	readonly code: string
	readonly ids?: (server: ServerUnderTest) => Promise<Ids>
	readonly body?: object | ((server: ServerUnderTest) => Promise<object>)
	/** Leaves what cannot be removed. */
	readonly lasting?: true
}

export interface Recipe {
	/** Makes what stands in the path. */
	readonly make?: (server: ServerUnderTest) => Promise<Ids>
	readonly body?: (server: ServerUnderTest) => Promise<object>
	/** Asked of each operation of the resource that documents the code. */
	readonly errors?: readonly ErrorCase[]
	/** Why a valid request is not sent. */
	readonly skip?: string
	/** Changes the whole organization, so that a valid request is sent only in one of its own. */
	readonly wide?: true
	/** Makes what cannot be removed, so that a valid request is sent only in an organization of its own. */
	readonly lasting?: true
	/** What is deleted can still be read. */
	readonly archives?: true
}

const name = 'Contract verification'
const stage = (key: string) => ({ key, label: 'Active', type: 'won' })
const credentials = { apiKey: 'key-of-contract-verification' }
const rejected = (code: string, body: object): ErrorCase => ({ status: 422, code, body })

const company = (server: ServerUnderTest) => server.make('companies.create', { name })
const deal = (server: ServerUnderTest, more: object = {}) =>
	server.make('deals.create', { name, currency: 'EUR', hourlyRateCents: 6_000, ...more })
const timeEntry = async (server: ServerUnderTest, dealId?: string) =>
	server.make('timeEntries.create', { dealId: dealId ?? (await deal(server)), durationSeconds: 3_600 })
const invoice = (server: ServerUnderTest) => server.make('invoices.create', { totalCents: 5_000 })
const pipeline = (server: ServerUnderTest) => server.make('pipelines.create', { name, stages: [stage('active')] })
const taxRate = (server: ServerUnderTest) => server.make('taxRates.create', { name, percent: '19' })
const payment = (server: ServerUnderTest) => server.make('payments.create', { amountCents: 700, currency: 'EUR' })
const connection = (server: ServerUnderTest) =>
	server.make('connections.create', { provider: 'hubspot', name, authType: 'api_key', credentials })
const mapping = {
	name,
	source: { system: 'hubspot', object: 'companies' },
	target: { system: 'internal', object: 'company' },
	fields: [{ target: 'name', source: 'properties.name' }],
}
const newMapping = (server: ServerUnderTest) => server.make('mappings.create', { ...mapping, status: 'active' })
const syncBody = async (server: ServerUnderTest) => ({
	name,
	connectionId: await connection(server),
	mappingId: await newMapping(server),
	direction: 'inbound',
	start: false,
})
const sync = async (server: ServerUnderTest) => server.make('syncs.create', await syncBody(server))
/** The server is its own receiver, so that nobody else gets what this run does. */
const endpointBody = ({ url }: ServerUnderTest) => ({ url: `${url}/health`, eventTypes: ['company.deleted'] })
const endpoint = (server: ServerUnderTest) => server.make('webhooks.endpoints.create', endpointBody(server))
const pausedEndpoint = async (server: ServerUnderTest) => {
	const id = await endpoint(server)
	await server.ask('webhooks.endpoints.update', { ids: [id], body: { status: 'paused' } })
	return id
}
const delivery = async (server: ServerUnderTest) => {
	const { body } = await server.ask('webhooks.endpoints.test', { ids: [await endpoint(server)] })
	return server.own((body as { id: string }).id)
}
const disabled = async (server: ServerUnderTest) => {
	const id = await connection(server)
	await server.ask('connections.update', { ids: [id], body: { status: 'disabled' } })
	return id
}
async function withClientLink(server: ServerUnderTest): Promise<[id: string, token: string]> {
	const id = await invoice(server)
	const { body } = await server.ask('invoices.clientLink.create', { ids: [id] })
	return [id, (body as { url: string }).url.split('/').at(-1) ?? '']
}
const ofTime = async (server: ServerUnderTest) => {
	const dealId = await deal(server)
	return { dealId, timeEntryIds: [await timeEntry(server, dealId)] }
}
const dataOf = async (server: ServerUnderTest, id: string) =>
	((await server.ask(id)).body as { data: Record<string, unknown> }).data

const asksProvider = 'calls the provider'
const needsRun = 'needs a provider whose records are synced'
const sendsMail = 'sends mail'
const ofPerson = 'takes the session of a person'

/** By resource, and for an operation that is asked otherwise than the rest of its resource. */
const recipes: Record<string, Recipe> = {
	companies: {
		make: company,
		body: async () => ({ name: `${name} Ltd` }),
		errors: [rejected('invalid_vat_id', { name, vatId: 'DE1' })],
	},
	contacts: {
		make: (server) => server.make('contacts.create', { name }),
		body: async () => ({ name: `${name} II` }),
		errors: [rejected('unknown_company', { name, companyId: 'cmp_unknown' })],
	},
	deals: {
		make: deal,
		body: async () => ({ name: `${name} II` }),
		errors: [
			rejected('unknown_company', { name, companyId: 'cmp_unknown' }),
			rejected('unknown_contact', { name, contactId: 'ct_unknown' }),
			rejected('unknown_pipeline', { name, pipelineId: 'pl_unknown' }),
			rejected('unknown_stage', { name, stage: 'unknown' }),
		],
	},
	pipelines: {
		make: pipeline,
		body: async () => ({ name: `${name} II`, stages: [stage('active')] }),
		errors: [
			rejected('invalid_stages', { name, stages: [stage('active'), stage('active')] }),
			{
				status: 409,
				code: 'stage_in_use',
				lasting: true,
				ids: async (server) => {
					const id = await pipeline(server)
					await deal(server, { pipelineId: id })
					return id
				},
				body: { stages: [stage('other')] },
			},
			{
				status: 409,
				code: 'record_in_use',
				lasting: true,
				ids: async (server) => {
					const id = await pipeline(server)
					await deal(server, { pipelineId: id })
					return id
				},
			},
		],
	},
	taxRates: {
		make: taxRate,
		archives: true,
		body: async () => ({ name: `${name} II`, percent: '7' }),
		errors: [
			{
				status: 422,
				code: 'tax_rate_archived',
				ids: async (server) => {
					const id = await taxRate(server)
					await server.ask('taxRates.delete', { ids: [id] })
					return id
				},
				body: { isDefault: true },
			},
			{
				status: 409,
				code: 'tax_rate_in_use',
				ids: async (server) => {
					const id = await taxRate(server)
					await server.make('invoices.create', { lineItems: [{ unitPriceCents: 100, taxRateId: id }] })
					return id
				},
				body: { percent: '20' },
			},
		],
	},
	timeEntries: {
		make: (server) => timeEntry(server),
		body: async (server) => ({ dealId: await deal(server), durationSeconds: 1_800 }),
		errors: [
			rejected('unknown_deal', { dealId: 'dl_unknown' }),
			{
				status: 409,
				code: 'time_entry_invoiced',
				ids: async (server) => {
					const body = await ofTime(server)
					await server.make('invoices.createFromTimeEntries', body)
					return body.timeEntryIds
				},
				body: { description: 'Afterwards' },
			},
		],
	},
	invoices: {
		make: invoice,
		body: async () => ({ notes: name }),
		errors: [
			rejected('totals_mismatch', { lineItems: [{ unitPriceCents: 100 }], totalCents: 1 }),
			rejected('unknown_company', { companyId: 'cmp_unknown' }),
			rejected('unknown_deal', { dealId: 'dl_unknown' }),
			rejected('unknown_tax_rate', { lineItems: [{ unitPriceCents: 100, taxRateId: 'tax_unknown' }] }),
			{
				status: 409,
				code: 'invoice_number_taken',
				body: async (server) => {
					const { body } = await server.ask('invoices.get', { ids: [await invoice(server)] })
					return { invoiceNumber: (body as { data: { invoiceNumber: string } }).data.invoiceNumber }
				},
			},
		],
	},
	'invoices.createFromTimeEntries': {
		body: ofTime,
		errors: [
			{
				status: 422,
				code: 'invalid_time_entries',
				body: async (server) => ({ dealId: await deal(server), timeEntryIds: ['te_unknown'] }),
			},
			rejected('unknown_deal', { dealId: 'dl_unknown', timeEntryIds: ['te_unknown'] }),
		],
	},
	'invoices.previewFromTimeEntries': { body: ofTime },
	'invoices.send': { make: invoice, body: async () => ({ to: 'nobody@contract-verification.invalid' }), skip: sendsMail },
	'invoices.clientLink.get': { make: async (server) => (await withClientLink(server))[0] },
	'invoices.clientLink.delete': { make: async (server) => (await withClientLink(server))[0] },
	'invoices.public': { make: async (server) => server.own((await withClientLink(server))[1]) },
	'invoices.paymentLink': {
		make: invoice,
		skip: 'asks the payment processor',
		errors: [{ status: 422, code: 'nothing_to_pay', ids: (server) => server.make('invoices.create', { totalCents: 0 }) }],
	},
	payments: {
		make: payment,
		body: async (server) => ({ reference: `${name} ${server.requests}` }),
		lasting: true,
		errors: [rejected('unknown_invoice', { amountCents: 700, allocations: [{ invoiceId: 'inv_unknown', amountCents: 1 }] })],
	},
	'payments.create': { body: async () => ({ amountCents: 700, currency: 'EUR' }), lasting: true },
	'payments.reverse': { make: payment, body: async () => ({ reason: name }), lasting: true },
	'payments.allocate': {
		make: async (server) => server.make('payments.create', { amountCents: 700 }),
		body: async (server) => ({ allocations: [{ invoiceId: await invoice(server), amountCents: 1 }] }),
		lasting: true,
	},
	'payments.release': {
		make: async (server) => server.make('payments.create', { amountCents: 700, invoiceId: await invoice(server) }),
		lasting: true,
	},
	apiKeys: {
		make: (server) => server.make('apiKeys.create', { name, scopes: ['read'] }),
		body: async () => ({ name, scopes: ['read'] }),
		errors: [rejected('expires_in_past', { name, scopes: ['read'], expiresAt: 100_000_000_000 })],
	},
	'apiKeys.rotate': {
		make: (server) => server.make('apiKeys.create', { name, scopes: ['read'] }),
		body: async () => ({ overlapSeconds: 60 }),
	},
	organization: {
		// What is there already: nothing changes.
		body: async (server) => ({ name: (await dataOf(server, 'organization.get')).name }),
		errors: [rejected('invalid_vat_id', { vatId: 'DE1' })],
	},
	'organization.logo.get': {},
	'organization.logo': { skip: 'changes the logo', errors: [rejected('invalid_logo', { data: 'AAAA' })] },
	'organization.nextInvoiceNumber': {
		body: async (server) => ({ number: (await dataOf(server, 'organization.nextInvoiceNumber.get')).number }),
		wide: true,
	},
	'organization.paymentCredentials.get': {},
	'organization.paymentCredentials': { skip: 'changes who is paid' },
	'organization.usage': {},
	connections: {
		make: connection,
		body: async () => ({ name: `${name} II` }),
		errors: [
			rejected('invalid_connection', { credentials: { username: 'ada' } }),
			{ status: 409, code: 'connection_disabled', ids: disabled },
		],
	},
	'connections.create': {
		body: async () => ({ provider: 'hubspot', name, authType: 'api_key', credentials }),
		errors: [rejected('unknown_provider', { provider: 'nobody', name, authType: 'api_key', credentials })],
	},
	'connections.authorize': { skip: asksProvider },
	'connections.link': { skip: 'needs an origin to return to' },
	'connections.objects.schema': {
		skip: asksProvider,
		errors: [{ status: 409, code: 'connection_disabled', ids: async (server) => [await disabled(server), 'companies'] }],
	},
	'connections.test': { skip: asksProvider, errors: [{ status: 409, code: 'connection_disabled', ids: disabled }] },
	'mappings.defaults': {},
	mappings: {
		make: newMapping,
		body: async () => ({ ...mapping, name: `${name} II` }),
		errors: [
			rejected('invalid_mapping', { ...mapping, fields: [{ target: 'name', source: 'a..b' }] }),
			{ status: 409, code: 'record_in_use', ids: async (server) => mappingInUse(server) },
		],
	},
	'mappings.preview': { make: newMapping, body: async () => ({ records: [{ properties: { name } }] }) },
	syncs: {
		make: sync,
		body: async () => ({ name: `${name} II` }),
		errors: [rejected('invalid_sync', { schedule: { type: 'cron', expression: '0 0 31 2 *' } })],
	},
	'syncs.create': { body: syncBody },
	'syncs.run': { skip: asksProvider, errors: [{ status: 409, code: 'sync_paused', ids: pausedSync }] },
	'syncs.resume': { make: pausedSync },
	'syncs.cancel': { skip: needsRun, errors: [{ status: 409, code: 'no_active_run', ids: sync }] },
	'syncs.errors.list': { make: sync },
	'syncs.links.list': { make: sync },
	'syncs.runs.list': { make: sync },
	'syncs.errors': { skip: needsRun },
	'syncs.links': { skip: needsRun },
	'syncs.runs': { skip: needsRun },
	'webhooks.eventTypes': {},
	'webhooks.events': {
		make: async (server) => {
			await company(server)
			const { body } = await server.ask('webhooks.events.list', { query: '?type=company.created' })
			return (body as { data: { id: string }[] }).data[0]?.id ?? ''
		},
	},
	'webhooks.endpoints': {
		make: endpoint,
		body: async (server) => endpointBody(server),
		errors: [{ status: 409, code: 'webhook_endpoint_not_active', ids: pausedEndpoint }],
	},
	'webhooks.endpoints.redeliver': {
		make: endpoint,
		body: async () => ({ since: Date.now() }),
		errors: [{ status: 409, code: 'webhook_endpoint_not_active', ids: pausedEndpoint, body: { since: 1_700_000_000_000 } }],
	},
	'webhooks.endpoints.rotateSecret': { make: endpoint, body: async () => ({ graceSeconds: 60 }) },
	'webhooks.deliveries.redeliver': { skip: 'needs a delivery that failed' },
	'webhooks.deliveries': { make: delivery },
	users: { skip: 'needs a person' },
	'users.list': {},
	invitations: { body: async () => ({ email: 'nobody@contract-verification.invalid', role: 'member' }), skip: sendsMail },
	'invitations.list': {},
	sessions: { skip: ofPerson },
	'sessions.list': {},
	session: { skip: ofPerson },
	setup: { skip: 'makes the first person of a server' },
	'setup.get': {},
	audit: {},
	numberGaps: {},
	reports: {},
	search: {},
}

async function pausedSync(server: ServerUnderTest): Promise<string> {
	const id = await sync(server)
	await server.ask('syncs.pause', { ids: [id] })
	return id
}

async function mappingInUse(server: ServerUnderTest): Promise<string> {
	const body = await syncBody(server)
	await server.make('syncs.create', body)
	return body.mappingId
}

/** The recipe of the operation, or of the resource around it. */
export function recipeOf(id: string): Recipe {
	const parts = id.split('.')
	const found = parts.map((_, at) => recipes[parts.slice(0, parts.length - at).join('.')]).find(Boolean)
	if (!found) throw new Error(`recipes.ts does not say how to ask ${id}`)
	return found
}
