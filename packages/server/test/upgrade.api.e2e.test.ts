// This version reads the records of older versions as if it had written them.
import { join } from 'node:path'
import knexFactory, { type Knex } from 'knex'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { up as addInvoiceFields } from '../migrations/0015-invoice-fields.ts'
import { up as addLedger } from '../migrations/0050-ledger.ts'
import { up as joinAllocations } from '../migrations/0056-joined-allocations.ts'
import { up as countCompanies } from '../migrations/0072-record-counts.ts'
import { up as indexInvoices } from '../migrations/0076-invoice-lists.ts'
import { up as sumUp } from '../migrations/0081-report-sums.ts'
import { up as indexOutstanding } from '../migrations/0095-outstanding-invoices.ts'
import { up as sumWhatIsDue } from '../migrations/0096-sums-of-what-is-due.ts'
import { up as dropCountedAnew } from '../migrations/0098-drop-counted-anew.ts'
import { startTestServer, type TestServer } from './harness.ts'
import { expectBalanced } from './ledger.ts'

let server: TestServer
let knex: Knex
beforeAll(async () => {
	server = await startTestServer()
	const { DATABASE_URL, DATA_DIR } = server.settings
	knex = DATABASE_URL
		? knexFactory({ client: 'pg', connection: DATABASE_URL })
		: knexFactory({
				client: 'better-sqlite3',
				connection: { filename: join(DATA_DIR as string, 'remit.db') },
				useNullAsDefault: true,
			})
})
afterAll(async () => {
	await knex.destroy()
	await server.close()
})

const parse = (value: unknown) => (typeof value === 'string' ? JSON.parse(value) : value)

it('invoices get the fields that lines and parties have now, and keep what they have', async () => {
	const company = await server.ask('POST', '/api/companies', { body: { name: 'Acme' } })
	const lineItems = [
		{ description: 'First', unitPriceCents: 100 },
		{ description: 'Second', unitPriceCents: 200, metadata: { a: 'b' } },
	]
	const body = { companyId: company.body.id, status: 'sent', lineItems }
	const { id } = (await server.ask('POST', '/api/invoices', { body })).body
	const empty = (await server.ask('POST', '/api/invoices')).body.id
	const written = (await server.ask('GET', `/api/invoices/${id}`)).body

	const row = await knex('invoices').where({ id }).first()
	const older = {
		lineItems: parse(row.lineItems).map(
			({ taxRateId, durationSeconds, timeEntryIds, ...line }: object & Record<string, unknown>) => line,
		),
		billTo: (({ phone, taxId, ...party }) => party)(parse(row.billTo)),
		billFrom: (({ phone, taxId, ...party }) => party)(parse(row.billFrom)),
	}
	const columns = Object.fromEntries(Object.entries(older).map(([name, value]) => [name, JSON.stringify(value)]))
	await knex('invoices').where({ id }).update(columns)
	await expect(server.ask('GET', `/api/invoices/${id}`)).rejects.toThrow("must have required property 'taxRateId'")

	for (let time = 1; time <= 2; time++) {
		await addInvoiceFields(knex)
		expect((await server.ask('GET', `/api/invoices/${id}`)).body).toEqual(written)
		expect((await server.ask('GET', `/api/invoices/${empty}`)).body.data).toMatchObject({ lineItems: [], billTo: null })
	}
})

it('what a server of the version before stored beside this one is whole once this one changes it', async () => {
	const lineItems = [{ description: 'First', unitPriceCents: 100 }]
	const { id } = (await server.ask('POST', '/api/invoices', { body: { status: 'sent', billTo: { name: 'Acme' }, lineItems } }))
		.body
	const read = async () => (await server.ask('GET', `/api/invoices/${id}`)).body.data
	const written = await read()
	const row = await knex('invoices').where({ id }).first()
	const older = {
		lineItems: parse(row.lineItems).map(({ periodStart, periodEnd, ...line }: Record<string, unknown>) => line),
		billTo: (({ taxId, vatId, ...party }) => party)(parse(row.billTo)),
		billFrom: (({ bankAccount, ...party }) => party)(parse(row.billFrom)),
	}
	const columns = Object.fromEntries(Object.entries(older).map(([name, value]) => [name, JSON.stringify(value)]))
	await knex('invoices').where({ id }).update(columns)
	await server.ask('PATCH', `/api/invoices/${id}`, { body: { notes: 'Thanks' } })
	const { notes, updatedAt, version, ...rest } = written
	expect(await read()).toMatchObject(rest)
	const events = (await server.ask('GET', `/webhooks/events?resourceId=${id}`)).body.data
	expect(events.at(-1)).toMatchObject({ data: rest, changes: { notes: { from: null, to: 'Thanks' } } })
	expect(Object.keys(events.at(-1).changes)).toEqual(['notes'])
})

it('the ledger has the money of older invoices, and every payment that a processor reported', async () => {
	const { ask, organizationId } = await server.newTenant()
	const create = async (body: object) => (await ask('POST', '/api/invoices', { body })).body.id as string
	const paid = { totalCents: 500, status: 'paid', paymentMethod: 'cash', paidDate: '2026-01-05' }
	const [byStatus, byLink, taken, mixed] = [
		await create(paid),
		await create(paid),
		await create({ totalCents: 500 }),
		await create(paid),
	]
	await create({ totalCents: -70, status: 'paid' })
	await dropSums()
	for (const table of ['payments', 'payment_allocations']) await knex.schema.dropTable(table)
	for (const by of ['creation', 'issue', 'due', 'total', 'number', 'update', 'payment'])
		await knex.raw(`drop index invoices_by_${by}`)
	await knex.raw('drop index invoices_outstanding')
	for (const column of ['amountCreditedCents', 'paidByPayment']) await knex.raw(`alter table invoices drop column "${column}"`)
	await knex.schema.renameTable('processor_events', 'payments')
	if (server.settings.DATABASE_URL)
		await knex.raw('alter table payments rename constraint processor_events_pkey to payments_pkey')
	const reported = [
		[byLink, 'applied', 500],
		[taken, 'applied', 500],
		[mixed, 'applied', 200],
		['inv_gone', 'invoice_deleted', 90],
		[taken, 'amount_mismatch', 91],
	] as const
	const of = { organizationId, processor: 'stripe', linkId: 'plk_1', currency: 'USD', method: 'card', reference: 'pi_1' }
	for (const [n, [invoiceId, outcome, amountCents]] of reported.entries()) {
		const row = { ...of, invoiceId, outcome, amountCents, eventId: `evt_${n}`, externalId: `cs_${n}`, paidAt: n, receivedAt: n }
		await knex('payments').insert(row)
	}
	await addLedger(knex)
	await knex.raw('create index invoices_by_creation on invoices ("organizationId", "createdAt", id)')
	await indexInvoices(knex)
	await sumUp(knex)
	await indexOutstanding(knex, false)
	await sumWhatIsDue(knex)
	await dropCountedAnew(knex, false)
	await expectBalanced(server.db, organizationId)
	const found = async (search: string) =>
		(await ask('GET', `/api/payments?${search}`)).body.data.map((payment: Record<string, unknown>) =>
			['source', 'amountCents', 'availableCents', 'unappliedReason'].map((name) => payment[name]),
		)
	expect(await found(`invoiceId=${byStatus}`)).toEqual([['status', 500, 0, null]])
	expect(await found(`invoiceId=${byLink}`)).toEqual([['processor', 500, 0, null]])
	expect(await found(`invoiceId=${mixed}`)).toEqual([
		['status', 300, 0, null],
		['processor', 200, 0, null],
	])
	// It was applied, and then its status was taken back by hand.
	expect(await found(`invoiceId=${taken}`)).toEqual([
		['processor', 91, 91, 'amount_mismatch'],
		['processor', 500, 500, null],
	])
	expect(await found('source=processor')).toHaveLength(5)
	expect((await ask('PATCH', `/api/invoices/${byStatus}`, { body: { status: 'sent' } })).status).toBe(200)
	await expectBalanced(server.db, organizationId)
	expect((await ask('GET', `/api/invoices/${byLink}`)).body.data).toMatchObject({ amountPaidCents: 500, paymentState: 'paid' })
})

it('what an invoice got of a payment in parts becomes one allocation', async () => {
	const { ask, organizationId } = await server.newTenant()
	const invoiceId = (await ask('POST', '/api/invoices', { body: { totalCents: 500 } })).body.id
	const { id } = (await ask('POST', '/api/payments', { body: { amountCents: 500, invoiceId } })).body
	const { 0: whole } = (await ask('GET', `/api/payments/${id}`)).body.data.allocations
	await knex('payment_allocations').where({ organizationId }).update({ amountCents: 200 })
	for (const [part, later] of [100, 200].entries()) {
		const row = { organizationId, paymentId: id, invoiceId, id: `alc_${part}`, amountCents: 150 }
		await knex('payment_allocations').insert({ ...row, allocatedAt: whole.allocatedAt + later })
	}
	await joinAllocations(knex)
	expect((await ask('GET', `/api/payments/${id}`)).body.data.allocations).toEqual([
		{ ...whole, id: expect.any(String), allocatedAt: whole.allocatedAt + 200 },
	])
	await expectBalanced(server.db, organizationId)
})

async function dropSums(): Promise<void> {
	if (server.db.dialect === 'postgres') await knex.raw('drop function sum_invoices, sum_payments cascade')
	else
		for (const { name } of await knex('sqlite_master').where('type', 'trigger').whereLike('sql', '%report_sums%'))
			await knex.raw(`drop trigger ${name}`)
	await knex.schema.dropTable('report_sums')
}

it('what is owed and was paid is summed as it is there, and goes on to be', async () => {
	const tenant = await server.newTenant()
	const create = (body: object) => tenant.ask('POST', '/api/invoices', { body: { status: 'sent', totalCents: 100, ...body } })
	await create({ dueDate: '2026-02-01' })
	await create({ dueDate: Date.UTC(2026, 1, 3, 4), totalCents: 31 })
	await create({ status: 'draft' })
	await create({ totalCents: -5, dueDate: '2026-01-01' })
	await create({ dueDate: '2200-01-01' })
	await create({ totalCents: 0 })
	for (const ago of [0, 20, 40])
		await tenant.ask('POST', '/api/payments', { body: { amountCents: 7, paidAt: server.clock.now - ago * 86_400_000 } })
	const before = await tenant.remit.reports.summary()
	expect(before.currencies).toMatchObject([{ outstanding: { count: 4, cents: 226 }, overdue: { count: 2, cents: 131 } }])
	await dropSums()
	await sumUp(knex)
	await knex.raw('drop index invoices_outstanding')
	await indexOutstanding(knex, false)
	await sumWhatIsDue(knex)
	await dropCountedAnew(knex, false)
	expect(await tenant.remit.reports.summary()).toEqual(before)
	await create({})
	expect((await tenant.remit.reports.summary()).currencies[0]?.outstanding.count).toBe(5)
})

it('the companies that are there are counted, and go on to be', async () => {
	const tenant = await server.newTenant()
	const create = async () => (await tenant.ask('POST', '/api/companies', { body: { name: 'Acme' } })).body.id
	const total = async () => (await tenant.ask('GET', '/api/companies?limit=1')).body.meta.total
	for (const id of [await create(), await create(), await create()].slice(2)) await tenant.ask('DELETE', `/api/companies/${id}`)
	const isPostgres = server.db.dialect === 'postgres'
	for (const name of ['insert', 'update', 'delete'])
		await knex.raw(`drop trigger companies_count_${name} ${isPostgres ? 'on companies' : ''}`)
	if (isPostgres) await knex.raw('drop function count_companies()')
	await knex.schema.dropTable('record_counts')
	await create()

	await countCompanies(knex)
	expect(await total()).toBe(3)
	await create()
	expect(await total()).toBe(4)
})
