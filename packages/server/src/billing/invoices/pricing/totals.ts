// Computes the amounts of an invoice. Create, update and preview all call this; reads answer the stored amounts.
//
// - Half away from zero, as people round on paper and tax offices publish; a credit note is then the exact mirror of its
//   invoice, which half-up towards +∞ would break.
// - Line net first, tax after, as EN 16931 does: the printed lines add up to the printed subtotal.
// - `document`: one rounding per tax, on the sum of its bases; the residual cents go to the lines by largest remainder,
//   so that the lines add up to it. `line`: each line's tax is rounded, then summed.
// - Inclusive: the gross was agreed and stays; the tax is taken out of it, and the net is what is left.

import type { LineTax, TaxRounding } from '../../../generated/contract.ts'
import { formatDecimal, magnitude, parseDecimal, roundedDivide, spread, sum } from '../../../platform/base/decimal.ts'

/** The fields of a line that its amounts depend on, with the taxes that it bears. */
export type PricedLine = {
	kind: 'item' | 'time' | 'discount' | 'text'
	quantity: string
	unitPriceCents: number | string
	/** Tracked time, charged instead of the quantity. */
	durationSeconds?: number | null
	discountPercent?: string | null
	discountCents?: number | null
	taxes: LineTax[]
}
export type PricingInput = { taxRounding: TaxRounding; lines: PricedLine[] }
export type LineAmounts = { amountCents: number; netCents: number; taxCents: number; grossCents: number }
export type TaxBreakdownRow = LineTax & { taxableCents: number; taxCents: number }
export type InvoiceTotals = {
	lines: LineAmounts[]
	subtotalCents: number
	taxCents: number
	totalCents: number
	taxBreakdown: TaxBreakdownRow[]
}

/**
 * An error that a caller of the API can cause, and a sentence for that caller; `line` is the index of the line, null when it is about
 * a total.
 */
export class TotalsError extends Error {
	code: 'amount_out_of_range' | 'mixed_tax_inclusion'
	line: number | null
	constructor(code: TotalsError['code'], line: number | null, sentence: string) {
		super(sentence)
		this.name = 'TotalsError'
		this.code = code
		this.line = line
	}
}

/** One tax on one line. Its exact amount is numerator ÷ divisor. */
type Share = {
	line: number
	tax: LineTax
	row: string // the tax's identity: one row of the breakdown
	group: string // what `document` rounds once: the row, split where the divisor differs
	peers: string // see roundOnce
	numerator: bigint
	divisor: bigint
}
type TaxedShare = Share & { cents: bigint }

const MAX_CENTS = 999_999_999_999n
const HUNDRED_PERCENT = 1_000_000n // percentages are scaled by 10^4
const PRODUCT_SCALE = 10n ** 18n // quantity 10^6 × price 10^6 × discount's complement 10^6

export function computeInvoice(input: PricingInput): InvoiceTotals {
	const amounts = input.lines.map(lineAmount)
	const shares = input.lines.flatMap((line, index) => taxShares(line, index, amounts[index] ?? 0n))
	const taxed =
		input.taxRounding === 'line'
			? shares.map((share) => ({ ...share, cents: roundedDivide(share.numerator, share.divisor) }))
			: [...Map.groupBy(shares, (share) => share.group).values()].flatMap(roundOnce)

	const byLine = Map.groupBy(taxed, (share) => share.line)
	const taxes = amounts.map((_, index) => sum((byLine.get(index) ?? []).map((share) => share.cents)))
	const contained = taxes.map((cents, index) => (byLine.get(index)?.[0]?.tax.inclusive ? cents : 0n))
	const nets = amounts.map((amount, index) => amount - (contained[index] ?? 0n))
	const [subtotal, tax] = [sum(nets), sum(taxes)]
	return {
		lines: amounts.map((amount, index) => lineAmounts(index, amount, nets[index] ?? 0n, taxes[index] ?? 0n)),
		subtotalCents: toCents(subtotal, 'subtotal'),
		taxCents: toCents(tax, 'tax'),
		totalCents: toCents(subtotal + tax, 'total'),
		taxBreakdown: breakdown(taxed, nets),
	}
}

function lineAmounts(line: number, amount: bigint, net: bigint, tax: bigint): LineAmounts {
	const grossCents = toCents(net + tax, line)
	return { amountCents: toCents(amount, line), netCents: Number(net), taxCents: Number(tax), grossCents }
}

/** A discount in cents has the sign of its line, so a credit note mirrors it too. */
export function lineAmount(line: Omit<PricedLine, 'taxes'>): bigint {
	if (line.kind === 'text') return 0n
	const [product, scale] = scaledProduct(line)
	const kept = HUNDRED_PERCENT - parsePercent(line.discountPercent ?? '0', HUNDRED_PERCENT)
	const discount = BigInt(line.discountCents ?? 0) * scale
	return roundedDivide(product * kept - discount, scale)
}

/** The most that a discount in cents can take off a line: its amount before any discount, without a fraction of a cent. */
export function largestDiscount(line: Omit<PricedLine, 'taxes'>): bigint {
	const [product, scale] = scaledProduct(line)
	return (product * HUNDRED_PERCENT) / scale
}

function scaledProduct(line: Omit<PricedLine, 'taxes'>): [product: bigint, scale: bigint] {
	const [quantity, scale] = scaledQuantity(line)
	return [quantity * parsePrice(line.unitPriceCents), scale]
}

/**
 * Hours are seconds ÷ 3600, which has no exact decimal: a line charges the sum of its seconds, rounded once. The sum of rounded
 * entries would bill time that nobody worked.
 */
function scaledQuantity({ quantity, durationSeconds }: Omit<PricedLine, 'taxes'>): [quantity: bigint, scale: bigint] {
	if (typeof durationSeconds === 'number') return [BigInt(durationSeconds), 3600n * 10n ** 12n]
	return [parseDecimal(quantity, 6), PRODUCT_SCALE]
}

function taxShares(line: PricedLine, index: number, amount: bigint): Share[] {
	if (line.kind === 'text') return []
	const inclusive = line.taxes.some((tax) => tax.inclusive)
	if (inclusive && !line.taxes.every((tax) => tax.inclusive)) throw mixedTaxes(index)
	const rates = line.taxes.map((tax) => {
		const scaled = parsePercent(tax.percent)
		const identity = { label: tax.label, percent: formatDecimal(scaled, 4), inclusive }
		return { scaled, tax: identity, row: JSON.stringify(identity) }
	})
	const divisor = HUNDRED_PERCENT + (inclusive ? sum(rates.map((rate) => rate.scaled)) : 0n)
	const peers = inclusive ? String(rates.map((rate) => rate.row).sort()) : ''
	return rates.map(({ scaled, tax, row }) => {
		const group = `${row}/${divisor}`
		return { line: index, tax, row, group, peers, numerator: amount * scaled, divisor }
	})
}

/**
 * Lines that bear the same set of inclusive taxes are peers. The cents go to sets of peers first, then to lines: an
 * inclusive line's net is what all its taxes leave, so if position could move a cent between sets, the order of the
 * lines would change another tax's taxableCents. Exclusive lines are all peers, since tax does not touch their net.
 */
function roundOnce(group: Share[]): TaxedShare[] {
	const divisor = group[0]?.divisor ?? HUNDRED_PERCENT
	const byPeers = [...Map.groupBy(group, (share) => share.peers)].sort(([a], [b]) => (a < b ? -1 : 1))
	const sets = byPeers.map(([, set]) => set)
	const bySet = sets.map((set) => sum(set.map((share) => share.numerator)))
	const setCents = spread(roundedDivide(sum(bySet), divisor), bySet, divisor)
	return sets.flatMap((set, s) => {
		const numerators = set.map((share) => share.numerator)
		const cents = spread(setCents[s] ?? 0n, numerators, divisor)
		return set.map((share, i) => ({ ...share, cents: cents[i] ?? 0n }))
	})
}

/** A row may exceed the limit that its invoice respects, since rows of opposite sign cancel out. */
function breakdown(taxed: TaxedShare[], nets: bigint[]): TaxBreakdownRow[] {
	const rowCents = (values: bigint[]): number => toCents(sum(values), 'tax', BigInt(Number.MAX_SAFE_INTEGER))
	return [...Map.groupBy(taxed, (share) => share.row).values()].flatMap((row) => {
		const lines = new Set(row.map((share) => share.line)) // a line that names a tax twice counts once
		const taxableCents = rowCents([...lines].map((line) => nets[line] ?? 0n))
		const taxCents = rowCents(row.map((share) => share.cents))
		return row.slice(0, 1).map(({ tax }) => ({ ...tax, taxableCents, taxCents }))
	})
}

/** A number is whole cents. A fraction of a cent must be text: as a number it would have been rounded to a float already. */
function parsePrice(price: number | string): bigint {
	return typeof price === 'string' ? parseDecimal(price, 6) : parseDecimal(BigInt(price).toString(), 6)
}

/** Rejects negative percentages: a negative inclusive rate could make the divisor zero. */
function parsePercent(text: string, max?: bigint): bigint {
	const scaled = parseDecimal(text, 4)
	if (scaled < 0n || (max !== undefined && scaled > max)) throw new RangeError(`percentage out of range: ${text}`)
	return scaled
}

/** `of` is the index of a line, or a total. */
function toCents(value: bigint, of: number | 'subtotal' | 'tax' | 'total', max = MAX_CENTS): number {
	if (magnitude(value) <= max) return Number(value)
	const what = typeof of === 'number' ? `Line ${of + 1}` : `The ${of}`
	const sentence = `${what} comes to ${value} in minor units, and an amount is at most ${max} either way: charge less, or divide it among invoices.`
	throw new TotalsError('amount_out_of_range', typeof of === 'number' ? of : null, sentence)
}

const mixedTaxes = (line: number) =>
	new TotalsError(
		'mixed_tax_inclusion',
		line,
		`Line ${line + 1} has taxes that its price contains beside taxes that it does not: give all of them the same \`inclusive\`.`,
	)
