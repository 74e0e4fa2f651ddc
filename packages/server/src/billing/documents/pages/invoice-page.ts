// The page that the client opens from the e-mail: a summary with buttons to pay and to download, and below it the invoice. What the
// summary says is in the invoice only on paper (`on-paper`): a browser prints the invoice without the summary.
import { html } from 'ghtml'
import type { DocumentFact, DocumentPassage, DocumentTotal, InvoiceDocument } from '../../../generated/contract.ts'
import { fitted } from '../../../platform/rendering/brand.ts'
import type { Receipt } from '../../../platform/rendering/pages/message-page.ts'
import { page, postButton } from '../../../platform/rendering/pages/page.ts'
import { fill, wordsOf } from '../../../platform/rendering/words/languages.ts'
import type { Words } from '../../../platform/rendering/words/words.ts'
import { annex, linesTable } from './invoice-tables.ts'

export interface InvoicePage {
	readonly document: InvoiceDocument
	readonly pdfUrl: string
	/** The target of the payment form; null when the invoice cannot be paid online. */
	readonly payUrl: string | null
	/** A warning above everything, such as that the invoice is made up. */
	readonly notice?: 'demo' | 'testMode' | undefined
}

/** In CSS pixels. */
const logoBox = { width: 240, height: 64 }

/** The whole HTML document. */
export function invoicePage({ document, pdfUrl, payUrl, notice }: InvoicePage): string {
	const [seller] = document.seller
	const words = wordsOf(document.language)
	const name = `${document.title} ${document.number}`
	return page({
		language: document.language,
		accent: document.brand?.accentColor ?? null,
		title: seller ? fill(words.from, { document: name, seller }) : name,
		main: html`<main>!${notice ? html`<p class="notice" role="note">${words.page[notice]}</p>` : ''}!${summary({ document, pdfUrl, payUrl }, name, words)}!${invoice(document, name, words)}</main>`,
	})
}

/** What a payer wants to know of a payment. */
const isOfPayment = ({ label }: DocumentFact, words: Words) => [words.paid, words.paidBy, words.reference].includes(label)

/** Who was paid for what, and the amount, day, method and reference of the payment of a paid invoice. */
export function receipt({ language, title, number, seller, facts, totals, brand }: InvoiceDocument): Receipt {
	const words = wordsOf(language)
	const paid = totals.find(({ label }) => label === words.amountPaid) ?? totals.find(({ kind }) => kind === 'total')
	const all = [
		{ label: words.paidTo, value: seller[0] },
		{ label: title, value: number },
		{ label: words.amountPaid, value: paid?.value },
		...facts.filter((fact) => isOfPayment(fact, words)),
	]
	return {
		facts: all.flatMap(({ label, value }) => (value ? [{ label, value }] : [])),
		accent: brand?.accentColor ?? null,
	}
}

function summary({ document, pdfUrl, payUrl }: InvoicePage, name: string, words: Words): string {
	const { status, due, facts } = document
	const amount = due ?? document.totals.findLast(({ kind }) => kind === 'total')?.value
	const isSettled = status.key === 'paid' || status.key === 'cancelled'
	const payment = status.key === 'paid' ? facts.filter((fact) => isOfPayment(fact, words) && fact.label !== words.paid) : []
	return html`
<section class="card summary" aria-labelledby="name">
<div class="heading"><h1 id="name">${name}</h1>!${isSettled ? '' : html`<span class="badge ${status.key}">${status.label}</span>`}</div>
!${amount ? html`<p class="amount ${status.key}"><bdi>${amount}</bdi></p>` : ''}
<p class="standing ${status.key}">!${standing(document, words)}</p>
!${payment.length > 0 ? factList('parties', payment) : ''}
<div class="actions">
!${payUrl !== null && due !== null ? postButton(payUrl, fill(words.page.pay, { amount: due })) : ''}
<a class="button" href="${pdfUrl}">${words.page.download}</a>
</div>
</section>`
}

/** One line on how the invoice stands. */
function standing({ status, due, facts }: InvoiceDocument, words: Words): string {
	const on = (text: string, label: string) => {
		const date = facts.find((fact) => fact.label === label)?.value
		return date ? fill(html`${text}`, { date: html`<bdi>${date}</bdi>` }) : undefined
	}
	if (status.key === 'cancelled') return html`${words.page.cancelled}`
	if (status.key === 'paid') return on(words.page.paidOn, words.paid) ?? html`${status.label}`
	if (due === null) return html`${words.page.nothingToPay}`
	return on(words.page.dueOn, words.due) ?? html`${words.amountDue}`
}

/** Whether the summary says it too. */
function isInSummary(fact: DocumentFact, { status, due }: InvoiceDocument, words: Words): boolean {
	if (status.key === 'paid') return isOfPayment(fact, words)
	return due !== null && fact.label === words.due
}

function invoice(document: InvoiceDocument, name: string, words: Words): string {
	const { seller, buyer, facts, labels, status, lines, totals, passages, footer, rates, timesheet, due } = document
	const total = totals.find(({ kind }) => kind === 'total')
	const isSaid = ({ kind, value }: DocumentTotal) => kind === 'due' && value === due && value === total?.value
	return html`
<article class="card" aria-label="${name}">
<header>
<address>!${logo(document)}!${addressLines(seller)}</address>
<div class="title on-paper"><h2>${name}</h2><p class="${status.key}">${status.label}</p></div>
!${buyer.length > 0 ? html`<div class="buyer"><h3>${labels.billedTo}</h3>!${addressLines(buyer)}</div>` : ''}
!${factList(
		'facts',
		facts,
		facts.map((fact) => isInSummary(fact, document, words)),
	)}
</header>
!${lines.length > 0 ? linesTable(document) : ''}
<dl class="totals">!${totals.map((row) => totalRow(row, isSaid(row)))}</dl>
!${passages.map(passage)}
!${rates ? annex('rates', rates) : ''}
!${timesheet ? annex('timesheet', timesheet) : ''}
!${footer ? html`<footer><p class="text"><bdi>${footer}</bdi></p></footer>` : ''}
</article>`
}

/** Its name follows in the address. */
function logo({ brand }: InvoiceDocument): string {
	if (!brand?.logo) return ''
	const { format, data } = brand.logo
	const { width, height } = fitted(brand.logo, logoBox)
	const source = `data:image/${format === 'svg' ? 'svg+xml' : format};base64,`
	return html`<img class="logo" src="${source}!${base64(data)}" width="${String(Math.round(width))}" height="${String(Math.round(height))}" alt="">`
}

const base64 = (data: string) => (/^[A-Za-z0-9+/=]*$/.test(data) ? data : '')

/** `onPaper` says of each fact whether it is there on paper only. */
function factList(name: string, facts: readonly DocumentFact[], onPaper: readonly boolean[] = []): string {
	return html`<dl class="${name}">!${facts.map(({ label, value }, index) => {
		const hidden = onPaper[index] ? ' class="on-paper"' : ''
		return html`<dt!${hidden}>${label}</dt><dd!${hidden}><bdi>${value}</bdi></dd>`
	})}</dl>`
}

const addressLines = (lines: readonly string[]) =>
	html`<ul class="address">!${lines.map((line) => html`<li><bdi>${line}</bdi></li>`)}</ul>`

const totalRow = ({ label, value, kind }: DocumentTotal, onPaper: boolean) =>
	html`<div class="${kind}${onPaper ? ' on-paper' : ''}"><dt><bdi>${label}</bdi></dt><dd><bdi>${value}</bdi></dd></div>`

const passage = ({ title, text }: DocumentPassage) =>
	html`<section class="words"><h3>${title}</h3><p class="text"><bdi>${text}</bdi></p></section>`
