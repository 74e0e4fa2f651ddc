// The content of an invoice's e-mail. Both bodies, HTML and plain text, render only this.
import type { DocumentLine, DocumentLogo, InvoiceDocument } from '../../generated/contract.ts'
import { defaultAccent } from '../../platform/rendering/brand.ts'
import { countOf, fill, wordsOf } from '../../platform/rendering/words/languages.ts'
import type { Words } from '../../platform/rendering/words/words.ts'

export interface EmailSource {
	readonly document: InvoiceDocument
	/** The sender's own words; null when there are none. */
	readonly message: string | null
}

export interface EmailContent {
	readonly document: InvoiceDocument
	readonly words: Words
	/** Such as `Invoice INV-0007 from Northlight Studio`. */
	readonly subject: string
	readonly sender: string
	/** `#rrggbb`. */
	readonly accent: string
	/** Null also for an SVG, which most mail programs do not show. */
	readonly logo: DocumentLogo | null
	/** Such as `Invoice INV-0007`. */
	readonly heading: string
	readonly message: string | null
	/** The main amount: the amount due, or the total with the invoice's status. */
	readonly headline: { readonly label: string; readonly value: string }
	/** The headline and the facts in one line, which inboxes show after the subject. */
	readonly preview: string
	readonly link: { readonly label: string; readonly url: string } | null
	readonly lines: readonly EmailLine[]
	/** Says how many lines are in the PDF only; null when the e-mail has all. */
	readonly omitted: string | null
	readonly attachmentNote: string
}

export interface EmailLine {
	readonly kind: DocumentLine['kind']
	readonly description: string
	/** How the amount is computed, such as `1.5 day × €800.00`; empty in a line of text only. */
	readonly details: string
	readonly amount: string
}

/** The `Content-ID` of the logo, which the mail brings along. */
export const logoCid = 'logo@remit'

/** Gmail hides everything after the first 102 KB of a mail; a line takes about 1 KB of them. */
const maxLines = 40

export function emailContent({ document, message }: EmailSource): EmailContent {
	const { language, title, number, seller, facts, lines, viewUrl, paymentUrl } = document
	const words = wordsOf(language)
	const headline = headlineOf(document, words)
	const link = viewUrl ?? paymentUrl
	const omitted = Math.max(0, lines.length - maxLines)
	const heading = [title, number].filter(Boolean).join(' ')
	const sender = seller[0] ?? ''
	return {
		document,
		words,
		subject: sender ? fill(words.from, { document: heading, seller: sender }) : heading,
		sender,
		accent: document.brand?.accentColor ?? defaultAccent,
		logo: mailLogo(document),
		heading,
		message: message?.trim() || null,
		headline,
		preview: [headline, ...facts].map(({ label, value }) => `${label} ${value}`).join(' · '),
		link: link ? { label: paymentUrl ? words.mail.viewAndPay : words.mail.view, url: link } : null,
		lines: lines.slice(0, maxLines).map((line) => toEmailLine(line, document.columns.tax)),
		omitted: omitted > 0 ? countOf(language, words.mail.moreLines, omitted) : null,
		attachmentNote: title === words.creditNote ? words.mail.creditNoteAttached : words.mail.invoiceAttached,
	}
}

const mailLogo = ({ brand }: InvoiceDocument) => (brand?.logo && brand.logo.format !== 'svg' ? brand.logo : null)

function headlineOf({ due, totals, status }: InvoiceDocument, words: Words): EmailContent['headline'] {
	if (due !== null) return { label: words.amountDue, value: due }
	const total = totals.find(({ kind }) => kind === 'total')
	return { label: `${words.total} · ${status.label}`, value: total?.value ?? '' }
}

function toEmailLine(
	{ kind, description, quantity, unitPrice, discount, tax, amount }: DocumentLine,
	showTax: boolean,
): EmailLine {
	const price = [quantity, unitPrice].filter(Boolean).join(' × ')
	return { kind, description, details: [price, discount, showTax ? tax : ''].filter(Boolean).join(' · '), amount }
}
