// The real schema of the database, and how it runs the product's own queries: every table and key belongs to an
// organization, and every list, filter and look-up has its index however large the table is.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migrations } from '../migrations/index.ts'
import { apiKeys, listKeys } from '../src/accounts/api-keys/store.ts'
import { findOrganization } from '../src/accounts/organizations/store.ts'
import { companies, readCompanies } from '../src/billing/companies/store.ts'
import { contacts } from '../src/billing/contacts/store.ts'
import { findOldestPipeline, hasDeals, pipelines } from '../src/billing/deals/pipeline-store.ts'
import { deals } from '../src/billing/deals/store.ts'
import { insertNumbered, isNumberRetired } from '../src/billing/invoices/numbers/store.ts'
import {
	closePaymentLinks,
	findClosingLink,
	findLinkByExternalId,
	findLiveLink,
	lockPaymentLink,
} from '../src/billing/invoices/payment-link-store.ts'
import { readInvoice, readInvoices } from '../src/billing/invoices/reading/store.ts'
import { findByToken, removeClientLink } from '../src/billing/invoices/sharing/client-link-store.ts'
import { lockInvoice, removeInvoice } from '../src/billing/invoices/store.ts'
import { findSharesOfInvoice, findSharesOfPayment, readPayment } from '../src/billing/ledger/store.ts'
import { markRatesUsed, taxRates } from '../src/billing/tax-rates/store.ts'
import { findTimeEntriesOf, lockTimeEntries, timeEntries } from '../src/billing/time-entries/store.ts'
import { findAuthorization } from '../src/integration/connections/authorization-store.ts'
import { connections } from '../src/integration/connections/store.ts'
import { lockTokenRow } from '../src/integration/connections/token-store.ts'
import { findMatches } from '../src/integration/mappings/match-store.ts'
import { mappings } from '../src/integration/mappings/store.ts'
import { endWaiting, findBacklogs } from '../src/integration/webhooks/backlog-store.ts'
import { deliverAgain, findDelivery, lockDelivery, readDeliveries } from '../src/integration/webhooks/delivery-store.ts'
import { endpoints } from '../src/integration/webhooks/endpoint-store.ts'
import { claimDeliveries } from '../src/integration/webhooks/engine/claim-store.ts'
import { completeDeliveries, endHolds, releaseDeliveries } from '../src/integration/webhooks/engine/queue-store.ts'
import { forwardPart } from '../src/integration/webhooks/recovery-store.ts'
import { countAgain, deliverAllAgain } from '../src/integration/webhooks/redelivery-store.ts'
import { readAuditLog, readHistory } from '../src/platform/audit/store.ts'
import { findKeyByHash } from '../src/platform/auth/store.ts'
import { bySystem } from '../src/platform/base/origin.ts'
import type { Database, Db } from '../src/platform/db/database.ts'
import { insertDeliveries } from '../src/platform/events/fan-out-store.ts'
import { readEvents } from '../src/platform/events/feed-store.ts'
import { recordEvent } from '../src/platform/events/record.ts'
import { readEvent } from '../src/platform/events/store.ts'
import {
	countRecipients,
	findLatestMail,
	findLostMails,
	findMailOfRequest,
	lockMail,
	readEmails,
} from '../src/platform/mails/store.ts'
import { findSuppressed, unsuppress } from '../src/platform/mails/suppression-store.ts'
import { isAnyJobDue, takeJobs } from '../src/platform/work/jobs-store.ts'
import { succeeded } from './deliveries.ts'
import { grow } from './grow.ts'
import { startTestServer, type TestServer } from './harness.ts'
import { connect, plansBy, record as recordIn } from './plans.ts'
import { type Ask, readTables } from './tables.ts'

let server: TestServer
let ask: Ask
let end: () => unknown
beforeAll(async () => {
	server = await startTestServer()
	;({ ask, end } = await connect(server.settings))
})
afterAll(async () => {
	// Copies of one event under other types are no events.
	await ask("delete from events where id like 'evt_grown%'")
	await end()
	await server.close()
})

/**
 * Keys that SQLite needs and nobody else sees: its full-text index points to companies by their rowid, and only the primary
 * key can count up, as the order of events does.
 */
const ofSqlite = new Set(['companies rowid', 'events position'])

/** What belongs to the server, and to no organization. */
const ofServer = new Set(['migrations', 'suppressed_addresses', 'webhook_hosts'])

const readSchema = () => readTables(server.db.dialect, ask)

describe('the schema', () => {
	it('has been brought to the newest migration', async () => {
		const [row] = await ask('select max("number") as latest from migrations')
		expect(Number(row?.latest)).toBe(migrations.length)
	})

	it('has the organization in every table, first in every key, and in every reference', async () => {
		const tables = (await readSchema()).filter(({ name }) => !ofServer.has(name))
		expect(tables.map(({ name }) => name)).toEqual(
			expect.arrayContaining(['organizations', 'api_keys', 'companies', 'invoices', 'deals']),
		)
		for (const { name, columns, unique, foreign } of tables) {
			expect({ name, columns }).toEqual({ name, columns: expect.arrayContaining(['organizationId']) })
			const keys = unique.filter((key) => !ofSqlite.has(`${name} ${key}`))
			expect({ name, keys: keys.length }).not.toEqual({ name, keys: 0 })
			for (const key of keys) expect({ name, first: key[0] }).toEqual({ name, first: 'organizationId' })
			for (const key of foreign) expect({ name, key }).toEqual({ name, key: expect.arrayContaining(['organizationId']) })
		}
	})
})

const record = (work: (db: Db) => Promise<unknown>) => recordIn(server.db.dialect, work)
const plans = (recorded: Parameters<typeof plansBy>[2]) => plansBy(server.db.dialect, ask, recorded)

const today = { date: 0, instant: 0 }
const org = () => server.organizationId
const page = { limit: 50, offset: 0 }
const invoiceKey = () => ({ organizationId: org(), id: 'inv_1' })
/** The primary key of the table, whatever the database calls it. */
const key = 'sqlite_autoindex_webhook_deliveries_1|webhook_deliveries_pkey'
type List = [name: string, work: (db: Db) => Promise<unknown>, indexes: string[]]
/** A list by every set of its filters: each filter has an index, and without any the list has one. */
function filtered(
	table: string,
	filters: Record<string, [value: string, index: string]>,
	list: (db: Db, filter: Record<string, string>) => Promise<unknown>,
	whole = 'creation',
): List[] {
	const all = Object.entries(filters)
	const indexOf = (name: string) => (name === key ? key : `${table}_by_${name}`)
	return Array.from({ length: 2 ** all.length }, (_, set): List => {
		const used = all.filter((_filter, index) => set & (1 << index))
		const filter = Object.fromEntries(used.map(([name, [value]]) => [name, value]))
		const indexes = used.map(([, [, index]]) => indexOf(index))
		const name = `${table} by ${Object.keys(filter).join(', ') || 'nothing'}`
		return [name, (db) => list(db, filter), indexes.length > 0 ? indexes : [indexOf(whole)]]
	})
}

const companyId: [string, string] = ['cmp_1', 'company']
const resourceId: [string, string] = ['cmp_1', 'resource']
/** Each list, with the indexes that may serve it. */
const lists = (): List[] => [
	...filtered('invoices', { status: ['sent', 'status'], dealId: ['dl_1', 'deal'], companyId }, (db, filter) =>
		readInvoices(db, { ...filter, organizationId: org() } as never, page, today),
	),
	...filtered('contacts', { companyId }, (db, filter) => contacts.readPage(db, org(), { ...filter, ...page })),
	...filtered(
		'deals',
		{ companyId, contactId: ['ct_1', 'contact'], pipelineId: ['pl_1', 'pipeline'], stage: ['won', 'stage'] },
		(db, filter) => deals.readPage(db, org(), { ...filter, ...page }),
	),
	...filtered('pipelines', {}, (db) => pipelines.readPage(db, org(), page)),
	...filtered('mappings', { status: ['active', 'status'] }, (db, filter) => mappings.readPage(db, org(), { ...filter, ...page })),
	...filtered('tax_rates', {}, (db) => taxRates.readPage(db, org(), page)),
	...filtered(
		'time_entries',
		{ dealId: ['dl_1', 'deal'], invoiceId: ['inv_1', 'invoice'], status: ['open', 'status'] },
		(db, filter) => timeEntries.readPage(db, org(), { ...filter, ...page }),
		'start',
	),
	...filtered('webhook_endpoints', { status: ['paused', 'status'] }, (db, filter) =>
		endpoints.readPage(db, org(), { ...filter, ...page }),
	),
	...filtered('connections', { provider: ['stripe', 'provider'], status: ['active', 'status'] }, (db, filter) =>
		connections.readPage(db, org(), { ...filter, ...page }),
	),
	...filtered(
		'webhook_deliveries',
		{ endpointId: ['whe_1', 'endpoint'], status: ['skipped', 'status'], resourceId, eventType: ['company.created', 'type'] },
		(db, filter) => readDeliveries(db, { ...filter, organizationId: org() }, { ...page, after: { key: 'whd_1', id: 'whd_1' } }),
		key,
	),
	[
		'the deliveries to an endpoint of one type',
		(db) => readDeliveries(db, { endpointId: 'whe_1', eventType: 'company.created', organizationId: org() }, page),
		['webhook_deliveries_by_endpoint_and_type'],
	],
	['the e-mails of an invoice', (db) => readEmails(db, invoiceKey(), page), ['mails_by_resource']],
	['the deliveries of an event', (db) => readDeliveries(db, { eventId: 'evt_1', organizationId: org() }, page), [key]],
	...filtered(
		'events',
		{ type: ['company.created', 'type'], resourceId },
		(db, filter) => readEvents(db as Database, { ...filter, organizationId: org() }, { ...page, after: 7 }),
		server.db.dialect === 'sqlite' ? 'position' : 'place',
	),
	...(
		[
			[{}, ['sqlite_autoindex_audit_log_1', 'audit_log_pkey']],
			[{ resourceId: 'cmp_1', after: { key: 'aud_1', id: 'aud_1' } }, ['audit_log_by_resource']],
			[{ actorId: 'key_1', from: 7, to: 8 }, ['audit_log_by_actor']],
			[{ actorId: 'key_1', resourceId: 'cmp_1' }, ['audit_log_by_actor', 'audit_log_by_resource']],
		] as const
	).map(
		([filter, indexes]): List => [
			`the audit log by ${Object.keys(filter)}`,
			(db) => readAuditLog(db, { ...filter, ...page, organizationId: org() }),
			[...indexes],
		],
	),
	[
		'the history of a record',
		(db) => readHistory(db, { organizationId: org(), resourceType: 'company', resourceId: 'cmp_1', ...page }),
		['audit_log_by_resource'],
	],
	...(['name', 'createdAt'] as const).flatMap((sortBy) =>
		(['asc', 'desc'] as const).map(
			(sortOrder): List => [
				`companies by ${sortBy} ${sortOrder}`,
				(db) => companies.readRows(db, org(), page, { column: sortBy === 'name' ? 'sortName' : sortBy, direction: sortOrder }),
				[sortBy === 'name' ? 'companies_by_name' : 'companies_by_creation'],
			],
		),
	),
]

const event = { type: 'company.updated', resource: 'company', resourceId: 'cmp_1', data: '{}' } as const

/** A database in which an organization has an endpoint, without which no delivery is written. */
const withEndpoint = (db: Db): Db => ({ ...db, get: async (query, params) => (await db.get(query, params)) ?? ({} as never) })
const ofFirstEvent = () => ({ organizationId: org(), eventId: 'evt_1', now: 0, patterns: ['*'], isFirst: true }) as const
const taking = () => ({ organizationId: org(), now: 0, leaseEnd: 0 })

/** A database in which the delivery had been claimed, and another waits for it: what follows is written for such a one only. */
const withClaimed = (db: Db): Db => ({
	...db,
	run: async (query, params) => Math.max(1, await db.run(query, params)),
	get: async (query, params) => (await db.get(query, params)) ?? ({ id: 'whd_2' } as never),
})
const complete = (db: Db) => completeDeliveries(withClaimed(db), [succeeded({ organizationId: org() })])

/** Two ids that PostgreSQL compares row by row, without an index of either. There are few jobs at any size. */
const comparedIds = /Filter: (?!.*\bjobs\.).*?\(?(\w+\.)?("(?!organization)\w+Id"|id) = \w+\.("\w+Id"|id)/

/** Every look-up that is no list. */
const grownEndpoint = () => ({ organizationId: org(), id: 'whe_grown1' })
const lookUps: [name: string, work: (db: Db) => Promise<unknown>][] = [
	['an invoice', (db) => readInvoice(db, org(), 'inv_1', today)],
	['an invoice to change', (db) => lockInvoice(db, org(), 'inv_1')],
	['an invoice to delete', (db) => removeInvoice(db, org(), 'inv_1')],
	['a company', (db) => companies.find(db, org(), 'cmp_1')],
	['a company to change', (db) => companies.lock(db, org(), 'cmp_1')],
	...(['name', 'domain', 'vatId', 'billingEmail'] as const).map((name): [string, (db: Db) => Promise<unknown>] => [
		`companies by their ${name}`,
		(db) => findMatches(db, 'company', org(), { [name]: 'x' }),
	]),
	['an invoice by its number', (db) => findMatches(db, 'invoice', org(), { invoiceNumber: 'X-1' })],
	['the number of companies', (db) => readCompanies(db, org(), { sortBy: 'name', sortOrder: 'asc', ...page })],
	['a contact', (db) => contacts.find(db, org(), 'ct_1')],
	['a connection to change', (db) => connections.lock(db, org(), 'con_1')],
	['the token of a connection', (db) => lockTokenRow(db, { organizationId: org(), id: 'con_1' })],
	['an authorization by its state', (db) => findAuthorization(db, 'hash')],
	['a deal', (db) => deals.find(db, org(), 'dl_1')],
	['a deal to change', (db) => deals.lock(db, org(), 'dl_1')],
	['a pipeline', (db) => pipelines.find(db, org(), 'pl_1')],
	['the pipeline of deals that name none', (db) => findOldestPipeline(db, org())],
	['the deals of a pipeline', (db) => hasDeals(db, { organizationId: org(), pipelineId: 'pl_1' })],
	['a tax rate', (db) => taxRates.find(db, org(), 'txr_1')],
	['tax rates that are used', (db) => markRatesUsed(db, org(), ['txr_1', 'txr_2'])],
	['a time entry', (db) => timeEntries.find(db, org(), 'te_1')],
	['time entries to invoice', (db) => lockTimeEntries(db, org(), ['te_1', 'te_2'])],
	['the time entries of an invoice', (db) => findTimeEntriesOf(db, org(), 'inv_1')],
	['a client link to revoke', (db) => removeClientLink({ db, origin: bySystem(0) }, { organizationId: org(), id: 'inv_1' })],
	['an invoice by its token', (db) => findByToken(db, 'token')],
	['a payment', (db) => readPayment(db, org(), 'pay_1')],
	['what invoices have of a payment', (db) => findSharesOfPayment(db, org(), 'pay_1')],
	['what an invoice has of payments', (db) => findSharesOfInvoice(db, org(), 'inv_1')],
	['a payment link', (db) => findLiveLink(db, org(), 'inv_1', 0)],
	['a payment link to change', (db) => lockPaymentLink(db, org(), 'plk_1')],
	['a payment link by its page', (db) => findLinkByExternalId(db, 'test', 'cs_1')],
	['payment links to close', (db) => closePaymentLinks(db, { organizationId: org(), id: 'inv_1' }, 0)],
	['a payment link that is closing', (db) => findClosingLink(db, org(), 'plk_1')],
	['the last mail of an invoice', (db) => findLatestMail(db, invoiceKey())],
	['the mail of a request', (db) => findMailOfRequest(db, invoiceKey(), 'key', 0)],
	['a mail to conclude', (db) => lockMail(db, { organizationId: org(), id: 'mail_1' })],
	['the recipients of a day', (db) => countRecipients(db, org(), 0)],
	['suppressed addresses', (db) => findSuppressed(db, ['a@acme.example', 'b@acme.example'])],
	['an address to suppress no more', (db) => unsuppress(db, 'a@acme.example')],
	['mails of dead processes', (db) => findLostMails(db, 0, 50)],
	['the last event of a record', (db) => recordEvent(withEndpoint(db), bySystem(0), { ...event, organizationId: org() })],
	['the first event of a record', (db) => insertDeliveries(withEndpoint(db), ofFirstEvent())],
	['an event', (db) => readEvent(db, org(), 'evt_1')],
	['a delivery', (db) => findDelivery(db, { organizationId: org(), id: 'whd_1' })],
	['a delivery to change', (db) => lockDelivery(db, { organizationId: org(), id: 'whd_1' })],
	['a delivery to make again', (db) => deliverAgain(db, { organizationId: org(), id: 'whd_1' }, 0)],
	['deliveries to make again', (db) => deliverAllAgain(db, grownEndpoint(), null, 0, 0)],
	['all deliveries to make again', (db) => deliverAllAgain(db, grownEndpoint(), 'all', 0, 0)],
	['deliveries to count', (db) => countAgain(db, grownEndpoint(), 'retrying', 0)],
	['deliveries to cancel', (db) => endWaiting(db, grownEndpoint(), 'cancelled', 0)],
	['retries to bring forward', (db) => forwardPart(db, grownEndpoint(), { forwardAfter: '', forwardFrom: 0, forwardTo: 9 }, 0)],
	['whether a job is due', (db) => isAnyJobDue(db, { now: 0, kinds: ['a'], without: [] })],
	['jobs to take', (db) => takeJobs(db, 4, 9, { now: 0, kinds: ['a'], without: [] })],
	['endpoints with something left to do', (db) => findBacklogs(db)],
	['deliveries that hold others back', (db) => endHolds(db, 0)],
	['deliveries that are due', (db) => claimDeliveries(db, taking(), [{ endpointId: 'whe_1', limit: 5 }])],
	[
		'deliveries that are due since a time',
		(db) => claimDeliveries(db, taking(), [{ endpointId: 'whe_1', limit: 5, from: 0, ifVersion: 1 }]),
	],
	['results of deliveries', complete],
	['deliveries to return', (db) => releaseDeliveries(db, [{ organizationId: org(), id: 'whd_1', leaseEnd: 1 }])],
	['a deleted number', (db) => isNumberRetired(db, org(), 'INV-0001')],
	['an organization', (db) => findOrganization(db, org())],
	[
		'the next number',
		(db) =>
			insertNumbered(
				db,
				{ organizationId: org() },
				'INV-',
				{ timeZone: 'UTC', invoiceNumberPrefix: 'INV-', invoiceNumberDigits: 4 },
				{ insertLater() {}, insertIfFree: async () => true },
			),
	],
	['a key by its hash', (db) => findKeyByHash(db, 'hash')],
	['the keys of an organization', (db) => listKeys(db, org())],
	['a page of keys', (db) => apiKeys.readPage(db, org(), page)],
	['a key to rotate', (db) => apiKeys.lock(db, org(), 'key_1')],
]

describe.each(['with few rows', 'with many rows'])('every query %s', (size) => {
	beforeAll(async () => {
		const sqlite = server.db.dialect === 'sqlite'
		if (size === 'with many rows') await grow(server, ask, 5_000)
		// So few rows are read faster than any index: PostgreSQL is asked what it would do with more.
		if (!sqlite) await ask(size === 'with few rows' ? 'set enable_seqscan = off' : 'reset enable_seqscan')
		if (!sqlite) await ask(size === 'with few rows' ? 'set enable_bitmapscan = off' : 'reset enable_bitmapscan')
	})

	it('of a list walks an index in the order of the list', async () => {
		// PostgreSQL filters a handful of rows without an index for it.
		const any = server.db.dialect === 'postgres' && size === 'with few rows'
		for (const [name, work, indexes] of lists()) {
			const [plan] = await plans((await record(work)).slice(0, 1))
			expect({ name, plan }).toEqual({ name, plan: expect.stringMatching(any ? /_by_|_pkey/ : new RegExp(indexes.join('|'))) })
			// long_records has a row for few organizations.
			const slow = /TEMP B-TREE|\bSort\b|Seq Scan(?! on long_records)|^SCAN (?!page$)/m
			expect({ name, plan }).not.toEqual({ name, plan: expect.stringMatching(slow) })
		}
	})

	it('of the feed of a limited key finds the first events of each type by its index', async () => {
		const types = ['deal.stage_changed', 'company.created'] as const
		const feed = (db: Db) => readEvents(db as Database, { organizationId: org() }, { ...page, after: 7 }, types)
		const [plan] = await plans((await record(feed)).slice(0, 1))
		// PostgreSQL reads a handful of rows as a whole.
		if (server.db.dialect === 'sqlite' || size === 'with many rows') expect(plan?.match(/events_by_type/g)).toHaveLength(2)
		expect(plan).not.toMatch(/Seq Scan on events|SCAN (e|events)\b/)
	})

	it('that lets the next deliveries go finds each by its key', async () => {
		if (server.db.dialect === 'postgres') await ask('set enable_seqscan = off')
		const written = await record(complete)
		const plan = (await plans(written)).at(-1)
		const byKey = {
			sqlite: /SEARCH webhook_deliveries USING INDEX \S+ \(organizationId=\? AND id=\?\)/,
			postgres: /\(id = n\.id\)/,
		}
		// PostgreSQL reads a handful of rows as a whole.
		if (server.db.dialect === 'sqlite' || size === 'with many rows') expect(plan).toMatch(byKey[server.db.dialect])
	})

	it('that brings retries forward walks those alone', async () => {
		if (server.db.dialect === 'postgres') await ask('set enable_seqscan = off')
		const left = { forwardAfter: 'whd_1', forwardFrom: 7, forwardTo: 8 }
		const [, walk] = await plans(await record((db) => forwardPart(db, { organizationId: org(), id: 'whe_1' }, left, 9)))
		expect(walk).toContain('webhook_deliveries_by_endpoint_and_status')
	})

	it('for one record, or for those that belong to one, goes by an index', async () => {
		// Some of these tables have few rows at any size.
		if (server.db.dialect === 'postgres') await ask('set enable_seqscan = off')
		for (const [name, work] of lookUps) {
			for (const plan of await plans(await record(work))) {
				expect({ name, plan }).toEqual({
					name,
					plan: expect.stringMatching(/USING (COVERING )?INDEX|Index (Only )?Scan|Bitmap Index Scan/),
				})
				if (size === 'with many rows') expect(plan, name).not.toMatch(comparedIds)
				expect({ name, plan }).not.toEqual({
					name,
					plan: expect.stringMatching(
						/Seq Scan|^SCAN (?!json_each|CONSTANT|s EXISTS VIRTUAL|a$|again|[nr]$|some$|due$|before$|behind$|part$|page$|webhook_endpoints USING (COVERING )?INDEX webhook_endpoints_backlogs|\(subquery)/m,
					),
				})
			}
		}
	})
})
