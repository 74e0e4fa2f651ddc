// An invoice as people read it: every label, amount and date in its final words. The page, the PDF and the e-mail render
// this and nothing else, so they cannot disagree. `presentInvoice` (present.ts) makes it.
import type { InvoiceStatus } from '../generated/contract.ts'

export interface InvoiceDocument {
	/** BCP 47, such as `de-DE`: the language of the numbers and dates. */
	readonly locale: string
	/** The word for what this is: `Invoice`. */
	readonly title: string
	readonly number: string
	/** For the page's badge, such as `overdue` and `Overdue`. */
	readonly status: { readonly key: InvoiceStatus; readonly label: string }
	/** Name first, then what else stands in the letterhead, a line each. */
	readonly seller: readonly string[]
	/** Name first, then the address; empty when the invoice is billed to nobody. */
	readonly buyer: readonly string[]
	/** Dates and references: `Issued`, `Due`, `Paid`. */
	readonly facts: readonly Fact[]
	/** Whether any line has a discount, and any line taxes of its own: a column nobody fills is not shown. */
	readonly columns: { readonly discount: boolean; readonly tax: boolean }
	readonly lines: readonly DocumentLine[]
	/** Subtotal, each tax, total, and what is paid and due, in the order in which they add up. */
	readonly totals: readonly DocumentTotal[]
	/** What is to be paid now, such as `€1,606.50`; null when nothing is. */
	readonly due: string | null
	readonly notes: string | null
	readonly paymentTerms: string | null
	/** Where it can be paid; null when it cannot. */
	readonly paymentUrl: string | null
	/** Hours and amount for each hourly rate, when the invoice shows them. */
	readonly rates: DocumentTable | null
	/** The time that was worked, entry by entry, when the invoice has a timesheet. */
	readonly timesheet: DocumentTable | null
}

export interface Fact {
	readonly label: string
	readonly value: string
}

export interface DocumentLine {
	/** May hold line breaks. */
	readonly description: string
	/** With its unit, such as `1.5 day`; empty in a line of words only. */
	readonly quantity: string
	readonly unitPrice: string
	readonly discount: string
	readonly tax: string
	readonly amount: string
}

export interface DocumentTotal {
	readonly label: string
	readonly value: string
	/** `total` and `due` stand out. */
	readonly kind: 'plain' | 'total' | 'due'
}

/** A table in the annex: its columns, its rows, and a last row that sums up. */
export interface DocumentTable {
	readonly title: string
	readonly columns: readonly { readonly label: string; readonly numeric: boolean }[]
	readonly rows: readonly (readonly string[])[]
	readonly sum: readonly string[]
}
