// An invoice as people read it: every label, amount and date in its final words. The page, the PDF and the e-mail render only
// this, so they cannot disagree. `presentInvoice` (invoices/sharing/present.ts) makes it.
import type { InvoiceStatus, Language, LogoFormat } from '../generated/contract.ts'

export interface InvoiceDocument {
	/** Of its words: those that a page, a PDF and an e-mail add of themselves too. */
	readonly language: Language
	/** BCP 47, such as `de-DE`: how its numbers and dates are written. */
	readonly locale: string
	/** What makes it look like its seller's; absent: like Remit's. */
	readonly brand?: Brand
	/** The kind of document: `Invoice`. */
	readonly title: string
	readonly number: string
	/** For the page's badge, such as `overdue` and `Overdue`. */
	readonly status: { readonly key: InvoiceStatus; readonly label: string }
	/** The lines of the letterhead, the name first. */
	readonly seller: readonly string[]
	/** The name, then the lines of the address; empty when the invoice has no buyer. */
	readonly buyer: readonly string[]
	/** Dates and references: `Issued`, `Due`, `Paid`. */
	readonly facts: readonly Fact[]
	/** Whether any line has a discount, and any line its own taxes: an empty column is not shown. */
	readonly columns: { readonly discount: boolean; readonly tax: boolean }
	readonly lines: readonly DocumentLine[]
	/** Subtotal, each tax, total, amount paid and amount due, in the order in which they add up. */
	readonly totals: readonly DocumentTotal[]
	/** The amount due, such as `€1,606.50`; null when there is none. */
	readonly due: string | null
	/** What follows the amounts: notes, payment terms, and the account for bank transfers while something is due. */
	readonly passages: readonly Passage[]
	/** The seller's register and own words, at the very end; may hold line breaks. */
	readonly footer: string | null
	/** The page where the client can pay; null without one. */
	readonly paymentUrl: string | null
	/** Hours and amount for each hourly rate, when the invoice shows them. */
	readonly rates: DocumentTable | null
	/** The time entries, when the invoice has a timesheet. */
	readonly timesheet: DocumentTable | null
}

export interface Brand {
	/** `#rrggbb`, readable on white; null: `defaultAccent`. */
	readonly accentColor: string | null
	readonly logo: BrandLogo | null
}

export interface BrandLogo {
	readonly format: LogoFormat
	/** In pixels. */
	readonly width: number
	readonly height: number
	/** In base64. */
	readonly data: string
}

/** The colour of links and buttons. */
export const defaultAccent = '#2d46c4'

/** The width and height of a logo that fits into a box. */
export function fitted({ width, height }: BrandLogo, most: { width: number; height: number }) {
	const scale = Math.min(most.width / width, most.height / height)
	return { width: width * scale, height: height * scale }
}

export interface Fact {
	readonly label: string
	readonly value: string
}

export interface Passage {
	readonly title: string
	/** May hold line breaks. */
	readonly text: string
}

export interface DocumentLine {
	/** A heading stands above the lines that follow, and has no amount; absent for what is charged. */
	readonly kind?: 'heading' | 'discount'
	/** May hold line breaks. */
	readonly description: string
	/** With its unit, such as `1.5 day`; empty in a line of text only. */
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

/** A table in the annex: its columns, its rows, and a last row of sums. */
export interface DocumentTable {
	readonly title: string
	readonly columns: readonly { readonly label: string; readonly numeric: boolean }[]
	readonly rows: readonly (readonly string[])[]
	readonly sum: readonly string[]
}
