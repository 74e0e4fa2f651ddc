// Invoices for the tests of their presentation, and the documents made of them.

import { blankParty } from '../src/billing/invoices/invoice.ts'
import { computeInvoice } from '../src/billing/invoices/pricing/totals.ts'
import { type PresentSource, presentInvoice } from '../src/billing/invoices/sharing/present.ts'
import type { Invoice, InvoiceDocument, LineItem, LineTax, Party } from '../src/generated/contract.ts'

export const day = (text: string) => Date.parse(text)
export const vat = (percent = '19', inclusive = false, label = 'VAT'): LineTax => ({ label, percent, inclusive })

export const party = (fields: Partial<Party> = {}): Party => ({
	...blankParty,
	name: 'Northlight Studio',
	...fields,
})

// The fields that are printed, and none of the others.
export const emptyLine = {
	kind: 'item',
	description: 'Design workshop',
	quantity: '1',
	unit: null,
	unitPriceCents: 0,
	discountPercent: null,
	discountCents: null,
	taxes: null,
	durationSeconds: null,
	periodStart: null,
	periodEnd: null,
	amountCents: 0,
} as LineItem

export const emptyInvoice = {
	invoiceNumber: 'INV-0042',
	status: 'sent',
	isOverdue: false,
	issuedDate: null,
	dueDate: null,
	periodStart: null,
	periodEnd: null,
	paidDate: null,
	paymentMethod: null,
	paymentReference: null,
	currency: 'EUR',
	lineItems: [] as LineItem[],
	subtotalCents: 0,
	taxRate: 0,
	taxLabel: 'Tax',
	taxRounding: 'document',
	timeRounding: 'none',
	timeRoundingMinutes: 15,
	taxCents: 0,
	taxBreakdown: [] as Invoice['taxBreakdown'],
	totalCents: 0,
	amountPaidCents: 0,
	amountCreditedCents: 0,
	amountDueCents: 0,
	paymentState: 'unpaid',
	notes: null,
	paymentTerms: null,
	showRateBreakdown: false,
	includeTimesheet: false,
} as Invoice

/** An invoice with the amounts that its lines come to. */
export function invoiceOf(lines: Partial<LineItem>[], fields: Partial<Invoice> = {}): Invoice {
	const invoice = { ...emptyInvoice, ...fields }
	const items = lines.map((line) => ({ ...emptyLine, ...line }))
	const { taxRate, taxLabel, taxRounding } = invoice
	const inherited = taxRate === 0 ? [] : [vat(String(taxRate), false, taxLabel)]
	const totals = computeInvoice({ taxRounding, lines: items.map((line) => ({ ...line, taxes: line.taxes ?? inherited })) })
	const lineItems = items.map((line, index) => ({ ...line, ...totals.lines[index] }))
	return { ...invoice, amountDueCents: totals.totalCents - invoice.amountPaidCents, ...totals, lineItems, ...fields }
}

export const present = (invoice: Invoice, source: Partial<PresentSource> = {}): InvoiceDocument =>
	presentInvoice({
		invoice,
		seller: party(),
		buyer: null,
		language: 'en',
		locale: 'en-IE',
		timeZone: 'Europe/Berlin',
		viewUrl: null,
		paymentUrl: null,
		timeEntries: [],
		...source,
	})

export const totalsOf = (invoice: Invoice, source?: Partial<PresentSource>) =>
	present(invoice, source).totals.map(({ label, value }) => `${label}: ${value}`)
