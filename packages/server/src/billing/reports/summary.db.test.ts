// The report of what is owed and was paid, which triggers keep the sums of.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { step, take } from '../../../test/ledger-steps.ts'
import { connect } from '../../../test/plans.ts'
import type { Ask } from '../../../test/tables.ts'
import type { CurrencySummary, Invoice, Payment } from '../../generated/contract.ts'
import { dayMs } from '../../platform/base/dates.ts'
import { createInvoice } from '../invoices/write.ts'

let server: TestServer
let ask: Ask
let end: () => unknown
beforeAll(async () => {
	server = await startTestServer({ PAYMENT_PROCESSOR: 'test' })
	;({ ask, end } = await connect(server.settings))
})
afterAll(async () => {
	await end()
	await server.close()
})

const march = Date.UTC(2026, 2, 1, 12)
const summary = async (tenant: Tenant): Promise<CurrencySummary[]> => (await tenant.remit.reports.summary()).currencies
const of = async (tenant: Tenant, currency = 'EUR') => (await summary(tenant)).find((found) => found.currency === currency)
const create = async (tenant: Tenant, body: object): Promise<string> =>
	(await tenant.ask('POST', '/api/invoices', { body: { currency: 'EUR', status: 'sent', totalCents: 100, ...body } })).body.id
const patch = (tenant: Tenant, id: string, body: object) => tenant.ask('PATCH', `/api/invoices/${id}`, { body })
const pay = async (tenant: Tenant, body: object): Promise<string> =>
	(await tenant.ask('POST', '/api/payments', { body: { amountCents: 100, currency: 'EUR', ...body } })).body.id
const paidIn = (found: CurrencySummary | undefined, month: string) =>
	found?.paidByMonth.find((each) => each.month === month)?.cents

/** The report in plain JavaScript over all invoices and payments. */
async function computed(tenant: Tenant, timeZone: string): Promise<CurrencySummary[]> {
	const format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' })
	const dayOf = (ms: number) => (ms % dayMs === 0 ? new Date(ms).toISOString().slice(0, 10) : format.format(ms))
	const today = format.format(server.clock.now)
	const all = async <T>(path: string, query = ''): Promise<T[]> =>
		(await tenant.ask('GET', `${path}?limit=100&${query}`)).body.data
	const invoices = await all<Invoice>('/api/invoices')
	const payments = (await all<Payment>('/api/payments')).filter(({ status }) => status === 'succeeded')
	const months = Array.from({ length: 12 }, (_, n) => {
		const [year, month] = today.split('-').map(Number) as [number, number]
		return new Date(Date.UTC(year, month - 12 + n, 1)).toISOString().slice(0, 7)
	})
	const add = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
	const sum = (rows: readonly Invoice[]) => ({
		count: rows.length,
		cents: add(rows.map(({ totalCents, amountPaidCents }) => totalCents - amountPaidCents)),
	})
	const currencies = [...new Set([...invoices, ...payments].map(({ currency }) => currency))].sort()
	const summaries = currencies.map(async (currency) => {
		const own = invoices.filter((invoice) => invoice.currency === currency)
		const open = own.filter(({ status, amountDueCents }) => status !== 'draft' && amountDueCents !== 0)
		expect(open.map(({ id }) => id)).toEqual(
			(await all<Invoice>('/api/invoices', `isOutstanding=true&currency=${currency}`)).map(({ id }) => id),
		)
		const late = ({ dueDate, totalCents }: Invoice) => dueDate !== null && dayOf(dueDate) < today && totalCents > 0
		expect(open.filter(late)).toEqual(own.filter(({ isOverdue }) => isOverdue))
		const paidByMonth = months.map((month) => {
			const paid = payments.filter((payment) => payment.currency === currency && dayOf(payment.paidAt).startsWith(month))
			return { month, cents: add(paid.map(({ amountCents }) => amountCents)) }
		})
		const drafts = own.filter(({ status }) => status === 'draft')
		if (open.length + drafts.length === 0 && paidByMonth.every(({ cents }) => cents === 0)) return []
		const invoiced = { outstanding: sum(open), overdue: sum(open.filter(late)), drafts: sum(drafts) }
		return [{ currency, ...invoiced, paidThisMonthCents: paidByMonth.at(-1)?.cents ?? 0, paidByMonth }]
	})
	return (await Promise.all(summaries)).flat()
}

describe('what is owed', () => {
	it('is nothing where there is nothing', async () => {
		server.clock.now = march
		const tenant = await server.newTenant({ timeZone: 'Europe/Berlin' })
		expect(await tenant.remit.reports.summary()).toEqual({
			timeZone: 'Europe/Berlin',
			today: Date.UTC(2026, 2, 1),
			currencies: [],
		})
	})

	it('is summed by currency, and less by what was paid of it', async () => {
		server.clock.now = march
		const tenant = await server.newTenant()
		const [id] = [await create(tenant, {}), await create(tenant, { status: 'draft', totalCents: 7 })]
		await create(tenant, { currency: 'JPY', totalCents: 5_000 })
		await create(tenant, { status: 'cancelled' })
		await create(tenant, { totalCents: -30 })
		await pay(tenant, { invoiceId: id, amountCents: 40 })
		expect(await of(tenant)).toMatchObject({
			outstanding: { count: 2, cents: 30 },
			overdue: { count: 0, cents: 0 },
			drafts: { count: 1, cents: 7 },
			paidThisMonthCents: 40,
		})
		expect(await of(tenant, 'JPY')).toMatchObject({ outstanding: { count: 1, cents: 5_000 }, paidThisMonthCents: 0 })
		await patch(tenant, id, { currency: 'USD' })
		expect(await of(tenant)).toMatchObject({ outstanding: { count: 1, cents: -30 } })
		expect((await summary(tenant)).map(({ currency }) => currency)).toEqual(['EUR', 'JPY', 'USD'])
		await tenant.ask('DELETE', `/api/invoices/${id}`)
		expect(await of(tenant, 'USD')).toBeUndefined()
	})

	it('is what is due of each, whatever its status says', async () => {
		server.clock.now = march
		const tenant = await server.newTenant()
		await create(tenant, { totalCents: 0, dueDate: '2026-02-01' })
		const id = await create(tenant, { dueDate: '2026-02-01' })
		for (const body of [{ status: 'paid' }, { totalCents: 150 }]) await patch(tenant, id, body)
		const owed = { count: 1, cents: 50 }
		expect(await of(tenant)).toMatchObject({ outstanding: owed, overdue: owed })
		const found = async (query: string) => (await tenant.ask('GET', `/api/invoices?${query}`)).body.data
		for (const query of ['isOutstanding=true', 'isOverdue=true'])
			expect(await found(query)).toEqual([expect.objectContaining({ id, status: 'paid', amountDueCents: 50, isOverdue: true })])
		await pay(tenant, { invoiceId: id, amountCents: 50 })
		expect(await of(tenant)).toMatchObject({ outstanding: { count: 0, cents: 0 }, overdue: { count: 0, cents: 0 } })
	})

	it('is overdue by the day in the time zone of the organization, as it is now', async () => {
		server.clock.now = Date.parse('2026-03-01T03:00:00Z')
		const tenant = await server.newTenant({ timeZone: 'America/New_York' })
		await create(tenant, { dueDate: '2026-02-28', totalCents: 1 })
		await create(tenant, { dueDate: '2026-02-28T04:59:59.999Z', totalCents: 20 })
		await create(tenant, { dueDate: '2026-02-28T05:00:00Z', totalCents: 300 })
		await create(tenant, { dueDate: '2025-02-28', totalCents: 4_000 })
		await create(tenant, { totalCents: 50_000 })
		// It is still the 28th in New York.
		expect(await of(tenant)).toMatchObject({ overdue: { count: 2, cents: 4_020 }, outstanding: { count: 5, cents: 54_321 } })
		await tenant.ask('PATCH', '/api/organization', { body: { timeZone: 'UTC' } })
		expect((await of(tenant))?.overdue).toEqual({ count: 4, cents: 4_321 })
	})
})

describe('what was paid', () => {
	it('is of the month in which it was paid there, until it is reversed', async () => {
		server.clock.now = march
		const tenant = await server.newTenant({ timeZone: 'America/New_York' })
		await pay(tenant, { amountCents: 1, paidAt: '2026-02-28' })
		await pay(tenant, { amountCents: 20, paidAt: '2026-03-01' })
		await pay(tenant, { amountCents: 300, paidAt: '2026-03-01T04:59:59Z' })
		const last = await pay(tenant, { amountCents: 4_000, paidAt: '2026-03-01T05:00:00Z' })
		await pay(tenant, { amountCents: 50_000, paidAt: '2025-04-01T04:00:00Z' })
		await pay(tenant, { amountCents: 600_000, paidAt: '2025-04-01T03:59:59Z' })
		const found = await of(tenant)
		const months = ['2025-04', '2026-02', '2026-03'].map((month) => paidIn(found, month))
		expect([found?.paidByMonth.length, found?.paidThisMonthCents, ...months]).toEqual([12, 4_020, 50_000, 301, 4_020])
		await tenant.ask('POST', `/api/payments/${last}/reverse`)
		expect((await of(tenant))?.paidThisMonthCents).toBe(20)
	})

	it('begins with the quarter of an hour with which days begin there', async () => {
		server.clock.now = march
		const tenant = await server.newTenant({ timeZone: 'Asia/Kathmandu' })
		const [last, first] = ['2026-02-28T18:14:59.999Z', '2026-02-28T18:15:00Z']
		for (const [amountCents, paidAt] of [[1, last] as const, [20, first] as const]) await pay(tenant, { amountCents, paidAt })
		for (const [totalCents, dueDate] of [[300, last] as const, [4_000, first] as const])
			await create(tenant, { totalCents, dueDate })
		const found = await of(tenant)
		expect([paidIn(found, '2026-02'), paidIn(found, '2026-03'), found?.overdue.cents]).toEqual([1, 20, 300])
	})

	it('has what a caller marked as paid, by its date, and no more once the status is taken back', async () => {
		server.clock.now = march
		const tenant = await server.newTenant()
		const id = await create(tenant, {})
		await patch(tenant, id, { status: 'paid', paidDate: '2026-01-31' })
		expect([paidIn(await of(tenant), '2026-01'), (await of(tenant))?.outstanding.count]).toEqual([100, 0])
		await patch(tenant, id, { paidDate: '2026-02-01' })
		expect([paidIn(await of(tenant), '2026-01'), paidIn(await of(tenant), '2026-02')]).toEqual([0, 100])
		await patch(tenant, id, { status: 'sent' })
		expect([paidIn(await of(tenant), '2026-02'), (await of(tenant))?.outstanding.count]).toEqual([0, 1])
	})
})

it('needs the scopes of both kinds of record', async () => {
	const { key } = await server.newKey(['invoices:read'])
	expect((await server.ask('GET', '/api/reports/summary', { key })).status).toBe(403)
	const both = await server.newKey(['invoices:read', 'payments:read'])
	expect((await server.ask('GET', '/api/reports/summary', { key: both.key })).status).toBe(200)
})

it('equals what plain JavaScript makes of all invoices and payments, whatever happened to them', async () => {
	const zones = fc.constantFrom('UTC', 'Pacific/Auckland', 'Pacific/Honolulu', 'Asia/Kathmandu', 'America/New_York')
	await fc.assert(
		fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 16 }), zones, async (steps, timeZone) => {
			server.clock.now = Date.UTC(2026, 2, 1, 3)
			const tenant = await server.newTenant({ timeZone })
			const ids: string[] = []
			for (const totalCents of [500, 300, 0])
				ids.push((await tenant.ask('POST', '/api/invoices', { body: { totalCents, status: 'sent' } })).body.id)
			for (const each of steps) {
				server.clock.now += 1
				await take(server, tenant, ids, each)
			}
			expect(await summary(tenant)).toEqual(await computed(tenant, timeZone))
		}),
		{ numRuns: 25 },
	)
}, 120_000)

it('follows many writers at once, and what is rolled back is not counted', async () => {
	server.clock.now = march
	const tenant = await server.newTenant()
	const ids = await Promise.all(Array.from({ length: 24 }, (_, n) => create(tenant, { dueDate: march - (n % 3) * dayMs })))
	await Promise.all(
		ids.map((id, n) => (n % 2 ? pay(tenant, { invoiceId: id, amountCents: 30 }) : patch(tenant, id, { totalCents: 7 }))),
	)
	await Promise.all(ids.slice(0, 6).map((id) => tenant.ask('DELETE', `/api/invoices/${id}`)))
	expect(await summary(tenant)).toEqual(await computed(tenant, 'UTC'))
	const before = await summary(tenant)
	const failed = server.db.transaction(async (tx) => {
		await createInvoice(tenant.writing(tx), { status: 'sent', totalCents: 1, currency: 'EUR' })
		throw new Error('undone')
	})
	await expect(failed).rejects.toThrow('undone')
	expect(await summary(tenant)).toEqual(before)
})

it('follows rows that are written without the server', async () => {
	server.clock.now = march
	const tenant = await server.newTenant()
	const [id, other] = [await create(tenant, { dueDate: '2026-02-01' }), await create(tenant, { dueDate: march - dayMs })]
	await ask(`update invoices set "dueDate" = null, "totalCents" = 60 where id = '${id}'`)
	expect(await summary(tenant)).toEqual(await computed(tenant, 'UTC'))
	await ask(`delete from invoices where id = '${other}'`)
	expect(await of(tenant)).toMatchObject({ outstanding: { count: 1, cents: 60 }, overdue: { count: 0, cents: 0 } })
})
