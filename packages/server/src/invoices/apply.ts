// What writing an invoice means: the stored invoice and the input give the next one. Pure, and the same for create, update
// and preview.
import { toMs } from '../base/dates.ts'
import { ApiError, fieldError } from '../base/errors.ts'
import type { InvoiceInput, LineItem, TaxRate } from '../generated/contract.ts'
import type { StoredInvoice } from './invoice.ts'
import { mergeLines, taxesOf } from './lines.ts'
import { applyStatus } from './status.ts'
import { computeInvoice, type InvoiceTotals, type LineAmounts, TotalsError } from './totals.ts'

const totals = ['subtotalCents', 'taxCents', 'totalCents'] as const
const dates = ['issuedDate', 'dueDate', 'paidDate'] as const

const noRates: ReadonlyMap<string, TaxRate> = new Map()

/** The invoice after the input was written on it. `taxRates` are those that the input names. */
export function applyInput(stored: StoredInvoice, input: InvoiceInput, now: number, taxRates = noRates): StoredInvoice {
	const { lineItems: writtenLines, issuedDate, dueDate, paidDate, ...plain } = input
	const next = { ...stored, ...plain, updatedAt: now } as StoredInvoice & Record<(typeof dates)[number], number | null>
	for (const field of dates) {
		const written = input[field]
		if (written !== undefined) next[field] = written === null ? null : toMs(written)
	}
	for (const field of totals) if (Object.is(next[field], -0)) next[field] = 0
	const lines = writtenLines ? mergeLines(stored.lineItems, writtenLines, taxRates) : stored.lineItems
	if (lines.length > 0) Object.assign(next, withAmounts(next, lines, input))
	else if (stored.lineItems.length > 0) Object.assign(next, withoutLines, pick(input))
	return applyStatus(stored, next, input, now)
}

/** The last line was removed, and with it what the totals stood for. */
const withoutLines = { lineItems: [], taxBreakdown: [], subtotalCents: 0, taxCents: 0, totalCents: 0 }

const pick = (input: InvoiceInput) =>
	Object.fromEntries(totals.filter((field) => input[field] !== undefined).map((field) => [field, input[field]]))

/** The invoice with these lines, computed anew. `pointerTo` is what the caller wrote a line with. */
export function withAmounts(
	invoice: StoredInvoice,
	lines: readonly Omit<LineItem, keyof InvoiceTotals['lines'][number]>[],
	input: InvoiceInput,
	pointerTo = (line: number | null) => (line === null ? '/lineItems' : `/lineItems/${line}`),
): Pick<StoredInvoice, 'lineItems' | 'taxBreakdown' | (typeof totals)[number]> {
	const computed = compute(invoice, lines, pointerTo)
	const errors = totals
		.filter((field) => input[field] !== undefined && input[field] !== computed[field])
		.map((field) => ({
			pointer: `/${field}`,
			code: 'totals_mismatch',
			detail: `is ${input[field]}, but the line items give ${computed[field]}`,
		}))
	if (errors.length > 0) {
		throw new ApiError(
			'totals_mismatch',
			`The line items give a total of ${computed.totalCents}; leave the totals out, or send these.`,
			{ errors },
		)
	}
	const lineItems = lines.map((line, index) => ({ ...line, ...(computed.lines[index] as LineAmounts) }))
	const { subtotalCents, taxCents, totalCents, taxBreakdown } = computed
	return { lineItems, subtotalCents, taxCents, totalCents, taxBreakdown }
}

function compute(
	invoice: StoredInvoice,
	lines: readonly Omit<LineItem, keyof InvoiceTotals['lines'][number]>[],
	pointerTo: (line: number | null) => string,
): InvoiceTotals {
	try {
		const { taxRounding } = invoice
		return computeInvoice({ taxRounding, lines: lines.map((line) => ({ ...line, taxes: taxesOf(line, invoice) })) })
	} catch (error) {
		if (error instanceof TotalsError) throw fieldError(error.code, pointerTo(error.line), `${error.message}.`)
		throw error
	}
}
