import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LineTax } from '../../../generated/contract.ts'
import { formatDecimal, parseDecimal, roundedDivide } from '../../../platform/base/decimal.ts'
import cases from './money-cases.json' with { type: 'json' }
import { computeInvoice, type InvoiceTotals, type PricedLine, type PricingInput, TotalsError } from './totals.ts'

const item = (fields: Partial<PricedLine> = {}): PricedLine => ({
	kind: 'item',
	quantity: '1',
	unitPriceCents: 0,
	taxes: [],
	...fields,
})
const tax = (percent: string, inclusive = false, label = 'VAT'): LineTax => ({ label, percent, inclusive })
const one = (line: Partial<PricedLine>) => computeInvoice({ taxRounding: 'document', lines: [item(line)] })
const add = (values: number[]) => values.reduce((total, value) => total + value, 0)

// The oracle shares no code with the rule: it uses exact fractions, and a definition of rounding instead of a procedure.
type Fraction = [numerator: bigint, denominator: bigint]
const abs = (n: bigint) => (n < 0n ? -n : n)
function fraction(text: string): Fraction {
	const [whole = '', places = ''] = text.split('.')
	return [BigInt(whole + places), 10n ** BigInt(places.length)]
}
function isHalfAwayFromZero(cents: bigint, [n, d]: Fraction): boolean {
	const distance = abs(n - cents * d)
	return 2n * distance < d || (2n * distance === d && abs(cents) * d > abs(n))
}
const lessThanACent = (cents: number, [n, d]: Fraction) => abs(BigInt(cents) * d - n) < d

// Few distinct rates and small amounts, so that shared groups, ties and sums of zero happen often.
const decimal = (max: number, places: number) =>
	fc
		.tuple(fc.integer({ min: -max, max }), fc.integer({ min: 0, max: 10 ** places - 1 }), fc.nat(places))
		.map(([whole, part, shown]) => `${whole}.${String(part).padStart(places, '0').slice(0, shown)}`.replace(/\.$/, ''))
const quantity = fc.oneof(fc.constantFrom('1', '-1', '0.5', '0', '1.000000', '-0.000001'), decimal(500, 6))
const price = fc.oneof(fc.integer({ min: -20, max: 20 }), fc.integer({ min: -1e6, max: 1e6 }), decimal(1000, 6))
const taxes = fc.boolean().chain((inclusive) =>
	fc.array(
		fc
			.constantFrom('5', '10', '10.0', '9.975', '0', '100')
			.chain((p) => fc.constantFrom(tax(p, inclusive, 'A'), tax(p, inclusive, 'B'))),
		{ maxLength: 3 },
	),
)
const anyLine: fc.Arbitrary<PricedLine> = fc.record({
	kind: fc.constantFrom('item', 'item', 'item', 'time', 'discount', 'text'),
	quantity,
	unitPriceCents: price,
	discountPercent: fc.constantFrom(undefined, null, '0', '12.5', '33.3333', '100'),
	discountCents: fc.constantFrom(undefined, null, 0, 7, -1000),
	taxes,
})
const taxRounding = fc.constantFrom('document' as const, 'line' as const)
const anyInvoice: fc.Arbitrary<PricingInput> = fc.record({ taxRounding, lines: fc.array(anyLine, { maxLength: 8 }) })
const check = (property: (invoice: PricingInput) => void) => fc.assert(fc.property(anyInvoice, property), { numRuns: 2000 })

const negated = (text: string) => (text.startsWith('-') ? text.slice(1) : `-${text}`)
const mirrored = (line: PricedLine): PricedLine => ({
	...line,
	quantity: negated(line.quantity),
	discountCents: line.discountCents && -line.discountCents,
})
const minus = (value: unknown): unknown => {
	if (typeof value === 'number') return 0 - value
	if (Array.isArray(value)) return value.map(minus)
	if (value === null || typeof value !== 'object') return value
	return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, minus(inner)]))
}
const refusal = (run: () => unknown) => {
	try {
		run()
	} catch (error) {
		if (error instanceof TotalsError) return [error.code, error.line]
		throw error
	}
	return 'accepted'
}

describe('worked cases', () => {
	it.each(cases.invoices)('$name', ({ taxRounding, inclusive, lines, expect: expected }) => {
		const totals = computeInvoice({
			taxRounding: taxRounding === 'line' ? 'line' : 'document',
			lines: lines.map((line) => {
				const percents = 'percents' in line ? line.percents : [line.percent]
				return item({ ...line, taxes: percents.map((percent) => tax(percent, inclusive)) })
			}),
		})
		expect(totals).toMatchObject(expected)
	})

	it.each(cases.timeEntries)('time: $name', ({ seconds, rateCents, expectAmountCents }) => {
		const line = item({ kind: 'time', durationSeconds: add(seconds), unitPriceCents: rateCents })
		expect(computeInvoice({ taxRounding: 'document', lines: [line] }).totalCents).toBe(expectAmountCents)
	})
})

describe('rounding', () => {
	it('a division goes to the nearest integer, and ties away from zero', () => {
		const big = fc.oneof(fc.bigInt({ min: -50n, max: 50n }), fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }))
		fc.assert(
			fc.property(
				big,
				big.filter((d) => d !== 0n),
				(n, d) => {
					const exact: Fraction = d < 0n ? [-n, -d] : [n, d]
					expect(isHalfAwayFromZero(roundedDivide(n, d), exact)).toBe(true)
				},
			),
		)
	})

	it('a line amount is its exact product less its discount, rounded once', () => {
		fc.assert(
			fc.property(
				anyLine.filter((line) => line.kind !== 'text'),
				(line) => {
					const [q, qd] = fraction(line.quantity.replace('-', ''))
					const [p, pd] = fraction(String(line.unitPriceCents).replace('-', ''))
					const [off, offd] = fraction(line.discountPercent ?? '0')
					const sign = line.quantity.startsWith('-') === String(line.unitPriceCents).startsWith('-') ? 1n : -1n
					const d = qd * pd * 100n * offd
					const n = sign * q * p * (100n * offd - off) - BigInt(line.discountCents ?? 0) * d
					expect(isHalfAwayFromZero(BigInt(one(line).lines[0]?.amountCents ?? NaN), [n, d])).toBe(true)
				},
			),
			{ numRuns: 2000 },
		)
	})

	it('prices below a cent and quantities of six places keep every digit until the end', () => {
		const amount = (line: Partial<PricedLine>) => one(line).lines[0]?.amountCents
		expect(amount({ quantity: '1000000', unitPriceCents: '0.000001' })).toBe(1)
		expect(amount({ quantity: '499999.999999', unitPriceCents: '0.000001' })).toBe(0)
		expect(amount({ quantity: '500000', unitPriceCents: '-0.000001' })).toBe(-1)
		expect(amount({ quantity: '0.333333', unitPriceCents: 300 })).toBe(100)
		expect(amount({ quantity: '999999.999999', unitPriceCents: '999999.999999' })).toBe(999_999_999_998)
		expect(amount({ quantity: '3', unitPriceCents: '33.5', discountPercent: '0.4976' })).toBe(100)
	})

	it('each tax of a document is its exact amount rounded once, whatever the number of lines', () => {
		fc.assert(
			fc.property(
				fc.array(price, { minLength: 1 }),
				fc.constantFrom('5', '9.975', '19'),
				fc.boolean(),
				(prices, p, inclusive) => {
					const lines = prices.map((unitPriceCents) => item({ unitPriceCents, taxes: [tax(p, inclusive)] }))
					const totals = computeInvoice({ taxRounding: 'document', lines })
					const [rate, scale] = fraction(p)
					const base = BigInt(add(totals.lines.map((line) => line.amountCents)))
					const divisor = 100n * scale + (inclusive ? rate : 0n)
					expect(isHalfAwayFromZero(BigInt(totals.taxCents), [base * rate, divisor])).toBe(true)
					for (const line of totals.lines) {
						expect(lessThanACent(line.taxCents, [BigInt(line.amountCents) * rate, divisor])).toBe(true)
					}
				},
			),
		)
	})
})

describe('sums', () => {
	it('lines, breakdown and totals all add up', () => {
		check((invoice) => {
			const totals = computeInvoice(invoice)
			expect(add(totals.lines.map((line) => line.netCents))).toBe(totals.subtotalCents)
			expect(add(totals.lines.map((line) => line.taxCents))).toBe(totals.taxCents)
			expect(add(totals.taxBreakdown.map((row) => row.taxCents))).toBe(totals.taxCents)
			expect(totals.subtotalCents + totals.taxCents).toBe(totals.totalCents)
			totals.lines.forEach((line, index) => {
				const inclusive = invoice.lines[index]?.taxes.some((each) => each.inclusive)
				expect(line.netCents + line.taxCents).toBe(line.grossCents)
				expect(inclusive ? line.grossCents : line.netCents).toBe(line.amountCents)
			})
		})
	})

	it('a row of the breakdown is taxable by the nets of the lines that carry its tax', () => {
		check((invoice) => {
			const totals = computeInvoice(invoice)
			for (const row of totals.taxBreakdown) {
				const same = (t: LineTax) =>
					t.label === row.label && Number(t.percent) === Number(row.percent) && t.inclusive === row.inclusive
				const carries = (index: number) => invoice.lines[index]?.kind !== 'text' && invoice.lines[index]?.taxes.some(same)
				expect(row.taxableCents).toBe(add(totals.lines.filter((_, index) => carries(index)).map((line) => line.netCents)))
			}
		})
	})

	it('the tax of a line is less than a cent per tax away from its exact share', () => {
		check((invoice) => {
			computeInvoice(invoice).lines.forEach((line, index) => {
				const own = invoice.lines[index]?.kind === 'text' ? [] : (invoice.lines[index]?.taxes ?? [])
				const rates = own.map(({ percent }) => BigInt(Math.round(Number(percent) * 1000)))
				const sum = rates.reduce((total, rate) => total + rate, 0n)
				const exact: Fraction = [BigInt(line.amountCents) * sum, 100_000n + (own[0]?.inclusive ? sum : 0n)]
				const off = abs(BigInt(line.taxCents) * exact[1] - exact[0])
				expect(own.length === 0 ? off === 0n : off < BigInt(own.length) * exact[1]).toBe(true)
			})
		})
	})

	it('with `line`, the tax of a line does not depend on the other lines', () => {
		check(({ lines }) => {
			const alone = lines.map((line) => computeInvoice({ taxRounding: 'line', lines: [line] }).lines[0])
			expect(computeInvoice({ taxRounding: 'line', lines }).lines).toEqual(alone)
		})
	})
})

describe('residual cents', () => {
	const taxesOf = (amounts: number[], percent: string) => {
		const lines = amounts.map((unitPriceCents) => item({ unitPriceCents, taxes: [tax(percent)] }))
		return computeInvoice({ taxRounding: 'document', lines }).lines.map((line) => line.taxCents)
	}

	it('go to the largest remainders, and among equals to the earlier line', () => {
		expect(taxesOf([14, 16, 18, 12], '10')).toEqual([1, 2, 2, 1])
		expect(taxesOf([15, 15, 15], '10')).toEqual([2, 2, 1])
		expect(taxesOf([-15, -15, -15], '10')).toEqual([-2, -2, -1])
		expect(taxesOf([5, -5], '10')).toEqual([1, -1])
		expect(taxesOf([-5, 5], '10')).toEqual([-1, 1])
	})

	it('go by position also where a line names the same inclusive taxes in another order', () => {
		const [a, b] = [tax('5', true, 'A'), tax('5', true, 'B')]
		for (const [first, second] of [
			[
				[a, b],
				[b, a],
			],
			[
				[b, a],
				[a, b],
			],
		]) {
			const lines = [item({ unitPriceCents: 11, taxes: first }), item({ unitPriceCents: 11, taxes: second })]
			expect(computeInvoice({ taxRounding: 'document', lines }).lines.map((line) => line.taxCents)).toEqual([2, 0])
		}
	})

	it('never pass over a larger remainder', () => {
		const remainders = (amounts: number[], given: 0 | 1) => {
			const cents = taxesOf(amounts, '7')
			return amounts.filter((a, i) => (cents[i] ?? 0) - Math.floor((a * 7) / 100) === given).map((a) => (a * 7) % 100)
		}
		fc.assert(
			fc.property(fc.array(fc.nat(5000), { minLength: 1 }), (amounts) => {
				expect(Math.min(...remainders(amounts, 1), 100)).toBeGreaterThanOrEqual(Math.max(...remainders(amounts, 0), 0))
			}),
		)
	})
})

describe('symmetry', () => {
	it('negating every line negates every output, line by line, and nothing is ever -0', () => {
		check((invoice) => {
			const credit = computeInvoice({ ...invoice, lines: invoice.lines.map(mirrored) })
			expect(credit).toStrictEqual(minus(computeInvoice(invoice)))
		})
	})

	it('the order of the lines changes neither the totals nor the breakdown', () => {
		const summary = ({ lines: _, taxBreakdown, ...totals }: InvoiceTotals) => [
			totals,
			taxBreakdown.map((row) => JSON.stringify(row)).sort(),
		]
		const shuffled = anyInvoice.chain((invoice) =>
			fc.tuple(fc.constant(invoice), fc.shuffledSubarray(invoice.lines, { minLength: invoice.lines.length })),
		)
		fc.assert(
			fc.property(shuffled, ([invoice, lines]) => {
				expect(summary(computeInvoice({ ...invoice, lines }))).toEqual(summary(computeInvoice(invoice)))
			}),
			{ numRuns: 5000 },
		)
	})

	it('lines that share one inclusive tax but not the other round it once and keep their breakdown in either order', () => {
		const [a, b, c] = [tax('5', true, 'A'), tax('5', true, 'B'), tax('5', true, 'C')]
		const lines = [item({ unitPriceCents: 11, taxes: [a, b] }), item({ unitPriceCents: 11, taxes: [b, c] })]
		for (const order of [lines, lines.toReversed()]) {
			const rows = computeInvoice({ taxRounding: 'document', lines: order }).taxBreakdown
			expect(Object.fromEntries(rows.map((row) => [row.label, [row.taxableCents, row.taxCents]]))).toEqual({
				A: [9, 1],
				B: [19, 1],
				C: [10, 1],
			})
		}
	})
})

describe('the breakdown', () => {
	it('shows one row per label, percentage and inclusion, however the percentage is spelled', () => {
		const lines = [
			item({ unitPriceCents: 1000, taxes: [tax('10.0')] }),
			item({ unitPriceCents: 500, taxes: [tax('010'), tax('5', false, 'City')] }),
			item({ unitPriceCents: 1100, taxes: [tax('10', true)] }),
			item({ unitPriceCents: 1150, taxes: [tax('10', true), tax('5', true, 'City')] }),
		]
		expect(computeInvoice({ taxRounding: 'document', lines }).taxBreakdown).toEqual([
			{ label: 'VAT', percent: '10', inclusive: false, taxableCents: 1500, taxCents: 150 },
			{ label: 'City', percent: '5', inclusive: false, taxableCents: 500, taxCents: 25 },
			{ label: 'VAT', percent: '10', inclusive: true, taxableCents: 2000, taxCents: 200 },
			{ label: 'City', percent: '5', inclusive: true, taxableCents: 1000, taxCents: 50 },
		])
	})

	it('leaves text lines out, whatever they carry', () => {
		const totals = one({ kind: 'text', quantity: '3', unitPriceCents: 900, taxes: [tax('10'), tax('10', true)] })
		const zeros = { amountCents: 0, netCents: 0, taxCents: 0, grossCents: 0 }
		expect(totals).toEqual({ lines: [zeros], subtotalCents: 0, taxCents: 0, totalCents: 0, taxBreakdown: [] })
	})

	it('of an invoice without lines is empty', () => {
		const nothing = { lines: [], subtotalCents: 0, taxCents: 0, totalCents: 0, taxBreakdown: [] }
		expect(computeInvoice({ taxRounding: 'document', lines: [] })).toEqual(nothing)
	})
})

describe('refusals', () => {
	const max = 999_999_999_999
	const invoice =
		(...lines: Partial<PricedLine>[]) =>
		() =>
			computeInvoice({ taxRounding: 'document', lines: lines.map(item) })

	it('the largest amount passes in both directions and one cent more does not', () => {
		for (const sign of ['', '-']) {
			expect(refusal(invoice({ unitPriceCents: max, quantity: `${sign}1` }))).toBe('accepted')
			expect(refusal(invoice({}, { unitPriceCents: max + 1, quantity: `${sign}1` }))).toEqual(['amount_out_of_range', 1])
			expect(refusal(invoice({ unitPriceCents: `${sign}${max}.4` }))).toBe('accepted')
			expect(refusal(invoice({ unitPriceCents: `${sign}${max}.5` }))).toEqual(['amount_out_of_range', 0])
		}
	})

	it('a gross that leaves the range names its line, a total names none', () => {
		expect(refusal(invoice({ unitPriceCents: max, taxes: [tax('0.0001')] }))).toEqual(['amount_out_of_range', 0])
		expect(refusal(invoice({ unitPriceCents: max, taxes: [tax('25', true)] }))).toBe('accepted')
		expect(refusal(invoice({ durationSeconds: 3600 * 2, unitPriceCents: max }))).toEqual(['amount_out_of_range', 0])
	})

	it.each([
		['subtotal', [[max], [101], [-100, '10']]],
		['tax', [[4e11, '100'], [4e11, '100'], [4e11, '100'], [-9e11], [-9e11]]],
		['total', [[max], [-100], [100, '10']]],
	] as const)('the %s alone leaving the range is refused', (_, rows) => {
		const lines = rows.map(([unitPriceCents, percent]) => ({ unitPriceCents, taxes: percent ? [tax(percent)] : [] }))
		expect(refusal(invoice(...lines))).toEqual(['amount_out_of_range', null])
	})

	it('a row of the breakdown may exceed the range when its invoice does not', () => {
		const lines = [max, max].map((unitPriceCents) => item({ unitPriceCents, taxes: [tax('0')] }))
		const totals = computeInvoice({ taxRounding: 'document', lines: [...lines, item({ unitPriceCents: -max })] })
		expect(totals.taxBreakdown[0]?.taxableCents).toBe(2 * max)
		expect(totals.totalCents).toBe(max)
	})

	it('a line mixes no inclusive and exclusive taxes, but an invoice may', () => {
		const [inside, outside] = [tax('10', true), tax('5')]
		expect(refusal(invoice({}, { taxes: [outside, inside] }))).toEqual(['mixed_tax_inclusion', 1])
		expect(refusal(invoice({ taxes: [inside] }, { taxes: [outside] }))).toBe('accepted')
	})

	it.each([
		{ quantity: '1e3' },
		{ quantity: '0.0000001' },
		{ quantity: '' },
		{ quantity: ' 1' },
		{ quantity: '.5' },
		{ unitPriceCents: 12.5 },
		{ unitPriceCents: Number.NaN },
		{ discountCents: 0.5 },
		{ discountPercent: '100.0001' },
		{ discountPercent: '-1' },
		{ taxes: [tax('-5')] },
		{ taxes: [tax('8.12345')] },
	])('malformed input is a RangeError, never a wrong amount: %j', (line) => {
		expect(invoice(line)).toThrow(RangeError)
	})

	it('decimal text survives a round trip in its shortest spelling', () => {
		fc.assert(
			fc.property(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.nat(6), (scaled, places) => {
				const text = formatDecimal(scaled, places)
				expect(parseDecimal(text, places)).toBe(scaled)
				expect(text).not.toMatch(/\.\d*0$|\.$/)
			}),
		)
	})
})
