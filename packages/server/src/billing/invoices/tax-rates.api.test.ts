// Lines that name a saved tax rate.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { invoiceTime, stateOf, work } from '../../../test/time.ts'
import type { LineItemInput, TaxRateCreate } from '../../generated/contract.ts'

let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	server = await startTestServer()
})
beforeEach(async () => {
	tenant = await server.newTenant()
})
afterAll(() => server.close())

const newRate = async (rate: Partial<TaxRateCreate> = {}, { ask }: Tenant = tenant): Promise<string> =>
	(await ask('POST', '/api/tax-rates', { body: { name: 'VAT', percent: '19', ...rate } })).body.id
const archive = (id: string) => tenant.ask('DELETE', `/api/tax-rates/${id}`)
const post = (...lineItems: LineItemInput[]) => tenant.ask('POST', '/api/invoices', { body: { lineItems, taxRate: 50 } })
const patch = (id: string, ...lineItems: LineItemInput[]) => tenant.ask('PATCH', `/api/invoices/${id}`, { body: { lineItems } })
const read = async (id: string) => (await tenant.ask('GET', `/api/invoices/${id}`)).body.data
const made = async (...lineItems: LineItemInput[]) => read((await post(...lineItems)).body.id)
const changed = async (id: string, ...lineItems: LineItemInput[]) => {
	expect((await patch(id, ...lineItems)).body).toEqual({ ok: true })
	return read(id)
}
/** Whether invoices use the rate: its percentage cannot change then. */
const isUsed = async (id: string) =>
	(await tenant.ask('PATCH', `/api/tax-rates/${id}`, { body: { percent: '18' } })).status === 409

const vat = { label: 'VAT', percent: '19', inclusive: false }
const own = { label: 'Own', percent: '7', inclusive: false }

describe('a line with a saved tax rate', () => {
	it('bears that tax instead of the invoice’s, and keeps it when the rate is renamed or archived', async () => {
		const taxRateId = await newRate()
		const { id, ...invoice } = await made({ unitPriceCents: 1000, taxRateId }, { unitPriceCents: 1000 })
		expect(invoice).toMatchObject({ subtotalCents: 2000, taxCents: 690, totalCents: 2690 })
		expect(invoice.lineItems).toMatchObject([
			{ taxRateId, taxes: [vat], taxCents: 190 },
			{ taxRateId: null, taxes: null, taxCents: 500 },
		])
		await tenant.ask('PATCH', `/api/tax-rates/${taxRateId}`, { body: { name: 'Old', label: 'Old' } })
		await archive(taxRateId)
		const [line] = invoice.lineItems
		const [kept] = (await changed(id, { id: line.id, unitPriceCents: 2000, taxRateId }, {})).lineItems
		expect(kept).toMatchObject({ taxRateId, taxes: [vat], taxCents: 380 })
	})

	it('keeps its price when the rate is contained in it', async () => {
		const taxRateId = await newRate({ inclusive: true })
		const { lineItems } = await made({ unitPriceCents: 11_900, taxRateId })
		expect(lineItems).toMatchObject([{ amountCents: 11_900, netCents: 10_000, taxCents: 1_900, grossCents: 11_900 }])
	})

	it('changes to another rate, to taxes of its own, or to none', async () => {
		const [taxRateId, other] = [await newRate(), await newRate({ name: 'Reduced', percent: '7.5' })]
		const { id, lineItems } = await made({ unitPriceCents: 1000, taxRateId })
		const write = async (line: LineItemInput) => (await changed(id, { id: lineItems[0].id, ...line })).lineItems[0]
		const reduced = { label: 'Reduced', percent: '7.5', inclusive: false }
		expect(await write({ description: 'same' })).toMatchObject({ taxRateId, taxes: [vat] })
		expect(await write({ taxRateId: other })).toMatchObject({ taxRateId: other, taxes: [reduced], taxCents: 75 })
		expect(await write({ taxes: [own] })).toMatchObject({ taxRateId: null, taxes: [own], taxCents: 70 })
		expect(await write({ taxRateId: null })).toMatchObject({ taxRateId: null, taxes: [own] })
		expect(await write({ taxes: null, taxRateId: null })).toMatchObject({ taxRateId: null, taxes: null, taxCents: 500 })
		expect(await write({ taxes: null, taxRateId })).toMatchObject({ taxRateId, taxes: [vat] })
		expect(await write({ taxes: null })).toMatchObject({ taxRateId: null, taxes: null })
		expect(await write({ taxRateId })).toMatchObject({ taxRateId, taxes: [vat] })
		expect(await write({ taxRateId: null })).toMatchObject({ taxRateId: null, taxes: null, taxCents: 500 })
		expect(await write({ taxRateId })).toMatchObject({ taxRateId })
		expect(await write({ taxes: [] })).toMatchObject({ taxRateId: null, taxes: [], taxCents: 0 })
	})

	it('holds the rate: its percentage is fixed from then on, also by an update, but not by a preview or a refusal', async () => {
		const rates = [await newRate(), await newRate(), await newRate(), await newRate()] as const
		const [created, updated, previewed, refused] = rates
		const { id } = await made({ taxRateId: created })
		await changed(id, { taxRateId: updated })
		const preview = await tenant.ask('POST', '/api/invoices/preview', {
			body: { lineItems: [{ taxRateId: previewed, unitPriceCents: 100 }] },
		})
		expect(preview.body.data).toMatchObject({ taxCents: 19, lineItems: [{ taxRateId: previewed, taxes: [vat] }] })
		expect((await post({ taxRateId: refused }, { taxRateId: 'txr_unknown' })).status).toBe(422)
		expect([await isUsed(created), await isUsed(updated), await isUsed(previewed), await isUsed(refused)]).toEqual([
			true,
			true,
			false,
			false,
		])
	})
})

describe('a line is refused', () => {
	const expectRefusal = async (code: string, place: number, lineItems: LineItemInput[]) => {
		const { id } = await made({})
		const before = await stateOf(server, tenant)
		const pointer = `/lineItems/${place}/taxRateId`
		for (const answer of [await post(...lineItems), await patch(id, ...lineItems)]) {
			expect(answer).toMatchObject({ status: 422, body: { code, errors: [{ pointer, code }] } })
		}
		expect(await stateOf(server, tenant)).toEqual(before)
	}

	it('with a rate that is unknown or another organization’s', async () => {
		const good = { taxRateId: await newRate() }
		for (const taxRateId of ['txr_unknown', await newRate({}, await server.newTenant())]) {
			await expectRefusal('unknown_tax_rate', 1, [good, { taxRateId }])
		}
	})

	it('with a rate that is archived, unless the line has it already', async () => {
		const taxRateId = await newRate()
		const { id, lineItems } = await made({ taxRateId })
		await archive(taxRateId)
		await expectRefusal('tax_rate_archived', 1, [{}, { taxRateId }])
		const kept = { id: lineItems[0].id, taxRateId }
		const code = 'tax_rate_archived'
		expect(await patch(id, kept, { taxRateId })).toMatchObject({
			body: { code, errors: [{ pointer: '/lineItems/1/taxRateId' }] },
		})
		expect((await patch(id, kept)).status).toBe(200)
	})

	it('with a rate and taxes of its own', async () => {
		await expectRefusal('invalid_line_item', 0, [{ taxRateId: await newRate(), taxes: [own] }])
	})
})

describe('an invoice from time entries bears a saved rate on every line', () => {
	it.each([
		[false, { subtotalCents: 20_000, taxCents: 3_800, totalCents: 23_800 }],
		[true, { subtotalCents: 16_807, taxCents: 3_193, totalCents: 20_000 }],
	])('inclusive: %s', async (inclusive, totals) => {
		const dealId = await tenant.newDeal({ hourlyRateCents: 10_000 })
		const timeEntryIds = await work(server, tenant, dealId, { taskName: 'A' }, { taskName: 'B' })
		const taxRateId = await newRate({ inclusive, label: 'MwSt' })
		const invoice = await read((await invoiceTime(tenant, { dealId, timeEntryIds, taxRateId })).body.id)
		const tax = { label: 'MwSt', percent: '19', inclusive }
		expect(invoice).toMatchObject({ ...totals, taxRate: 0, taxBreakdown: [{ ...tax, taxableCents: totals.subtotalCents }] })
		for (const line of invoice.lineItems) expect(line).toMatchObject({ taxRateId, taxes: [tax] })
		expect(await isUsed(taxRateId)).toBe(true)
	})
})
