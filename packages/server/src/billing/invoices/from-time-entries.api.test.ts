import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { eventsOf } from '../../../test/events.ts'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { invoicesOf, invoiceTime, readEntry, stateOf, work } from '../../../test/time.ts'
import type { DealCreate, LineItem, TimeEntriesInvoice, TimeEntryCreate } from '../../generated/contract.ts'
import cases from './pricing/money-cases.json' with { type: 'json' }

let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	server = await startTestServer()
})
beforeEach(async () => {
	tenant = await server.newTenant()
})
afterAll(() => server.close())

const read = async (id: string) => (await tenant.ask('GET', `/api/invoices/${id}`)).body.data
const newDeal = (deal: Partial<DealCreate> = {}) => tenant.newDeal({ hourlyRateCents: 10_000, ...deal })
const worked = (dealId: string, ...entries: Partial<TimeEntryCreate>[]) => work(server, tenant, dealId, ...entries)

/** The invoice that a request makes. */
async function made(body: TimeEntriesInvoice) {
	const answer = await invoiceTime(tenant, body)
	expect(answer).toMatchObject({ status: 201, body: { id: expect.stringMatching(/^inv_/) } })
	return read(answer.body.id)
}

/** The invoice of these entries on a new deal. */
async function billed(
	entries: Partial<TimeEntryCreate>[],
	body: Partial<TimeEntriesInvoice> = {},
	deal: Partial<DealCreate> = {},
) {
	const dealId = await newDeal(deal)
	return made({ dealId, timeEntryIds: await worked(dealId, ...entries), ...body })
}

const brief = ({ lineItems }: { lineItems: LineItem[] }) =>
	lineItems.map(({ description, durationSeconds, unitPriceCents, amountCents }) => [
		description,
		durationSeconds,
		unitPriceCents,
		amountCents,
	])

const mixed = [
	{ taskName: 'Build', deliverableName: 'Shop', durationSeconds: 1800 },
	{ taskName: 'Design', deliverableName: 'Shop', durationSeconds: 3600 },
	{ taskName: 'Build', deliverableName: 'Blog', durationSeconds: 901 },
	{ taskName: 'Build', deliverableName: 'Shop', durationSeconds: 1800, hourlyRateCents: 20_000 },
	{ durationSeconds: 3600 },
]

describe('time becomes lines', () => {
	it.each([undefined, 'task'] as const)('of a task each: groupBy %s', async (groupBy) => {
		expect(brief(await billed(mixed, { groupBy }))).toEqual([
			['Build', 2701, 10_000, 7503],
			['Design', 3600, 10_000, 10_000],
			['Build', 1800, 20_000, 10_000],
			['Time', 3600, 10_000, 10_000],
		])
	})

	it('of a deliverable each, or of one for each rate', async () => {
		expect(brief(await billed(mixed, { groupBy: 'deliverable' }))).toEqual([
			['Shop', 5400, 10_000, 15_000],
			['Blog', 901, 10_000, 2503],
			['Shop', 1800, 20_000, 10_000],
			['Time', 3600, 10_000, 10_000],
		])
		expect(brief(await billed(mixed, { groupBy: 'all' }))).toEqual([
			['Time', 9901, 10_000, 27_503],
			['Time', 1800, 20_000, 10_000],
		])
	})

	it('whole, and puts the entries on the invoice', async () => {
		const dealId = await newDeal()
		const ids = await worked(dealId, { taskName: 'Build', durationSeconds: 1 }, { taskName: 'Build', durationSeconds: 5400 })
		const invoice = await made({ dealId, timeEntryIds: ids.toReversed() })
		const amounts = { amountCents: 15_003, netCents: 15_003, taxCents: 0, grossCents: 15_003 }
		expect(invoice).toMatchObject({ status: 'draft', subtotalCents: 15_003, taxCents: 0, totalCents: 15_003, taxBreakdown: [] })
		expect(invoice.lineItems).toEqual([
			{
				id: expect.stringMatching(/^li_/),
				position: 1,
				kind: 'time',
				description: 'Build',
				quantity: '1.500278',
				unit: 'h',
				unitPriceCents: 10_000,
				discountPercent: null,
				discountCents: null,
				taxes: null,
				taxRateId: null,
				durationSeconds: 5401,
				timeEntryIds: ids,
				periodStart: null,
				periodEnd: null,
				...amounts,
				metadata: null,
			},
		])
		for (const id of ids)
			expect(await readEntry(tenant, id)).toMatchObject({ status: 'invoiced', invoiceId: invoice.id, version: 2 })
	})

	// Charged as 0.000278 hours, it would amount to 1001.
	const second = {
		name: 'a second, which is no decimal part of an hour',
		rateCents: 3_600_000,
		seconds: [1],
		expectAmountCents: 1000,
	}

	it.each([...cases.timeEntries, { ...second, groupBy: 'all' }])(
		'$name',
		async ({ rateCents, seconds, groupBy, expectAmountCents }) => {
			const entries = seconds.map((durationSeconds) => ({ durationSeconds, hourlyRateCents: rateCents }))
			const invoice = await billed(entries, { groupBy: groupBy as 'all' })
			expect(invoice).toMatchObject({ totalCents: expectAmountCents, lineItems: [{ amountCents: expectAmountCents }] })
		},
	)

	it('at the rate of the entry, else of the deal, else of the organization', async () => {
		tenant = await server.newTenant({ hourlyRateCents: 300 })
		const prices = async (...of: Parameters<typeof billed>) => brief(await billed(...of)).map(([, , price]) => price)
		const [own, none] = [{ hourlyRateCents: 100 }, {}]
		expect(await prices([own, none], {}, { hourlyRateCents: 200 })).toEqual([100, 200])
		expect(await prices([own, none], {}, { hourlyRateCents: null })).toEqual([100, 300])
		expect(await prices([{ hourlyRateCents: 0 }], {}, { hourlyRateCents: 0 })).toEqual([0])
	})

	it('once, however often its entry stands in the request', async () => {
		const dealId = await newDeal()
		const [id = ''] = await worked(dealId, {})
		expect(await made({ dealId, timeEntryIds: [id, id, id] })).toMatchObject({
			totalCents: 10_000,
			lineItems: [{ timeEntryIds: [id] }],
		})
	})

	it('of a thousand entries, and not of more', async () => {
		const dealId = await newDeal()
		const ids = await worked(dealId, ...Array.from({ length: 1_001 }, () => ({ durationSeconds: 36 })))
		const tooMany = await invoiceTime(tenant, { dealId, timeEntryIds: ids })
		expect(tooMany).toMatchObject({ status: 400, body: { errors: [{ pointer: '/timeEntryIds' }] } })
		const invoice = await made({ dealId, timeEntryIds: ids.slice(1) })
		expect(invoice).toMatchObject({ totalCents: 100_000, lineItems: [{ timeEntryIds: ids.slice(1) }] })
		expect(await invoicesOf(tenant, [ids[0], ids[1], ids[1_000]] as string[])).toEqual([null, invoice.id, invoice.id])
	})
})

describe('the invoice', () => {
	it('takes company and currency from the deal, the rest from the request', async () => {
		const companyId = (await tenant.ask('POST', '/api/companies', { body: { name: 'Acme' } })).body.id
		const written = { notes: 'Thanks\nagain', paymentTerms: '14 days', showRateBreakdown: true, includeTimesheet: true }
		const invoice = await billed([{}], { ...written, dueDate: '2026-04-30' }, { companyId, currency: 'JPY' })
		const dueDate = Date.UTC(2026, 3, 30)
		expect(invoice).toMatchObject({ ...written, dueDate, companyId, currency: 'JPY', invoiceNumber: 'INV-0001', version: 1 })
	})

	it('has the defaults of any other when the request says nothing, and null leaves it empty', async () => {
		tenant = await server.newTenant({ paymentTerms: '30 days', taxRounding: 'line' })
		const defaults = {
			notes: null,
			dueDate: null,
			showRateBreakdown: false,
			includeTimesheet: false,
			taxRate: 0,
			companyId: null,
		}
		expect(await billed([{}])).toMatchObject({ ...defaults, paymentTerms: '30 days', taxRounding: 'line' })
		const empty = { notes: null, dueDate: null, paymentTerms: null, taxRateId: null }
		expect(await billed([{}], empty)).toMatchObject({ ...defaults, paymentTerms: null })
	})

	it('says where it is, and of what version', async () => {
		const dealId = await newDeal()
		const { headers, body } = await invoiceTime(tenant, { dealId, timeEntryIds: await worked(dealId, {}) })
		expect(body).toEqual({ id: expect.any(String), invoiceNumber: 'INV-0001' })
		expect([headers.get('location'), headers.get('etag')]).toEqual([`/api/invoices/${body.id}`, '"1"'])
	})

	it('keeps billing a company that was deleted since the deal was made', async () => {
		const companyId = (await tenant.ask('POST', '/api/companies', { body: { name: 'Acme' } })).body.id
		const dealId = await newDeal({ companyId })
		await tenant.ask('DELETE', `/api/companies/${companyId}`)
		expect(await made({ dealId, timeEntryIds: await worked(dealId, {}) })).toMatchObject({ companyId })
	})
})

describe('a refusal', () => {
	type Mistake = readonly [pointer: string, code: string, named?: string]

	/** Expects the request to be rejected with these mistakes, and entries, numbers, events and rates to stay as they are. */
	async function refused(body: Partial<TimeEntriesInvoice>, status: number, code: string, ...mistakes: Mistake[]): Promise<void> {
		const before = await stateOf(server, tenant)
		const answer = await invoiceTime(tenant, body)
		expect(answer).toMatchObject({ status, body: { code } })
		expect(answer.body.errors.map((error: { pointer: string; code: string }) => [error.pointer, error.code])).toEqual(
			mistakes.map(([pointer, each]) => [pointer, each]),
		)
		for (const [, , named] of mistakes) if (named) expect(answer.body.detail).toContain(named)
		expect(await stateOf(server, tenant)).toEqual(before)
	}

	it('names every entry that does not fit, where it stands and why', async () => {
		const [dealId, otherDeal] = [await newDeal(), await newDeal()]
		const other = await server.newTenant()
		const foreignDeal = await other.newDeal()
		const [good = '', running = '', unbillable = ''] = await worked(dealId, {}, { durationSeconds: null }, { billable: false })
		const [elsewhere = ''] = await worked(otherDeal, {})
		const [foreign = ''] = await work(server, other, foreignDeal, {})
		const named: [string, string][] = [
			[running, 'running'],
			[unbillable, 'not_billable'],
			[elsewhere, 'other_deal'],
			[foreign, 'unknown'],
			['te_unknown', 'unknown'],
		]
		for (const [id, code] of named) {
			await refused({ dealId, timeEntryIds: [good, id] }, 422, 'invalid_time_entries', ['/timeEntryIds/1', code, id])
		}
		// A repeated id is ignored, but it counts in the positions of the ids after it.
		const all = named.map(([id, code], index): Mistake => [`/timeEntryIds/${index + 2}`, code, id])
		const timeEntryIds = [good, good, ...named.map(([id]) => id)]
		await refused({ dealId, timeEntryIds }, 422, 'invalid_time_entries', ...all)
		expect(await made({ dealId, timeEntryIds: [good] })).toMatchObject({ invoiceNumber: 'INV-0001' })
	})

	it('names every entry that is on an invoice, and the invoice', async () => {
		const dealId = await newDeal()
		const ids = await worked(dealId, {}, {}, {})
		const [first = '', second = '', third = ''] = ids
		const one = await made({ dealId, timeEntryIds: [first] })
		const two = await made({ dealId, timeEntryIds: [third] })
		const code = 'time_entry_already_invoiced'
		await refused({ dealId, timeEntryIds: ids }, 409, code, ['/timeEntryIds/0', code, one.id], ['/timeEntryIds/2', code, two.id])
		expect(await invoicesOf(tenant, [second])).toEqual([null])
	})

	it('names the entries that nobody gave a rate', async () => {
		const dealId = await newDeal({ hourlyRateCents: null })
		const timeEntryIds = await worked(dealId, {}, { hourlyRateCents: 1 }, {})
		const named = (code: string) =>
			[0, 2].map((place): Mistake => [`/timeEntryIds/${place}`, code, timeEntryIds[place] as string])
		await refused({ dealId, timeEntryIds }, 422, 'rate_missing', ...named('rate_missing'))
		expect(await tenant.ask('PATCH', '/api/organization', { body: { hourlyRateCents: 5 } })).toMatchObject({ status: 200 })
		await tenant.ask('PATCH', `/api/deals/${dealId}`, { body: { currency: 'EUR' } })
		await refused({ dealId, timeEntryIds }, 422, 'currency_mismatch', ...named('currency_mismatch'))
		await tenant.ask('PATCH', `/api/deals/${dealId}`, { body: { hourlyRateCents: 7 } })
		expect(brief(await made({ dealId, timeEntryIds })).map(([, , price]) => price)).toEqual([7, 1])
	})

	it('of a deal that is unknown, deleted or another organization’s', async () => {
		const dealId = await newDeal()
		const timeEntryIds = await worked(dealId, {})
		const deleted = await newDeal()
		await tenant.ask('DELETE', `/api/deals/${deleted}`)
		for (const unknown of [deleted, 'dl_unknown', await (await server.newTenant()).newDeal()]) {
			await refused({ dealId: unknown, timeEntryIds }, 422, 'unknown_deal', ['/dealId', 'unknown_deal', unknown])
		}
	})

	it('of a tax rate that is unknown, archived or another organization’s', async () => {
		const dealId = await newDeal()
		const timeEntryIds = await worked(dealId, {})
		const newRate = async ({ ask }: Tenant) =>
			(await ask('POST', '/api/tax-rates', { body: { name: 'VAT', percent: '19' } })).body.id
		const archived = await newRate(tenant)
		await tenant.ask('DELETE', `/api/tax-rates/${archived}`)
		const at = { dealId, timeEntryIds }
		await refused({ ...at, taxRateId: archived }, 422, 'tax_rate_archived', ['/taxRateId', 'tax_rate_archived', archived])
		for (const taxRateId of ['txr_unknown', await newRate(await server.newTenant())]) {
			await refused({ ...at, taxRateId }, 422, 'unknown_tax_rate', ['/taxRateId', 'unknown_tax_rate', taxRateId])
		}
	})

	it('of an amount that no invoice can have, in the words of the request', async () => {
		const dealId = await newDeal({ hourlyRateCents: 999_999_999_999 })
		const timeEntryIds = await worked(dealId, { durationSeconds: 3601 })
		await refused({ dealId, timeEntryIds }, 422, 'amount_out_of_range', ['/timeEntryIds', 'amount_out_of_range'])
	})

	it.each([
		['no deal', { dealId: undefined }, '/dealId'],
		['no entries', { timeEntryIds: undefined }, '/timeEntryIds'],
		['an empty list', { timeEntryIds: [] }, '/timeEntryIds'],
		['an id that is none', { timeEntryIds: [7] }, '/timeEntryIds/0'],
		['an unknown grouping', { groupBy: 'day' }, '/groupBy'],
		['a field of other invoices', { status: 'sent' }, '/status'],
		['no date', { dueDate: '2026-02-30' }, '/dueDate'],
	])('of %s', async (_, part, pointer) => {
		const body = { dealId: 'dl_1', timeEntryIds: ['te_1'], ...part } as unknown as TimeEntriesInvoice
		const answer = await invoiceTime(tenant, body)
		expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request', errors: [{ pointer }] } })
		expect(await eventsOf(server, tenant)).toEqual([])
	})
})

it('a preview is the invoice that would be made, and leaves no trace', async () => {
	const dealId = await newDeal({ currency: 'EUR' })
	const body = { dealId, timeEntryIds: await worked(dealId, { durationSeconds: 5400, taskName: 'Design' }) }
	const before = await stateOf(server, tenant)
	const preview = () => tenant.ask('POST', '/api/invoices/from-time-entries/preview', { body })
	const { status, body: shown } = await preview()
	expect(status).toBe(200)
	expect(await stateOf(server, tenant)).toEqual(before)
	const { lineItems, totalCents, currency } = await made(body)
	expect(shown.data).toMatchObject({ totalCents, currency, lineItems: lineItems.map(({ id, ...line }: LineItem) => line) })
	expect(await preview()).toMatchObject({ status: 409, body: { code: 'time_entry_already_invoiced' } })
})
