// Grows the tables of a test server, for the tests of query plans.
import type { TestServer } from './harness.ts'
import { secret } from './leaks.ts'
import { type Ask, readTables } from './tables.ts'

/** As many as those to which rows of other tables refer. */
const few = 100

/** Fills the tables of the lists by SQL, as copies of one row; those that are not named get a few. */
export async function grow(
	server: TestServer,
	ask: Ask,
	rows: number,
	{ tables = Object.keys(grown) }: { tables?: readonly string[] } = {},
): Promise<void> {
	await server.ask('POST', '/api/companies', { body: { name: 'Grown' } })
	await server.ask('POST', '/api/contacts', { body: { name: 'Grown' } })
	const invoice = (await server.ask('POST', '/api/invoices', { body: { totalCents: 100 } })).body.id
	await server.ask('POST', `/api/invoices/${invoice}/send`, { body: { to: 'grown@acme.example' } })
	await server.ask('POST', '/api/payments', { body: { amountCents: 1, currency: 'USD', invoiceId: invoice } })
	await server.ask('POST', '/api/tax-rates', { body: { name: 'VAT', percent: '19' } })
	await server.newTimeEntry()
	const [source, target] = [
		{ system: 'http_json', object: 'people' },
		{ system: 'internal', object: 'company' },
	]
	await server.ask('POST', '/mappings', { body: { name: 'Grown', source, target, fields: [] } })
	const endpoint = { url: 'https://receiver.example', eventTypes: ['*'] }
	const { id } = (await server.ask('POST', '/webhooks/endpoints', { body: endpoint })).body
	await server.ask('PATCH', `/webhooks/endpoints/${id}`, { body: { status: 'paused' } })
	const connection = { provider: 'stripe', name: 'Grown', authType: 'api_key', credentials: { apiKey: secret('key') } }
	await server.ask('POST', '/connections', { body: connection })
	await server.ask('POST', '/api/companies', { body: { name: 'Grown' } })
	const all = await readTables(server.db.dialect, ask)
	for (const [name, values] of Object.entries(grown)) {
		const columns = all.find((table) => table.name === name)?.columns ?? []
		const copied = columns.filter((column) => column !== 'rowid')
		const quoted = copied.map((column) => `"${column}"`).join(', ')
		const selected = copied.map((column) => values[column] ?? `"${column}"`).join(', ')
		const own = columns.includes('organizationId') ? `where "organizationId" = '${server.organizationId}'` : ''
		const count = tables.includes(name) ? rows : few
		// Triggers change one and the same row for each: PostgreSQL looks through all its versions until the statement is over.
		for (let from = 0; from < count; from += 1_000)
			await ask(`with recursive numbers(n) as (select ${from + 1} union all select n + 1 from numbers where n < ${Math.min(from + 1_000, count)})
				insert into ${name} (${quoted}) select ${selected} from (select * from ${name} ${own} limit 1) as source, numbers`)
	}
	// PostgreSQL gathers statistics by itself, a while later; SQLite never does.
	if (server.db.dialect === 'postgres') await ask('vacuum analyze')
}

/** The id of one of the first `count` copies, for every `every`-th row; null for the others. */
const oneOf = (prefix: string, count: number, every = 1) =>
	`case n % ${every} when 0 then '${prefix}_grown' || (n % ${count} + 1) end`

/** The columns that differ from copy to copy. A table comes after those to which it refers. */
const grown: Record<string, Record<string, string>> = {
	companies: {
		id: "'cmp_grown' || n",
		name: "'Grown ' || n",
		sortName: "'grown ' || n",
		searchText: "'grown ' || n",
		createdAt: 'n',
	},
	contacts: { id: "'ct_grown' || n", companyId: oneOf('cmp', 100, 7), createdAt: 'n' },
	pipelines: { id: "'pl_grown' || n", createdAt: 'n' },
	deals: {
		id: "'dl_grown' || n",
		companyId: oneOf('cmp', 100, 7),
		contactId: oneOf('ct', 100, 3),
		pipelineId: oneOf('pl', 10),
		stage: "case n % 5 when 0 then 'won' when 1 then 'paid' else 'lead' end",
		createdAt: 'n',
	},
	invoices: {
		id: "'inv_grown' || n",
		invoiceNumber: "'GROWN-' || n",
		status: "case n % 5 when 0 then 'sent' when 1 then 'paid' else 'draft' end",
		dealId: oneOf('dl', 100, 10),
		companyId: oneOf('cmp', 100, 7),
		createdAt: 'n',
	},
	payments: {
		id: "'pay_grown' || n",
		invoiceId: oneOf('inv', 100),
		companyId: oneOf('cmp', 100, 7),
		status: "case n % 5 when 0 then 'reversed' else 'succeeded' end",
		source: "case n % 5 when 1 then 'status' else 'manual' end",
		externalId: "'external' || n",
		createdAt: 'n',
	},
	payment_allocations: { id: "'alc_grown' || n", paymentId: "'pay_grown' || n", invoiceId: oneOf('inv', 100) },
	mails: { id: "'mail_grown' || n", resourceId: oneOf('inv', 100), createdAt: 'n' },
	mappings: { id: "'map_grown' || n", status: "case n % 5 when 0 then 'active' else 'draft' end", createdAt: 'n' },
	webhook_hosts: { host: "'grown' || n" },
	connections: {
		id: "'con_grown' || n",
		stateHash: "'state' || n",
		provider: "case n % 5 when 0 then 'stripe' else 'hubspot' end",
		status: "case n % 5 when 0 then 'active' else 'pending' end",
		createdAt: 'n',
	},
	webhook_endpoints: { id: "'whe_grown' || n", status: "case n % 5 when 0 then 'paused' else 'active' end", createdAt: 'n' },
	events: {
		position: '1000 + n',
		id: "'evt_grown' || n",
		resourceId: "'cmp_grown' || n",
		type: "case n % 5 when 0 then 'company.created' else 'company.updated' end",
	},
	webhook_deliveries: {
		id: "'whd_grown' || n",
		endpointId: oneOf('whe', 100),
		resourceId: "'cmp_grown' || n",
		status: "case n % 10 when 0 then 'skipped' else 'succeeded' end",
		nextAttemptAt: 'null',
	},
	audit_log: {
		id: "'aud_grown' || n",
		resourceId: "case n % 5 when 0 then 'cmp_1' else 'cmp_grown' || n end",
		actorId: "case n % 5 when 1 then 'key_1' end",
	},
	tax_rates: { id: "'txr_grown' || n", createdAt: 'n' },
	time_entries: {
		id: "'te_grown' || n",
		dealId: oneOf('dl', 100),
		invoiceId: oneOf('inv', 100, 2),
		status: "case n % 2 when 0 then 'invoiced' else 'open' end",
		startedAt: 'n',
	},
}
