import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { query } from '../../platform/db/database.ts'
import cases from './pricing/money-cases.json' with { type: 'json' }

let server: TestServer
beforeAll(async () => {
	server = await startTestServer()
})
afterAll(() => server.close())

const post = (body: object, { ask }: Tenant = server) => ask('POST', '/api/invoices', { body })
const preview = (body: object, { ask }: Tenant = server) => ask('POST', '/api/invoices/preview', { body })
const patch = (id: string, body: object, { ask }: Tenant = server) => ask('PATCH', `/api/invoices/${id}`, { body })
const read = async (id: string, { ask }: Tenant = server) => (await ask('GET', `/api/invoices/${id}`)).body.data
/** Creates or changes an invoice and reads it. */
const made = async (body: object, tenant: Tenant = server) => read((await post(body, tenant)).body.id, tenant)
const changed = async (id: string, body: object) => {
	expect(await patch(id, body)).toMatchObject({ status: 200, body: { ok: true } })
	return read(id)
}
const lineOf = async (line: object, body: object = {}) => (await made({ ...body, lineItems: [line] })).lineItems[0]
const fields = (lines: Record<string, unknown>[], ...names: string[]) => lines.map((line) => names.map((name) => line[name]))
const refused = (code: string, pointer: string) => ({ status: 422, body: { code, errors: [{ pointer, code }] } })

describe('an invoice without line items', () => {
	it('keeps its amounts as they were sent, whatever they are', async () => {
		const amounts = { subtotalCents: 999_999_999_999, taxCents: -7, totalCents: -999_999_999_999, taxRate: 19 }
		for (const lineItems of [undefined, []])
			expect(await made({ ...amounts, lineItems })).toMatchObject({ ...amounts, lineItems: [] })
		const { id } = await made(amounts)
		expect(await changed(id, { taxRate: 7, totalCents: 1 })).toMatchObject({
			...amounts,
			taxRate: 7,
			totalCents: 1,
			taxBreakdown: [],
		})
	})
})

describe('an invoice with line items', () => {
	const lineItems = [
		{ description: 'Design', quantity: '1.5', unit: 'day', unitPriceCents: 90_000 },
		{ description: 'Books', unitPriceCents: 2_000, taxes: [{ label: 'Reduced', percent: '7' }] },
		{ description: 'Stamps', unitPriceCents: 155, taxes: [], metadata: { shelf: 'A 4' } },
	]
	const totals = { subtotalCents: 137_155, taxCents: 25_790, totalCents: 162_945 }

	it('has the amounts that its lines give', async () => {
		const invoice = await made({ taxRate: 19, taxLabel: 'VAT', lineItems })
		expect(invoice).toMatchObject(totals)
		expect(invoice.lineItems).toEqual([
			{
				id: expect.stringMatching(/^li_/),
				position: 1,
				kind: 'item',
				description: 'Design',
				quantity: '1.5',
				unit: 'day',
				unitPriceCents: 90_000,
				discountPercent: null,
				discountCents: null,
				taxes: null,
				taxRateId: null,
				durationSeconds: null,
				timeEntryIds: [],
				periodStart: null,
				periodEnd: null,
				amountCents: 135_000,
				netCents: 135_000,
				taxCents: 25_650,
				grossCents: 160_650,
				metadata: null,
			},
			expect.objectContaining({ position: 2, taxes: [{ label: 'Reduced', percent: '7', inclusive: false }], taxCents: 140 }),
			expect.objectContaining({ position: 3, quantity: '1', taxes: [], taxCents: 0, metadata: { shelf: 'A 4' } }),
		])
		expect(invoice.taxBreakdown).toEqual([
			{ label: 'VAT', percent: '19', inclusive: false, taxableCents: 135_000, taxCents: 25_650 },
			{ label: 'Reduced', percent: '7', inclusive: false, taxableCents: 2_000, taxCents: 140 },
		])
	})

	it('takes totals that are right and refuses others, saying what they should be and storing nothing', async () => {
		const tenant = await server.newTenant()
		const { id } = await made({ taxRate: 19, lineItems, ...totals }, tenant)
		for (const [field, expected] of Object.entries(totals)) {
			const body = { taxRate: 19, lineItems, ...totals, [field]: expected + 1 }
			for (const answer of [await post(body, tenant), await preview(body, tenant), await patch(id, { [field]: 0 }, tenant)]) {
				expect(answer).toMatchObject(refused('totals_mismatch', `/${field}`))
				expect(answer.body.errors).toHaveLength(1)
				expect(answer.body.errors[0].detail).toContain(String(expected))
			}
		}
		const { errors } = (await post({ lineItems, subtotalCents: 0, taxCents: 140, totalCents: 1 }, tenant)).body
		expect(errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(['/subtotalCents', '/totalCents'])
		expect((await tenant.ask('GET', '/api/invoices')).body.data).toMatchObject([{ id, version: 1 }])
	})

	it('applies its tax rate to the lines without taxes of their own, whenever it changes', async () => {
		const { id } = await made({ lineItems })
		expect(await changed(id, { taxRate: 10, taxLabel: 'GST' })).toMatchObject({ subtotalCents: 137_155, taxCents: 13_640 })
		const { taxBreakdown } = await changed(id, { taxLabel: 'MwSt' })
		expect(fields(taxBreakdown, 'label', 'percent', 'taxCents')).toEqual([
			['MwSt', '10', 13_500],
			['Reduced', '7', 140],
		])
		expect(await changed(id, { taxRate: 0 })).toMatchObject({ taxCents: 140, taxBreakdown: [{ label: 'Reduced' }] })
	})

	it('keeps the rounding that its organization had when it was created', async () => {
		const tenant = await server.newTenant({ taxRounding: 'line' })
		const body = { taxRate: 15, lineItems: [2506, 2561, 2563].map((unitPriceCents) => ({ unitPriceCents })) }
		const old = await made(body, tenant)
		expect((await tenant.ask('PATCH', '/api/organization', { body: { taxRounding: 'document' } })).status).toBe(200)
		expect(await made(body, tenant)).toMatchObject({ taxRounding: 'document', taxCents: 1145 })
		await patch(old.id, { taxRate: 0 }, tenant)
		await patch(old.id, { taxRate: 15 }, tenant)
		expect(await read(old.id, tenant)).toMatchObject({ taxRounding: 'line', taxCents: 1144 })
	})
})

describe('writing the lines again', () => {
	const abc = async () => {
		const lineItems = ['a', 'b', 'c'].map((description, index) => ({ description, unitPriceCents: 100 * (index + 1), unit: 'h' }))
		const invoice = await made({ lineItems })
		return { id: invoice.id as string, ids: invoice.lineItems.map((line: { id: string }) => line.id) as string[] }
	}

	it.each(['PATCH', 'PUT'])('keeps those that are named, adds those without id and removes the others: %s', async (method) => {
		const { id, ids } = await abc()
		const lineItems = [{ id: ids[2] }, { description: 'new' }, { id: ids[0], quantity: 2 }]
		await server.ask(method, `/api/invoices/${id}`, { body: { lineItems } })
		const invoice = await read(id)
		expect(fields(invoice.lineItems, 'position', 'description', 'netCents', 'unit')).toEqual([
			[1, 'c', 300, 'h'],
			[2, 'new', 0, null],
			[3, 'a', 200, 'h'],
		])
		expect(invoice.lineItems.map((line: { id: string }) => line.id)).toEqual([ids[2], expect.stringMatching(/^li_/), ids[0]])
		expect(ids).not.toContain(invoice.lineItems[1].id)
		expect(invoice.totalCents).toBe(500)
	})

	it('leaves them when there is no array', async () => {
		const { id, ids } = await abc()
		const { lineItems } = await changed(id, { notes: 'hello' })
		expect(lineItems.map((line: { id: string }) => line.id)).toEqual(ids)
	})

	it('leaves what is absent in a line that is kept, and null clears', async () => {
		const taxes = [{ label: 'VAT', percent: '19', inclusive: false }]
		const full = {
			description: 'a',
			quantity: '2',
			unit: 'h',
			unitPriceCents: 100,
			discountCents: 5,
			taxes,
			metadata: { a: 'b' },
		}
		const { id, lineItems } = await made({ lineItems: [full] })
		const line = { id: lineItems[0].id }
		expect((await changed(id, { lineItems: [{ ...line, description: 'b' }] })).lineItems).toMatchObject([
			{ ...full, description: 'b' },
		])
		const cleared = { unit: null, discountCents: null, taxes: null, metadata: null }
		const next = await changed(id, { lineItems: [{ ...line, ...cleared, discountPercent: 50 }] })
		expect(next.lineItems).toMatchObject([{ ...cleared, discountPercent: '50', quantity: '2', netCents: 100, taxCents: 0 }])
	})

	it('refuses an id that is not one of this invoice, or stands twice', async () => {
		const { id, ids } = await abc()
		const other = await abc()
		const places = [[ids[0], 'li_unknown'], [ids[0], other.ids[0]], [ids[1], ids[1]]] // biome-ignore format: a row a case
		for (const place of places) {
			const body = { lineItems: place.map((line) => ({ id: line })) }
			expect(await patch(id, body)).toMatchObject(refused('unknown_line_item', '/lineItems/1/id'))
		}
		for (const ask of [post, preview]) {
			expect(await ask({ lineItems: [{}, { id: ids[0] }] })).toMatchObject(refused('unknown_line_item', '/lineItems/1/id'))
		}
		expect(await read(id)).toMatchObject({ version: 1, totalCents: 600 })
	})

	it('with an empty array removes them all, and the amounts with them, unless others come along', async () => {
		const { id } = await made({ taxRate: 10, lineItems: [{ unitPriceCents: 100 }] })
		const none = { lineItems: [], taxBreakdown: [], subtotalCents: 0, taxCents: 0, totalCents: 0, taxRate: 10 }
		expect(await changed(id, { lineItems: [] })).toMatchObject(none)
		expect(await changed(id, { totalCents: 77 })).toMatchObject({ ...none, totalCents: 77 })
		const other = await made({ lineItems: [{ unitPriceCents: 100 }] })
		const sent = { subtotalCents: 5, totalCents: 6 }
		expect(await changed(other.id, { lineItems: [], ...sent })).toMatchObject({ ...none, taxRate: 0, ...sent })
	})
})

describe('a line', () => {
	it.each([
		['quantity', 2, '2'],
		['quantity', 0.5, '0.5'],
		['quantity', '007.500000', '7.5'],
		['quantity', '-0', '0'],
		['quantity', -0.000001, '-0.000001'],
		['unitPriceCents', '12.500', '12.5'],
		['unitPriceCents', '12.00', 12],
		['unitPriceCents', '-0.0', 0],
		['discountPercent', 12.5, '12.5'],
		['discountPercent', '05.0', '5'],
		['taxes', [{ label: 'T', percent: 9.975 }], [{ label: 'T', percent: '9.975', inclusive: false }]],
		['taxes', [{ label: 'T', percent: '019.0'.slice(1), inclusive: true }], [{ label: 'T', percent: '19', inclusive: true }]],
	])('has one spelling of %s: %j is %j', async (field, written, kept) => {
		expect((await lineOf({ [field]: written }))[field]).toEqual(kept)
	})

	it.each([
		[{ quantity: '3', unitPriceCents: '33.5' }, 101],
		[{ quantity: '0.333333', unitPriceCents: 300 }, 100],
		[{ quantity: '1000000', unitPriceCents: '0.000001' }, 1],
		[{ quantity: '-1', unitPriceCents: '100.5' }, -101],
		[{ quantity: 2, unitPriceCents: 999, discountPercent: '12.5' }, 1748],
		[{ quantity: 2, unitPriceCents: 999, discountCents: 98 }, 1900],
		[{ kind: 'discount', unitPriceCents: -250 }, -250],
		[{ unitPriceCents: 6422, quantity: 2.25, discountPercent: 100 }, 0],
		[{ unitPriceCents: 999_999_999_999 }, 999_999_999_999],
	])('%j amounts to %i', async (line, amount) => {
		expect(await lineOf(line)).toMatchObject({ amountCents: amount, netCents: amount, taxCents: 0, grossCents: amount })
	})

	it('whose price contains its tax keeps the gross', async () => {
		const line = await lineOf(
			{ unitPriceCents: 11_900, taxes: [{ label: 'VAT', percent: '19', inclusive: true }] },
			{ taxRate: 50 },
		)
		expect(line).toMatchObject({ amountCents: 11_900, netCents: 10_000, taxCents: 1_900, grossCents: 11_900 })
	})

	it.each(['document', 'line'] as const)(
		'shares a tax that its price contains with lines of other taxes: %s',
		async (taxRounding) => {
			const tenant = await server.newTenant({ taxRounding })
			const [a, b] = [{ label: 'A', percent: '10', inclusive: true }, { label: 'B', percent: '5', inclusive: true }] // biome-ignore format: one thing
			// 16 × 10 ÷ 110 = 1.45…, and 28 × 10 ÷ 115 = 2.43…: together 3.89, which would be 4 if it were rounded once.
			const lines = [{ unitPriceCents: 16, taxes: [a] }, { unitPriceCents: 28, taxes: [a, b] }] // biome-ignore format: one thing
			for (const lineItems of [lines, lines.toReversed()]) {
				const invoice = await made({ lineItems }, tenant)
				expect(invoice).toMatchObject({ subtotalCents: 40, taxCents: 4, totalCents: 44 })
				expect(invoice.taxBreakdown).toEqual(
					expect.arrayContaining([{ ...a, taxableCents: 40, taxCents: 3 }, { ...b, taxableCents: 25, taxCents: 1 }]), // biome-ignore format: one thing
				)
			}
			// Three times 16: the one rounding of 4.36… in a document, three of 1.45… on the lines.
			const alone = await made({ lineItems: Array(3).fill(lines[0]) }, tenant)
			expect(alone).toMatchObject({ totalCents: 48, taxCents: taxRounding === 'document' ? 4 : 3 })
		},
	)

	it('of kind text has words and no amount', async () => {
		const line = await lineOf({ kind: 'text', description: 'Phase 1\nin detail', quantity: 7 }, { taxRate: 19 })
		expect(line).toMatchObject({ description: 'Phase 1\nin detail', amountCents: 0, netCents: 0, taxCents: 0, grossCents: 0 })
		const priced = { lineItems: [{}, { kind: 'text', unitPriceCents: 1 }] }
		expect(await post(priced)).toMatchObject(refused('invalid_line_item', '/lineItems/1/unitPriceCents'))
	})

	it('that contradicts itself, or leaves the range, is refused with its place', async () => {
		const mixed = [true, false].map((inclusive) => ({ label: 'T', percent: '5', inclusive }))
		const max = { unitPriceCents: 999_999_999_999 }
		const taxed = (unitPriceCents: number) => ({ unitPriceCents, taxes: [{ label: 'T', percent: '100' }] })
		for (const [lineItems, code, pointer, sentence] of [
			[
				[{}, { taxes: mixed }],
				'mixed_tax_inclusion',
				'/lineItems/1',
				/^Line 2 has taxes .* give all of them the same `inclusive`\.$/,
			],
			[[{ discountPercent: 5, discountCents: 5 }], 'invalid_line_item', '/lineItems/0/discountCents', /, not both\.$/],
			[[{}, { ...max, quantity: 2 }], 'amount_out_of_range', '/lineItems/1', /^Line 2 comes to 1999999999998 .* charge less/],
			[[{ ...max, taxes: mixed.slice(1) }], 'amount_out_of_range', '/lineItems/0', /^Line 1 comes to 1049999999999 /],
			[[max, { unitPriceCents: 1 }], 'amount_out_of_range', '/lineItems', /^The subtotal comes to 1000000000000 /],
			[[...Array(3).fill(taxed(4e11)), { unitPriceCents: -9e11 }], 'amount_out_of_range', '/lineItems', /^The tax comes to 12/],
			[[taxed(3e11), taxed(3e11)], 'amount_out_of_range', '/lineItems', /^The total comes to 1200000000000 /],
		] as const) {
			for (const answer of [await post({ lineItems }), await preview({ lineItems })]) {
				expect(answer).toMatchObject(refused(code, pointer))
				expect(answer.body.detail).toMatch(sentence)
				expect(answer.body.detail).not.toContain(code)
			}
		}
	})
})

describe('worked cases through the API', () => {
	it.each(cases.invoices)('$name', async ({ taxRounding, inclusive, lines, expect: expected }) => {
		const tenant = await server.newTenant({ taxRounding: taxRounding === 'line' ? 'line' : 'document' })
		const lineItems = lines.map((line) => {
			const { percent, percents = [percent], ...rest } = line as { percent?: string; percents?: string[] }
			return { ...rest, taxes: percents.map((each) => ({ label: 'VAT', percent: each as string, inclusive })) }
		})
		expect(await made({ lineItems }, tenant)).toMatchObject({ ...expected, taxRounding })
		expect((await preview({ lineItems }, tenant)).body.data).toMatchObject({ ...expected, taxRounding })
	})
})

describe('any lines', () => {
	const text = (max: number, places: number) =>
		fc.tuple(fc.integer({ min: -max, max }), fc.nat(10 ** places - 1)).map(([a, b]) => `${a}.${String(b).padStart(places, '0')}`)
	const percent = fc.constantFrom('0', '5', '9.975', '10.0', '100', 8.1, 19)
	const taxes = fc
		.boolean()
		.chain((inclusive) =>
			fc.array(fc.record({ label: fc.constantFrom('A', 'B'), percent, inclusive: fc.constant(inclusive) }), { maxLength: 3 }),
		)
	const discount = fc.oneof(
		fc.constant({}),
		fc.record({ discountPercent: fc.constantFrom('0', 12.5, '33.3333', '100', null) }),
		fc.record({ discountCents: fc.constantFrom(-0.9, 0, 0.1, 0.9) }),
	)
	const item = fc.record({
		kind: fc.constantFrom('item', 'time', 'discount'),
		quantity: fc.oneof(text(500, 6), fc.integer({ min: -50, max: 50 }), fc.constantFrom(0.1, 1.005, '-0.000001')),
		unitPriceCents: fc.oneof(text(1000, 6), fc.integer({ min: -1e6, max: 1e6 })),
		taxes: fc.option(taxes),
	})
	/** The line with a discount of that part of it, and of kind `discount` only when it lowers the invoice. */
	const sensible = ([item, discount]: [Record<string, unknown>, { discountCents?: number; discountPercent?: unknown }]) => {
		const amount = Number(item.quantity) * Number(item.unitPriceCents)
		const { kind } = item
		const cents = discount.discountCents !== undefined && { discountCents: Math.trunc(amount * discount.discountCents) }
		return { ...item, ...discount, ...cents, kind: kind === 'discount' && amount > 0 ? 'item' : kind }
	}
	const line = fc.oneof({ weight: 9, arbitrary: fc.tuple(item, discount).map(sensible) }, { weight: 1, arbitrary: fc.constant({ kind: 'text', description: 'Words' }) }) // biome-ignore format: one thing
	const invoice = fc.record({
		taxRate: fc.constantFrom(0, 19, 9.975, 8.1),
		currency: fc.constantFrom('USD', 'JPY', 'KWD'),
		lineItems: fc.array(line, { minLength: 1, maxLength: 6 }),
	})
	const sum = (rows: Record<string, number>[], name: string) => rows.reduce((total, row) => total + (row[name] as number), 0)
	const withoutIds = ({ lineItems, ...rest }: { lineItems: { id: string }[] }) => ({
		...rest,
		lineItems: lineItems.map(({ id: _, ...each }) => each),
	})

	it.each(['document', 'line'] as const)(
		'preview, create and update give the same amounts, which add up: %s',
		async (taxRounding) => {
			const tenant = await server.newTenant({ taxRounding })
			const target = (await post({}, tenant)).body.id
			let count = 1
			const property = fc.asyncProperty(invoice, async (body) => {
				const previewed = (await preview(body, tenant)).body.data
				const created = await post(body, tenant)
				expect(created.body.invoiceNumber).toBe(`INV-${String(++count).padStart(4, '0')}`)
				const stored = await read(created.body.id, tenant)
				expect(withoutIds(stored)).toMatchObject(previewed)
				await patch(target, body, tenant)
				expect(withoutIds(await read(target, tenant))).toMatchObject(previewed)
				const { lineItems, taxBreakdown, subtotalCents, taxCents, totalCents } = stored
				expect(sum(lineItems, 'netCents')).toBe(subtotalCents)
				expect(sum(lineItems, 'taxCents')).toBe(taxCents)
				expect(sum(lineItems, 'grossCents')).toBe(totalCents)
				expect(sum(taxBreakdown, 'taxCents')).toBe(taxCents)
				expect(subtotalCents + taxCents).toBe(totalCents)
			})
			await fc.assert(property, { numRuns: 60 })
		},
	)

	it('previewed use no number and store nothing', async () => {
		const tenant = await server.newTenant()
		await fc.assert(
			fc.asyncProperty(invoice, async (body) => void (await preview(body, tenant))),
			{ numRuns: 10 },
		)
		await preview({ invoiceNumber: 'INV-0007', status: 'sent', totalCents: 5 }, tenant)
		expect((await tenant.ask('GET', '/api/invoices')).body.data).toEqual([])
		expect((await post({}, tenant)).body.invoiceNumber).toBe('INV-0001')
	})
})

describe('an invoice that was computed by an older rule', () => {
	/** An invoice with a cent more of tax than today's rule gives. */
	async function older(): Promise<string> {
		const { id } = await made({ taxRate: 19, lineItems: [{ unitPriceCents: 1_000 }] })
		await server.db.transaction((tx) => tx.run(addCent, { organizationId: server.organizationId, id }))
		return id
	}
	const addCent = query<{ organizationId: string; id: string }>((knex, key) =>
		knex('invoices').where(key).update({ taxCents: 191, totalCents: 1_191 }),
	)
	const issued = { subtotalCents: 1_000, taxCents: 191, totalCents: 1_191 }

	it.each([
		{ notes: 'Thank you.' },
		{ status: 'sent' },
		{ status: 'paid', paymentMethod: 'cash' },
		{ dueDate: '2026-12-31', totalCents: 1_191 },
	])('keeps its amounts when %j is written', async (change) => {
		expect(await changed(await older(), change)).toMatchObject(issued)
	})

	it('is computed again when its lines or taxes are written', async () => {
		const id = await older()
		expect(await changed(id, { taxRate: 7 })).toMatchObject({ subtotalCents: 1_000, taxCents: 70, totalCents: 1_070 })
		const [line] = (await read(await older())).lineItems
		expect(await changed(id, { lineItems: [{ unitPriceCents: line.unitPriceCents }] })).toMatchObject({ totalCents: 1_070 })
	})

	it('refuses a total that is not the one that was issued', async () => {
		expect(await patch(await older(), { notes: 'x', totalCents: 1_190 })).toMatchObject(refused('totals_mismatch', '/totalCents'))
	})
})
