// What writing an invoice means: the stored invoice and the input give the next one. Pure, and the same for create, update
// and preview.
import { toMs } from '../base/dates.ts'
import { ApiError, fieldError } from '../base/errors.ts'
import type { InvoiceInput, TaxRate } from '../generated/contract.ts'
import type { StoredInvoice } from './invoice.ts'
import { type Line, mergeLines, taxesOf } from './pricing/lines.ts'
import { computeInvoice, type InvoiceTotals, type LineAmounts, TotalsError } from './pricing/totals.ts'
import { applyStatus } from './status.ts'

const totals = ['subtotalCents', 'taxCents', 'totalCents'] as const
const dates = ['issuedDate', 'dueDate', 'paidDate'] as const

/** What may be written on an invoice: what a caller may write, and what follows from other operations. */
export interface WrittenInvoice extends InvoiceInput {
	/** The lines of an invoice that is made of time entries. */
	readonly timeLines?: readonly Line[]
	/** When an invoice was given to its client, if its status does not say so. */
	readonly sentAt?: number
}

/** The invoice after the input was written on it. `taxRates` are those that the input names. */
export function applyInput(
	stored: StoredInvoice,
	input: WrittenInvoice,
	now: number,
	taxRates: ReadonlyMap<string, TaxRate> = new Map(),
): StoredInvoice {
	const { lineItems, timeLines, issuedDate, dueDate, paidDate, ...plain } = input
	const next = { ...stored, ...plain, updatedAt: now } as StoredInvoice & Record<(typeof dates)[number], number | null>
	for (const field of dates) {
		const written = input[field]
		if (written !== undefined) next[field] = written === null ? null : toMs(written)
	}
	if (input.sentAt !== undefined) next.issuedDate ??= input.sentAt
	for (const field of totals) if (Object.is(next[field], -0)) next[field] = 0
	const lines = timeLines ?? (lineItems ? mergeLines(stored.lineItems, lineItems, taxRates) : stored.lineItems)
	if (lines.length > 0) Object.assign(next, amounts(stored, next, lines, input))
	else if (stored.lineItems.length > 0) Object.assign(next, withoutLines, pick(input))
	return applyStatus(stored, next, input, now)
}

/** The last line was removed, and with it what the totals stood for. */
const withoutLines = { lineItems: [], taxBreakdown: [], subtotalCents: 0, taxCents: 0, totalCents: 0 }

const pick = (input: InvoiceInput) =>
	Object.fromEntries(totals.filter((field) => input[field] !== undefined).map((field) => [field, input[field]]))

type Amounts = Pick<StoredInvoice, 'lineItems' | 'taxBreakdown' | (typeof totals)[number]>

/**
 * The lines and what they come to. They are computed when lines or taxes are written, never because a note was: what was
 * issued stays, whatever rule computed it.
 */
function amounts(stored: StoredInvoice, next: StoredInvoice, lines: readonly Line[], input: WrittenInvoice): Amounts {
	const isPriced = [input.lineItems, input.timeLines, input.taxRate, input.taxLabel].some((written) => written !== undefined)
	const { lineItems, subtotalCents, taxCents, totalCents, taxBreakdown } = isPriced ? price(next, lines, input) : stored
	const result = { lineItems, subtotalCents, taxCents, totalCents, taxBreakdown }
	rejectOtherTotals(result, input)
	return result
}

/** Totals may be written with lines only if they are what the lines come to. */
function rejectOtherTotals(amounts: Amounts, input: InvoiceInput): void {
	const errors = totals
		.filter((field) => input[field] !== undefined && input[field] !== amounts[field])
		.map((field) => ({
			pointer: `/${field}`,
			code: 'totals_mismatch',
			detail: `is ${input[field]}, but the line items give ${amounts[field]}`,
		}))
	if (errors.length === 0) return
	const detail = `The line items give a total of ${amounts.totalCents}; leave the totals out, or send these.`
	throw new ApiError('totals_mismatch', detail, { errors })
}

function price(invoice: StoredInvoice, lines: readonly Line[], { timeLines }: WrittenInvoice): Amounts {
	/** What the caller wrote a line with. */
	const pointerTo = (line: number | null) => (timeLines ? '/timeEntryIds' : line === null ? '/lineItems' : `/lineItems/${line}`)
	const computed = compute(invoice, lines, pointerTo)
	return { ...computed, lineItems: lines.map((line, index) => ({ ...line, ...(computed.lines[index] as LineAmounts) })) }
}

function compute(invoice: StoredInvoice, lines: readonly Line[], pointerTo: (line: number | null) => string): InvoiceTotals {
	try {
		const { taxRounding } = invoice
		return computeInvoice({ taxRounding, lines: lines.map((line) => ({ ...line, taxes: taxesOf(line, invoice) })) })
	} catch (error) {
		if (error instanceof TotalsError) throw fieldError(error.code, pointerTo(error.line), `${error.message}.`)
		throw error
	}
}
