// Turns the line items of a request into stored lines: their ids, one spelling for each number, and the combinations that a
// line may not have.

import type { LineItem, LineItemInput, LineTax, TaxRate } from '../../../generated/contract.ts'
import { toMs } from '../../../platform/base/dates.ts'
import { spellDecimal } from '../../../platform/base/decimal.ts'
import { fieldError } from '../../../platform/base/errors.ts'
import { newId } from '../../../platform/base/ids.ts'
import { largestDiscount, lineAmount } from './totals.ts'

/** A line before its amounts are computed. */
export type Line = Omit<LineItem, 'amountCents' | 'netCents' | 'taxCents' | 'grossCents'>

/** A line before any input. By hand and not from the contract's blanks, since answers show the fields in this order. */
export const blankLine = {
	position: 0,
	kind: 'item',
	description: '',
	quantity: '1',
	unit: null,
	unitPriceCents: 0,
	discountPercent: null,
	discountCents: null,
	taxes: null,
	taxRateId: null,
	durationSeconds: null,
	timeEntryIds: [],
	periodStart: null,
	periodEnd: null,
	metadata: null,
} as const satisfies Partial<Line>

/**
 * The new lines of an invoice. An input with the id of a stored line changes that line, an input without an id adds one, and
 * a stored line that the input does not name is removed.
 */
export function mergeLines(
	stored: readonly Line[],
	input: readonly LineItemInput[],
	taxRates: ReadonlyMap<string, TaxRate>,
): Line[] {
	const left = new Map(stored.map((line) => [line.id, line]))
	return input.map((written, index) => {
		const known = written.id === undefined ? undefined : left.get(written.id)
		if (written.id !== undefined && !left.delete(written.id)) {
			throw fieldError(
				'unknown_line_item',
				`/lineItems/${index}/id`,
				`${written.id} is not a line of this invoice, or stands twice.`,
			)
		}
		rejectTwoTaxes(written, index)
		const before = { id: known?.id ?? newId('li'), ...blankLine, ...known }
		const line = { ...before, ...spelled(written), ...taxed(before, written, taxRates), position: index + 1 } as Line
		// A line of time charges its seconds until a caller writes another quantity.
		if (line.quantity !== before.quantity) line.durationSeconds = null
		rejectContradictions(line, index)
		// A line that an older rule let in stays until a caller writes its amount.
		if (!known || amountFields.some((field) => line[field] !== known[field])) rejectRaisedByDiscount(line, index)
		return line
	})
}

/** The fields that were written; numbers in their one spelling. */
function spelled(written: LineItemInput): Partial<Line> {
	const { id, quantity, unitPriceCents, discountPercent, taxes, taxRateId, periodStart, periodEnd, ...rest } = written
	return {
		...rest,
		...(quantity !== undefined && { quantity: spellDecimal(quantity, 6) }),
		...(unitPriceCents !== undefined && { unitPriceCents: price(unitPriceCents) }),
		...(periodStart !== undefined && { periodStart: periodStart === null ? null : toMs(periodStart) }),
		...(periodEnd !== undefined && { periodEnd: periodEnd === null ? null : toMs(periodEnd) }),
		...(discountPercent !== undefined && { discountPercent: discountPercent === null ? null : spellDecimal(discountPercent, 4) }),
	}
}

/** The line's tax fields when the input changes them: taxes of its own, those of a saved rate, or none. */
function taxed(
	before: Pick<Line, 'taxRateId'>,
	{ taxes, taxRateId }: LineItemInput,
	taxRates: ReadonlyMap<string, TaxRate>,
): Partial<Line> {
	if (typeof taxRateId === 'string' && taxRateId !== before.taxRateId) {
		return savedTax(taxRates.get(taxRateId) as TaxRate)
	}
	if (taxes) return { taxRateId: null, taxes: taxes.map(tax) }
	if (taxRateId === null && before.taxRateId !== null) return { taxRateId, taxes: null }
	if (taxes === null && !taxRateId) return { taxRateId: null, taxes }
	return {}
}

/** A saved rate as a line's only tax: a copy, so that renaming the rate does not change the line. */
export const savedTax = ({ id: taxRateId, label, percent, inclusive }: TaxRate): Pick<Line, 'taxRateId' | 'taxes'> => ({
	taxRateId,
	taxes: [{ label, percent, inclusive }],
})

/** The taxes that a line bears: its own, or the invoice's. */
export function taxesOf({ taxes }: Pick<Line, 'taxes'>, { taxRate, taxLabel }: { taxRate: number; taxLabel: string }): LineTax[] {
	if (taxes) return taxes
	return taxRate === 0 ? [] : [{ label: taxLabel, percent: String(taxRate), inclusive: false }]
}

function rejectTwoTaxes({ taxes, taxRateId }: LineItemInput, index: number): void {
	if (taxes && taxRateId) {
		throw fieldError(
			'invalid_line_item',
			`/lineItems/${index}/taxRateId`,
			'A line has taxes of its own or a saved rate, not both.',
		)
	}
}

/** A whole price as a number, any other as text. */
function price(value: string | number): number | string {
	const text = spellDecimal(value, 6)
	return text.includes('.') ? text : Number(text)
}

const tax = ({
	label,
	percent,
	inclusive = false,
}: Omit<LineTax, 'percent' | 'inclusive'> & { percent: string | number; inclusive?: boolean }): LineTax => ({
	label,
	percent: spellDecimal(percent, 4),
	inclusive,
})

/** Throws 422 when the service period of an invoice or a line ends before it begins; `at` is where that stands. */
export function requireForward({ periodStart, periodEnd }: Pick<Line, 'periodStart' | 'periodEnd'>, at: string): void {
	if (periodStart === null || periodEnd === null || periodEnd >= periodStart) return
	throw fieldError('invalid_period', `${at}/periodEnd`, 'The service period ends before it begins.')
}

function rejectContradictions(line: Line, index: number): void {
	const at = `/lineItems/${index}`
	requireForward(line, at)
	if (line.discountPercent !== null && line.discountCents !== null) {
		throw fieldError('invalid_line_item', `${at}/discountCents`, 'A line has a discount in percent or in cents, not both.')
	}
	if (line.kind === 'text' && (line.unitPriceCents !== 0 || line.discountCents !== null)) {
		throw fieldError('invalid_line_item', `${at}/unitPriceCents`, 'A line of kind text has no amount.')
	}
}

/** The fields that a line's amount depends on. */
const amountFields = ['kind', 'quantity', 'durationSeconds', 'unitPriceCents', 'discountPercent', 'discountCents'] as const

/** A discount lowers what is owed, and leaves its line the sign that it has without it. */
function rejectRaisedByDiscount(line: Line, index: number): void {
	const at = `/lineItems/${index}`
	const [discount, largest] = [BigInt(line.discountCents ?? 0), largestDiscount(line)]
	const isWithin = largest > 0n ? discount <= largest : largest < 0n ? discount >= largest : discount === 0n
	if (!isWithin) {
		const detail = `A discount of ${discount} is more than its line comes to without it, which is ${largest}.`
		throw fieldError('invalid_line_item', `${at}/discountCents`, detail)
	}
	if (line.kind === 'discount' && lineAmount(line) > 0n) {
		const detail = `A line of kind discount lowers the invoice, but this one comes to ${lineAmount(line)}: make its price negative.`
		throw fieldError('invalid_line_item', `${at}/unitPriceCents`, detail)
	}
}
