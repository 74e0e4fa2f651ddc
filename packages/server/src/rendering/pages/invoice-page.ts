// The page that the client opens from the e-mail: a summary with buttons to pay and to download, and below it the invoice. A
// browser prints only the invoice.
import { html } from 'ghtml'
import type { DocumentTotal, InvoiceDocument, Passage } from '../document.ts'
import { annex, linesTable } from './invoice-tables.ts'
import { page, postButton } from './page.ts'

export interface InvoicePage {
	readonly document: InvoiceDocument
	readonly pdfUrl: string
	/** The target of the payment form; null when the invoice cannot be paid online. */
	readonly payUrl: string | null
	/** A warning above everything, such as that the invoice is made up. */
	readonly notice?: string | undefined
}

/** The whole HTML document. */
export function invoicePage({ document, pdfUrl, payUrl, notice }: InvoicePage): string {
	const [seller] = document.seller
	const name = `${document.title} ${document.number}`
	return page({
		title: seller ? `${name} from ${seller}` : name,
		main: html`<main>!${notice ? html`<p class="notice" role="note">${notice}</p>` : ''}!${summary({ document, pdfUrl, payUrl }, name)}!${invoice(document, name)}</main>`,
	})
}

function summary({ document, pdfUrl, payUrl }: InvoicePage, name: string): string {
	const { status, due, seller, buyer } = document
	const amount = due ?? document.totals.findLast(({ kind }) => kind === 'total')?.value
	return html`
<section class="card summary" aria-labelledby="name">
<div class="heading"><h1 id="name">${name}</h1><span class="badge ${status.key}">${status.label}</span></div>
!${amount ? html`<p class="amount ${status.key}"><bdi>${amount}</bdi></p>` : ''}
<p class="standing ${status.key}">!${standing(document)}</p>
<dl class="parties">!${party('From', seller)}!${party('To', buyer)}</dl>
<div class="actions">
!${payUrl !== null && due !== null ? postButton(payUrl, `Pay ${due}`) : ''}
<a class="button" href="${pdfUrl}">Download PDF</a>
</div>
</section>`
}

/** One line on how the invoice stands. */
function standing({ status, due, facts }: InvoiceDocument): string {
	const date = (label: string) => facts.find((fact) => fact.label === label)?.value
	const [paid, dueDate] = [date('Paid'), date('Due')]
	if (status.key === 'cancelled') return 'This invoice was cancelled. There is nothing to pay.'
	if (status.key === 'paid') return paid ? html`Paid on <bdi>${paid}</bdi>` : 'Paid'
	if (due === null) return 'There is nothing to pay.'
	return dueDate ? html`Due <bdi>${dueDate}</bdi>` : 'Amount due'
}

const party = (label: string, [name]: readonly string[]) => (name ? html`<dt>${label}</dt><dd><bdi>${name}</bdi></dd>` : '')

function invoice(document: InvoiceDocument, name: string): string {
	const { seller, buyer, facts, status, lines, totals, passages, footer, rates, timesheet } = document
	return html`
<article class="card" aria-label="${name}">
<header>
<div class="letterhead"><address>!${addressLines(seller)}</address><div><h2>${name}</h2><p class="badge print ${status.key}">${status.label}</p></div></div>
<div class="meta">
!${buyer.length > 0 ? html`<div><h3>Billed to</h3>!${addressLines(buyer)}</div>` : ''}
<dl class="facts">!${facts.map(({ label, value }) => html`<dt>${label}</dt><dd><bdi>${value}</bdi></dd>`)}</dl>
</div>
</header>
!${lines.length > 0 ? linesTable(document) : ''}
<dl class="totals">!${totals.map(total)}</dl>
!${passages.map(words)}
!${rates ? annex('rates', rates) : ''}
!${timesheet ? annex('timesheet', timesheet) : ''}
!${footer ? html`<footer><p class="text"><bdi>${footer}</bdi></p></footer>` : ''}
</article>`
}

const addressLines = (lines: readonly string[]) =>
	html`<ul class="address">!${lines.map((line) => html`<li><bdi>${line}</bdi></li>`)}</ul>`

const total = ({ label, value, kind }: DocumentTotal) =>
	html`<div class="${kind}"><dt><bdi>${label}</bdi></dt><dd><bdi>${value}</bdi></dd></div>`

const words = ({ title, text }: Passage) =>
	html`<section class="words"><h3>${title}</h3><p class="text"><bdi>${text}</bdi></p></section>`
