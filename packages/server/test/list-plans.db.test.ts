// How the database finds the page of a list: by what the list is limited to, and without work for rows that it skips.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { companies, readCompanies } from '../src/billing/companies/store.ts'
import { contacts, readContacts } from '../src/billing/contacts/store.ts'
import { deals, readDeals } from '../src/billing/deals/store.ts'
import { filterOf } from '../src/billing/invoices/reading/filter.ts'
import { shapeOf } from '../src/billing/invoices/reading/invoice-json.ts'
import { listInvoices } from '../src/billing/invoices/reading/list.ts'
import { sortKeys } from '../src/billing/invoices/reading/orders.ts'
import { readInvoices } from '../src/billing/invoices/reading/store.ts'
import { readPayments } from '../src/billing/ledger/store.ts'
import { findCurrencies, readSums } from '../src/billing/reports/store.ts'
import { findInvoices } from '../src/billing/search/invoices-store.ts'
import { readTimeEntries, timeEntries } from '../src/billing/time-entries/store.ts'
import { readDeliveries } from '../src/integration/webhooks/delivery-store.ts'
import type { Db } from '../src/platform/db/database.ts'
import { grow } from './grow.ts'
import { startTestServer, type TestServer } from './harness.ts'
import { connect, plansBy, record } from './plans.ts'
import type { Ask } from './tables.ts'

let server: TestServer
let ask: Ask
let end: () => unknown
beforeAll(async () => {
	server = await startTestServer()
	;({ ask, end } = await connect(server.settings))
	await grow(server, ask, 5_000)
	// PostgreSQL reads a table of this size as a whole, or an index of it as a whole before the table.
	if (server.db.dialect === 'postgres') await ask('set enable_seqscan = off')
	// It also prefers a bitmap while another transaction keeps the vacuum from seeing that all rows are visible.
	if (server.db.dialect === 'postgres') await ask('set enable_bitmapscan = off')
})
afterAll(async () => {
	await ask("delete from events where id like 'evt_grown%'")
	await end()
	await server.close()
})

const org = () => server.organizationId
const page = { limit: 50, offset: 0 }
/** A first page that is empty needs no count. */
const later = { limit: 50, offset: 50 }
const today = { date: 0, instant: 0 }
const byName = { sortBy: 'name', sortOrder: 'asc' } as const
const name = { column: 'sortName', direction: 'asc' } as const
const changes = { column: 'updatedAt', direction: 'asc' } as const
const newestFirst = { column: 'createdAt', direction: 'desc' } as const
type List = (db: Db) => Promise<unknown>

it('the payments of an invoice are found by its payments and allocations', async () => {
	const read: List = (db) => readPayments(db, { organizationId: org(), invoiceId: 'inv_grown1' }, later)
	const recorded = await record(server.db.dialect, read)
	expect(recorded).toHaveLength(2)
	for (const plan of await plansBy(server.db.dialect, ask, recorded)) {
		for (const index of ['payments_by_invoice', 'payment_allocations_by_invoice']) expect(plan).toContain(index)
		expect(plan).not.toMatch(/payments_by_creation|Seq Scan|\(organizationId=\?\)/)
	}
})

it('a list makes the JSON of its page alone, not of the rows before', async () => {
	// SQLite makes no column of a row that an offset skips.
	if (server.db.dialect === 'sqlite') return
	const lists: List[] = [
		(db) => contacts.readPage(db, org(), page),
		(db) => readPayments(db, { organizationId: org() }, page),
		(db) => readInvoices(db, { organizationId: org() }, page, today),
	]
	for (const list of lists) {
		const [query] = await record('postgres', list)
		const rows = await ask(`explain (verbose, costs off) ${query?.sql}`, query?.values)
		const lines = rows.map((row) => String(row['QUERY PLAN']))
		const limit = lines.findIndex((line) => /->\s+Limit$/.test(line))
		expect(limit).toBeGreaterThan(0)
		expect(lines.slice(0, limit).join()).toMatch(/Output: .*SubPlan/)
		expect(lines.slice(limit, limit + 5).join()).not.toContain('SubPlan')
	}
})

it('contacts and deals are counted by an index alone', async () => {
	const lists: List[] = [
		(db) => contacts.readPage(db, org(), later),
		(db) => contacts.readPage(db, org(), { companyId: 'cmp_grown1', ...later }),
		(db) => deals.readPage(db, org(), later),
		(db) => deals.readPage(db, org(), { stage: 'won', ...later }),
		(db) => deals.readPage(db, org(), { pipelineId: 'pl_grown1', ...later }),
		(db) => readDeals(db, org(), { updatedSince: 1, ...later }),
		(db) => readDeals(db, org(), { createdFrom: 1, createdTo: 9, ...later }),
		(db) => readContacts(db, org(), { updatedSince: 1, ...later }),
	]
	for (const list of lists) {
		const [, count] = await record(server.db.dialect, list)
		const [plan] = await plansBy(server.db.dialect, ask, count ? [count] : [])
		expect(plan).toMatch(/USING COVERING INDEX|Index Only Scan/)
	}
})

/** Lists by two filters, with the index of both. */
const pairs = (): [index: string, list: List][] => [
	['invoices_by_company_and_status', (db) => readInvoices(db, { ...of(), companyId: 'cmp_grown1', status: 'sent' }, page, today)],
	['invoices_by_deal_and_status', (db) => readInvoices(db, { ...of(), dealId: 'dl_grown1', status: 'sent' }, page, today)],
	['deals_by_pipeline_and_stage', (db) => deals.readPage(db, org(), { pipelineId: 'pl_grown1', stage: 'won', ...later })],
	['time_entries_by_deal_and_status', (db) => timeEntries.readPage(db, org(), { dealId: 'dl_grown1', status: 'open', ...later })],
	['payments_by_company_and_status', (db) => readPayments(db, { ...of(), companyId: 'cmp_grown1', status: 'reversed' }, later)],
	['payments_by_company_and_source', (db) => readPayments(db, { ...of(), companyId: 'cmp_grown1', source: 'manual' }, later)],
	['payments_available', (db) => readPayments(db, { ...of(), available: true }, later)],
	['payments_by_status_and_source', (db) => readPayments(db, { ...of(), status: 'reversed', source: 'manual' }, later)],
	[
		'webhook_deliveries_by_endpoint_and_status',
		(db) => readDeliveries(db, { ...of(), endpointId: 'whe_grown1', status: 'skipped' }, later),
	],
	[
		'webhook_deliveries_by_type_and_status',
		(db) => readDeliveries(db, { ...of(), eventType: 'company.created', status: 'skipped' }, later),
	],
]
const of = () => ({ organizationId: org() })

it('two filters, each of which may have many records, are found and counted by one index', async () => {
	for (const [index, list] of pairs()) {
		for (const plan of await plansBy(server.db.dialect, ask, await record(server.db.dialect, list))) {
			// PostgreSQL knows how few have the one, and reads them.
			if (server.db.dialect === 'sqlite') expect({ index, plan }).toEqual({ index, plan: expect.stringContaining(index) })
			// The allocations of each payment of the page are sorted.
			const [page] = plan.split('CORRELATED')
			expect(`${index}: ${page}`).not.toMatch(/TEMP B-TREE|Seq Scan(?! on long_records)/)
		}
	}
})

it('a search reads the index of words in its order, and then the records alone that it has found', async () => {
	const { dialect } = server.db
	const asked = { search: 'grown 17', sortBy: 'name', sortOrder: 'asc', ...page } as const
	const searched = await record(dialect, (db) => readCompanies(db, org(), asked))
	expect(searched).toHaveLength(3)
	for (const plan of await plansBy(dialect, ask, searched)) {
		expect(plan).toMatch(/SEARCH search_words USING PRIMARY KEY|Index Only Scan using search_words_pkey/)
		expect(plan).not.toMatch(/TEMP B-TREE|Sort/)
	}
	const ids = ['cmp_1', 'cmp_2']
	const found: [table: string, list: List][] = [
		['companies', (db) => companies.readRows(db, org(), { ids, ...page }, { column: 'sortName', direction: 'asc' })],
		['contacts', (db) => contacts.readPage(db, org(), { ids, companyId: 'cmp_1', ...later })],
		['deals', (db) => deals.readPage(db, org(), { ids, stage: 'won', ...later })],
		['time_entries', (db) => timeEntries.readPage(db, org(), { ids, status: 'open', ...later })],
	]
	const byId = dialect === 'sqlite' ? /SEARCH \w+ USING INDEX \w+ \(organizationId=\? AND id=\?\)/ : /_pkey/
	for (const [table, list] of found)
		for (const plan of await plansBy(dialect, ask, await record(dialect, list))) {
			expect({ table, plan }).toEqual({ table, plan: expect.stringMatching(byId) })
			expect({ table, plan }).not.toEqual({
				table,
				plan: expect.stringMatching(new RegExp(`SCAN ${table}|Seq Scan on ${table}`)),
			})
		}
})

it('the words of invoices that a walk has found are looked at by their ids', async () => {
	const search = { db: server.db, organizationId: org(), most: 1 }
	const work: List = async (db) => (await findInvoices({ ...search, db }, 'grown', true))?.sieve(['inv_1', 'inv_2'])
	const [plan] = await plansBy(server.db.dialect, ask, (await record(server.db.dialect, work)).slice(-1))
	expect(plan).toMatch(
		server.db.dialect === 'sqlite' ? /SEARCH r USING INDEX \w+ \(organizationId=\? AND id=\?\)/ : /invoices_pkey/,
	)
	expect(plan).toMatch(
		server.db.dialect === 'sqlite' ? /SEARCH c USING INDEX \w+ \(organizationId=\? AND id=\?\)/ : /companies_pkey/,
	)
})

it('a filter without an index of its own is walked in the order of the list, from one place to the next', async () => {
	const to = { key: 7, id: 'x' }
	const walked: [index: string, list: List][] = [
		['deals_by_creation', (db) => readDeals(db, org(), { valueMin: 1, ...page })],
		['contacts_by_creation', (db) => contacts.readPage(db, org(), { words: ['grown'], ...page })],
		['deals_by_change', (db) => readDeals(db, org(), { updatedSince: 1, stage: 'won', ...page })],
		['contacts_by_change', (db) => readContacts(db, org(), { updatedSince: 1, companyId: 'cmp_grown1', ...page })],
		['time_entries_by_start', (db) => readTimeEntries(db, org(), { billable: true, ...page })],
		['time_entries_by_user', (db) => readTimeEntries(db, org(), { userId: 'usr_1', ...page })],
	]
	for (const [index, list] of walked) {
		// The list goes on behind the first stride, and ends with the second.
		let steps = 0
		const recorded = await record(server.db.dialect, (db) => {
			const get = async (query: never, params: never) => (await db.get(query, params)) ?? (steps++ === 0 ? to : undefined)
			return list({ ...db, get } as Db)
		})
		for (const plan of await plansBy(server.db.dialect, ask, recorded)) {
			// PostgreSQL knows how few have the one filter, and reads them.
			if (server.db.dialect === 'sqlite') expect({ index, plan }).toEqual({ index, plan: expect.stringContaining(index) })
			expect(`${index}: ${plan}`).not.toMatch(/TEMP B-TREE|Seq Scan/)
		}
	}
})

it('a page behind a place is found by the place, not by the range that the list has', async () => {
	const after = { key: 7, id: 'x' }
	const behind: [index: string, bound: string, list: List][] = [
		['contacts_by_change', '(updatedAt,id)>(?,?)', (db) => readContacts(db, org(), { updatedSince: 1, ...page, after })],
		[
			'companies_by_change',
			'(updatedAt,id)>(?,?)',
			(db) => companies.readRows(db, org(), { updatedSince: 1, ...page, after }, changes),
		],
		['deals_by_creation', '(createdAt,id)<(?,?)', (db) => readDeals(db, org(), { createdTo: 9, ...page, after })],
		['time_entries_by_start', '(startedAt,id)<(?,?)', (db) => readTimeEntries(db, org(), { to: 9, ...page, after })],
	]
	for (const [index, bound, list] of behind) {
		const [plan = ''] = await plansBy(server.db.dialect, ask, (await record(server.db.dialect, list)).slice(-1))
		expect(plan).toContain(index)
		if (server.db.dialect === 'sqlite') expect({ index, plan }).toEqual({ index, plan: expect.stringContaining(bound) })
		else expect({ index, plan }).toEqual({ index, plan: expect.stringMatching(/Index Cond: .*ROW\(/) })
		expect(plan).not.toMatch(/(updatedAt|createdAt|startedAt)"? ?[<>]=/)
	}
})

it('the companies that have changed, and those by name with their words, are found by their index', async () => {
	const [ids, walked] = [
		await record(server.db.dialect, (db) => readCompanies(db, org(), { updatedSince: 1, ...page, ...byName })),
		await record(server.db.dialect, (db) =>
			companies.readRows(db, org(), { longest: 'a', longer: '', words: ['a'], ...page }, name),
		),
	]
	const [plan] = await plansBy(server.db.dialect, ask, ids.slice(0, 1))
	expect(plan).toMatch(/USING INDEX companies_by_change|Index Only Scan using companies_by_change/)
	for (const plan of await plansBy(server.db.dialect, ask, walked)) {
		expect(plan).toContain('companies_by_name')
		expect(plan).not.toMatch(/TEMP B-TREE|Seq Scan|Sort\b/)
	}
})

it('a report reads the sums of its ranges alone, and finds the currencies by steps from one to the next', async () => {
	const ranges = [{ figure: 'paid', from: 1, before: 2 }] as const
	const reads: List[] = [(db) => readSums(db, org(), 'EUR', ranges), (db) => findCurrencies(db, org())]
	const bounds = [/currency=\? AND figure=\? AND at>\? AND at<\?/, /currency>\?/]
	for (const [n, read] of reads.entries()) {
		const [plan] = await plansBy(server.db.dialect, ask, await record(server.db.dialect, read))
		expect(plan).toMatch(server.db.dialect === 'sqlite' ? (bounds[n] as RegExp) : /(?:Index|Only) Scan.* report_sums_pkey/)
		expect(plan).not.toMatch(/SCAN (s|report_sums)\b|Seq Scan/)
	}
})

it('a page behind a place, and a step of a deep offset, seek in the index of the order', async () => {
	const after = { key: 7, id: 'x' }
	const lists: [index: string, list: (at: { limit: number; offset: number }) => List][] = [
		['contacts_by_creation', (at) => (db) => contacts.readRows(db, org(), { ...at, after }, newestFirst)],
		['deals_by_stage', (at) => (db) => deals.readRows(db, org(), { stage: 'won', ...at, after }, newestFirst)],
		['time_entries_by_start', (at) => (db) => timeEntries.readPage(db, org(), { ...at, after })],
		['payments_by_source', (at) => (db) => readPayments(db, { ...of(), source: 'manual' }, { ...at, after })],
		['invoices_by_status', (at) => (db) => readInvoices(db, { ...of(), status: 'sent' }, { ...at, after }, today)],
		[
			'companies_by_name',
			(at) => (db) => companies.readRows(db, org(), { ...at, after }, { column: 'sortName', direction: 'asc' }),
		],
	]
	for (const [index, list] of lists) {
		for (const offset of [0, 1_000_000]) {
			// The end of the table lies beyond the offset.
			const work: List = (db) => {
				const get = async (query: never, params: never) => (await db.get(query, params)) ?? { most: 2_000_000 }
				return list({ limit: 50, offset })(offset ? ({ ...db, get } as Db) : db)
			}
			const recorded = await record(server.db.dialect, work)
			const [query] = offset && server.db.dialect === 'sqlite' ? recorded.slice(1) : recorded
			const [plan = ''] = await plansBy(server.db.dialect, ask, query ? [query] : [])
			const seek = {
				sqlite: /INDEX (\w+) \(organizationId=\?[^)]* AND \("?\w+"?,id\)[<>]\(\?,\?\)\)/,
				postgres: /Index (?:Only )?Scan.* using (?!long_records)(\w+)/,
			}
			expect([index, offset, seek[server.db.dialect].exec(plan)?.[1], plan]).toEqual([index, offset, index, plan])
			// An index of live companies alone does not count as one that has all: SQLite looks at each row.
			if (offset && server.db.dialect === 'sqlite' && index !== 'companies_by_name') expect(plan).toContain('COVERING INDEX')
		}
	}
})

type InvoiceQuery = Parameters<typeof filterOf>[0]

/** A list of invoices whose strides never end, so that it runs its statements for them, and for the few that a filter leaves. */
const invoices =
	(query: InvoiceQuery, sortBy: keyof typeof sortKeys, sortOrder: 'asc' | 'desc', after?: { key: number; id: string }): List =>
	(db) => {
		const get = async (query: never, params: never) => (await db.get(query, params)) ?? { key: 7, id: 'x', total: 0 }
		const filter = filterOf(query, org(), 'UTC')
		const asked = { filter, sort: { sortBy, sortOrder }, page: { ...page, after }, shape: shapeOf({}), count: false }
		return listInvoices({ ...db, get } as Db, asked, today)
	}

it('each order of invoices is walked in its own index, without the table and without sorting', async () => {
	const places = [undefined, { key: 7, id: 'x' }]
	for (const [sortBy, { index }] of Object.entries(sortKeys) as [keyof typeof sortKeys, { index: string }][])
		for (const sortOrder of ['asc', 'desc'] as const)
			for (const after of places) {
				const [matches, last] = await record(server.db.dialect, invoices({ currency: 'JPY' }, sortBy, sortOrder, after))
				const plans = await plansBy(server.db.dialect, ask, [matches, last] as NonNullable<typeof matches>[])
				for (const plan of plans) {
					expect([sortBy, plan]).toEqual([
						sortBy,
						expect.stringMatching(new RegExp(`(COVERING INDEX|Index Only Scan.*) ${index}\\b`)),
					])
					expect(plan).not.toMatch(/TEMP B-TREE|Sort|Seq Scan/)
					// From its place on.
					if (after) expect(plan).toMatch(/AND (<expr>|createdAt|totalCents)=\? AND id[<>]\?|Index Cond: .*= .*id [<>]/)
				}
			}
})

it('each filter that may leave few invoices has an index of its own', async () => {
	// PostgreSQL chooses by what it knows of the table.
	if (server.db.dialect === 'postgres') return
	const filters: [index: string, query: InvoiceQuery][] = [
		['invoices_by_company', { companyId: 'cmp_grown1' }],
		['invoices_by_deal', { dealId: 'dl_grown1' }],
		['invoices_by_status', { status: ['sent', 'paid'] }],
		['invoices_outstanding', { isOverdue: true }],
		['invoices_by_update', { updatedSince: '2026-03-01' }],
		['invoices_by_payment', { paidFrom: '2026-03-01' }],
		['invoices_by_creation', { createdTo: '2026-03-01' }],
		['invoices_by_issue', { issuedFrom: '2026-03-01' }],
		['invoices_by_due', { dueTo: '2026-03-01' }],
		['invoices_by_total', { totalMin: 5 }],
	]
	for (const [index, query] of filters) {
		const recorded = await record('sqlite', invoices(query, 'invoiceNumber', 'asc'))
		const [, , count, found] = await plansBy('sqlite', ask, recorded)
		expect([count, found]).toEqual([
			expect.stringMatching(`COVERING INDEX ${index} \\(organizationId=\\? AND`),
			expect.stringContaining(index),
		])
	}
})
