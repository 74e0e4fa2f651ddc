// How the database finds the page of a list: by what the list is limited to, and without work for rows that it skips.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { contacts } from '../src/contacts/store.ts'
import type { Db } from '../src/db/database.ts'
import { deals } from '../src/deals/store.ts'
import { readInvoices } from '../src/invoices/store.ts'
import { readPayments } from '../src/ledger/store.ts'
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
	// PostgreSQL reads a table of this size as a whole.
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
const today = { date: 0, instant: 0 }
type List = (db: Db) => Promise<unknown>

it('the payments of an invoice are found by its payments and allocations', async () => {
	const read: List = (db) => readPayments(db, { organizationId: org(), invoiceId: 'inv_grown1', ...page })
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
		(db) => readPayments(db, { organizationId: org(), ...page }),
		(db) => readInvoices(db, org(), page, today),
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
		(db) => contacts.readPage(db, org(), page),
		(db) => contacts.readPage(db, org(), { companyId: 'cmp_grown1', ...page }),
		(db) => deals.readPage(db, org(), page),
		(db) => deals.readPage(db, org(), { stage: 'won', ...page }),
		(db) => deals.readPage(db, org(), { pipelineId: 'pl_grown1', ...page }),
	]
	for (const list of lists) {
		const [, count] = await record(server.db.dialect, list)
		const [plan] = await plansBy(server.db.dialect, ask, count ? [count] : [])
		expect(plan).toMatch(/USING COVERING INDEX|Index Only Scan/)
	}
})
