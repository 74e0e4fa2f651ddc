// What writing an invoice means: the stored invoice and the input give the next one. Pure, and the same for create, update
// and preview.
import { parseDate } from '../dates.ts'
import { ApiError, fieldError } from '../errors.ts'
import type { Invoice, InvoiceInput, LineItem, TaxRounding } from '../generated/contract.ts'
import { mergeLines } from './lines.ts'
import { applyStatus } from './status.ts'
import { computeInvoice, type InvoiceTotals, type LineTax, TotalsError } from './totals.ts'

/** An invoice as it is stored: without what is derived on reading. */
export interface StoredInvoice extends Omit<Invoice, 'amountDueCents' | 'isOverdue'> {
	/** Whether `paid` set the date by itself, and so takes it away again. */
	readonly paidDateDerived: boolean
}

/** A new invoice before anything is written on it. */
export function blankInvoice(organizationId: string, id: string, taxRounding: TaxRounding, now: number): StoredInvoice {
	return {
		id,
		organizationId,
		dealId: null,
		companyId: null,
		invoiceNumber: '',
		status: 'draft',
		issuedDate: null,
		dueDate: null,
		paidDate: null,
		paidDateDerived: false,
		paymentMethod: null,
		paymentReference: null,
		subtotalCents: 0,
		taxRate: 0,
		taxLabel: 'Tax',
		taxCents: 0,
		totalCents: 0,
		currency: 'USD',
		notes: null,
		paymentTerms: null,
		showRateBreakdown: false,
		includeTimesheet: false,
		taxRounding,
		lineItems: [],
		taxBreakdown: [],
		amountPaidCents: 0,
		sentAt: null,
		viewedAt: null,
		billTo: null,
		billFrom: null,
		createdAt: now,
		updatedAt: now,
		version: 1,
	}
}

const totals = ['subtotalCents', 'taxCents', 'totalCents'] as const
const dates = ['issuedDate', 'dueDate', 'paidDate'] as const

/** The invoice after the input was written on it. */
export function writeInvoice(stored: StoredInvoice, input: InvoiceInput, now: number): StoredInvoice {
	const { lineItems: writtenLines, issuedDate, dueDate, paidDate, ...plain } = input
	const next = { ...stored, ...plain, updatedAt: now } as StoredInvoice & Record<(typeof dates)[number], number | null>
	for (const field of dates) {
		const written = input[field]
		if (written !== undefined) next[field] = typeof written === 'string' ? (parseDate(written) ?? null) : written
	}
	for (const field of totals) if (Object.is(next[field], -0)) next[field] = 0
	const lines = writtenLines ? mergeLines(stored.lineItems, writtenLines) : stored.lineItems
	if (lines.length > 0) Object.assign(next, withAmounts(next, lines, input))
	else if (stored.lineItems.length > 0) Object.assign(next, withoutLines, pick(input))
	return applyStatus(stored, next, input, now)
}

/** The last line was removed, and with it what the totals stood for. */
const withoutLines = { lineItems: [], taxBreakdown: [], subtotalCents: 0, taxCents: 0, totalCents: 0 }

const pick = (input: InvoiceInput) =>
	Object.fromEntries(totals.filter((field) => input[field] !== undefined).map((field) => [field, input[field]]))

function withAmounts(
	invoice: StoredInvoice,
	lines: readonly Omit<LineItem, keyof InvoiceTotals['lines'][number]>[],
	input: InvoiceInput,
) {
	const computed = compute(invoice, lines)
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
	const lineItems = lines.map((line, index) => ({ ...line, ...computed.lines[index] }))
	const { subtotalCents, taxCents, totalCents, taxBreakdown } = computed
	return { lineItems, subtotalCents, taxCents, totalCents, taxBreakdown }
}

function compute(invoice: StoredInvoice, lines: readonly Omit<LineItem, keyof InvoiceTotals['lines'][number]>[]): InvoiceTotals {
	const { taxRate, taxLabel, taxRounding } = invoice
	const inherited: LineTax[] = taxRate === 0 ? [] : [{ label: taxLabel, percent: String(taxRate), inclusive: false }]
	try {
		return computeInvoice({ taxRounding, lines: lines.map((line) => ({ ...line, taxes: line.taxes ?? inherited })) })
	} catch (error) {
		if (error instanceof TotalsError)
			throw fieldError(error.code, error.line === null ? '/lineItems' : `/lineItems/${error.line}`, `${error.message}.`)
		throw error
	}
}
