// Line items as written → as stored: identity, spelling and what a line may not combine.
import { formatDecimal, parseDecimal } from '../decimal.ts'
import { fieldError } from '../errors.ts'
import type { LineItem, LineItemInput, LineTax } from '../generated/contract.ts'
import { newId } from '../ids.ts'

/** A line before its amounts are computed. */
export type Line = Omit<LineItem, 'amountCents' | 'netCents' | 'taxCents' | 'grossCents'>

const emptyLine = {
	position: 0,
	kind: 'item',
	description: '',
	quantity: '1',
	unit: null,
	unitPriceCents: 0,
	discountPercent: null,
	discountCents: null,
	taxes: null,
	metadata: null,
} as const satisfies Partial<Line>

/**
 * The new lines of an invoice: a line with the id of a stored one changes it, one without is new, a stored one that is not
 * named is gone.
 */
export function mergeLines(stored: readonly Line[], input: readonly LineItemInput[]): Line[] {
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
		const line = { id: known?.id ?? newId('li'), ...emptyLine, ...known, ...spelled(written), position: index + 1 } as Line
		refuseContradictions(line, index)
		return line
	})
}

/** The fields that were written, each in its one spelling. */
function spelled(written: LineItemInput): Partial<Line> {
	const { id, quantity, unitPriceCents, discountPercent, taxes, ...rest } = written
	return {
		...rest,
		...(quantity !== undefined && { quantity: decimal(quantity, 6) }),
		...(unitPriceCents !== undefined && { unitPriceCents: price(unitPriceCents) }),
		...(discountPercent !== undefined && { discountPercent: discountPercent === null ? null : decimal(discountPercent, 4) }),
		...(taxes !== undefined && { taxes: taxes?.map(tax) ?? null }),
	}
}

const decimal = (value: string | number, places: number) => formatDecimal(parseDecimal(String(value), places), places)

/** An integer, or text when the price is not one. */
function price(value: string | number): number | string {
	const text = decimal(value, 6)
	return text.includes('.') ? text : Number(text)
}

const tax = ({
	label,
	percent,
	inclusive = false,
}: Omit<LineTax, 'percent' | 'inclusive'> & { percent: string | number; inclusive?: boolean }): LineTax => ({
	label,
	percent: decimal(percent, 4),
	inclusive,
})

function refuseContradictions(line: Line, index: number): void {
	const at = `/lineItems/${index}`
	if (line.discountPercent !== null && line.discountCents !== null) {
		throw fieldError('invalid_line_item', `${at}/discountCents`, 'A line has a discount in percent or in cents, not both.')
	}
	if (line.kind === 'text' && (line.unitPriceCents !== 0 || line.discountCents !== null)) {
		throw fieldError('invalid_line_item', `${at}/unitPriceCents`, 'A line of kind text has no amount.')
	}
}
