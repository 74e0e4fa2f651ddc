import { describe, expect, it } from 'vitest'
import { labels, passages } from '../../../test/documents.ts'
import type { DocumentLine, InvoiceDocument } from '../../generated/contract.ts'
import { invoiceEmail } from './email.ts'

const line = (fields: Partial<DocumentLine> = {}): DocumentLine => ({
	description: 'Design of the landing page',
	quantity: '1.5 day',
	unitPrice: '€900.00',
	discount: '',
	tax: 'VAT 19%',
	amount: '€1,350.00',
	...fields,
})

const invoice = (fields: Partial<InvoiceDocument> = {}): InvoiceDocument => ({
	language: 'en',
	locale: 'en-IE',
	title: 'Invoice',
	number: 'INV-0007',
	status: { key: 'sent', label: 'Open' },
	seller: ['Northlight Studio', '12 Harbour Lane', 'hello@northlight.example'],
	buyer: ['Acme'],
	facts: [
		{ label: 'Issued', value: '6 March 2026' },
		{ label: 'Due', value: '20 March 2026' },
	],
	labels,
	columns: { discount: false, tax: false },
	lines: [line()],
	totals: [
		{ label: 'Subtotal', value: '€1,350.00', kind: 'plain' },
		{ label: 'VAT 19%', value: '€256.50', kind: 'plain' },
		{ label: 'Total', value: '€1,606.50', kind: 'total' },
		{ label: 'Amount due', value: '€1,606.50', kind: 'due' },
	],
	due: '€1,606.50',
	passages: passages({ notes: 'Thank you.', terms: 'Within 14 days.' }),
	footer: null,
	viewUrl: null,
	paymentUrl: 'https://pay.example/7',
	rates: null,
	timesheet: null,
	...fields,
})

const email = (fields: Partial<InvoiceDocument> = {}, rest: { message?: string } = {}) =>
	invoiceEmail({ document: invoice(fields), message: rest.message ?? null })

/** The text of the HTML that a reader sees. */
const readable = (html: string) =>
	html
		.slice(html.indexOf('<body'))
		.replace(/<!--.*?-->|<[^>]*>/gs, '\n')
		.replace(/&zwnj;|&nbsp;/g, ' ')
		.replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))

const everything = [
	'Northlight Studio',
	'Invoice INV-0007',
	'Amount due',
	'€1,606.50',
	'6 March 2026',
	'20 March 2026',
	'Design of the landing page',
	'1.5 day × €900.00',
	'€1,350.00',
	'VAT 19%',
	'€256.50',
	'Thank you.',
	'Within 14 days.',
	'View and pay online',
	'The invoice is attached as a PDF.',
	'12 Harbour Lane',
]

describe('the e-mail of an invoice', () => {
	it('is named after the invoice and its seller', () => {
		expect(email().subject).toBe('Invoice INV-0007 from Northlight Studio')
		expect(email({ title: 'Credit note', number: 'CN-1' }).subject).toBe('Credit note CN-1 from Northlight Studio')
		expect(email({ number: '', seller: [] }).subject).toBe('Invoice')
	})

	it('says everything in plain text', () => {
		expect(email({}, { message: 'Hi Ada,\nhere it is.' }).text).toBe(`Hi Ada,
here it is.

Invoice INV-0007 from Northlight Studio

Amount due  €1,606.50
Issued      6 March 2026
Due         20 March 2026

View and pay online:
https://pay.example/7

------------------------------------------------------------------------
Design of the landing page                                     €1,350.00
  1.5 day × €900.00
------------------------------------------------------------------------
Subtotal                                                       €1,350.00
VAT 19%                                                          €256.50
Total                                                          €1,606.50
Amount due                                                     €1,606.50

Notes
Thank you.

Payment terms
Within 14 days.

The invoice is attached as a PDF.

${'-- '}
Northlight Studio
12 Harbour Lane
hello@northlight.example
`)
	})

	it('says the same in HTML', () => {
		const { html } = email()
		const text = readable(html)
		for (const words of everything) expect(text).toContain(words)
		expect(html).toContain('<html lang="en"')
		expect(html).toContain('<a href="https://pay.example/7"')
	})

	it('begins with the words of the sender, which keep their lines', () => {
		const { html, text } = email({}, { message: '  Hi Ada,\r\n\r\nhere it is.\n' })
		expect(text).toMatch(/^Hi Ada,\n\nhere it is\.\n\nInvoice INV-0007/)
		expect(html).toContain('>Hi Ada,<br><br>here it is.</p>')
		expect(html.indexOf('Hi Ada')).toBeLessThan(html.indexOf('6 March 2026</td>'))
		expect(email({}, { message: ' \n ' })).toEqual(email())
	})

	it('shows the amount and the dates in the inbox, after the subject', () => {
		expect(readable(email().html).trimStart()).toMatch(/^Amount due €1,606\.50 · Issued 6 March 2026 · Due 20 March 2026/)
	})

	it('loads nothing and runs no script', () => {
		const { html } = email({ viewUrl: 'https://remit.example/i/7' }, { message: 'Hi' })
		expect(html).not.toMatch(/<(script|link|img|iframe|object|form)\b|\bon\w+=|\burl\(|@import|\ssrc=/i)
	})

	it('leaves out the parts that the invoice does not have', () => {
		const bare = email({ facts: [], lines: [], passages: [], paymentUrl: null, seller: [] })
		for (const text of [bare.text, bare.html]) expect(text).not.toMatch(/Notes|Payment terms|online|Description|null|undefined/)
	})
})

describe('the link', () => {
	it.each([
		['https://pay.example/7', 'https://remit.example/i/7', 'View and pay online', 'https://remit.example/i/7'],
		['https://pay.example/7', null, 'View and pay online', 'https://pay.example/7'],
		[null, 'https://remit.example/i/7', 'View online', 'https://remit.example/i/7'],
	])('with payment at %s and a page at %s is "%s" to %s', (paymentUrl, viewUrl, label, target) => {
		const { html, text } = email({ paymentUrl, viewUrl })
		expect(text).toContain(`\n${label}:\n${target}\n`)
		expect(html).toMatch(new RegExp(`<a href="${target}"[^>]*>${label}</a>`))
	})
})

describe('an invoice with nothing due', () => {
	it('shows its total and how it stands', () => {
		const { html, text } = email({ due: null, paymentUrl: null, status: { key: 'paid', label: 'Paid' } })
		expect(text).toContain('\nTotal · Paid  €1,606.50\n')
		expect(readable(html)).toContain('Total · Paid')
	})
})

describe('lines', () => {
	it('show a discount, and their taxes when these differ', () => {
		const lines = [
			line({ discount: '-10%' }),
			line({ description: 'Agreed by phone', quantity: '', unitPrice: '', tax: '', amount: '' }),
		]
		expect(email({ lines }).text).toContain('\n  1.5 day × €900.00 · -10%\nAgreed by phone\n---')
		const mixed = email({ lines, columns: { discount: true, tax: true } })
		for (const text of [mixed.text, mixed.html]) expect(text).toContain('1.5 day × €900.00 · -10% · VAT 19%')
	})

	it('beyond the 40th are in the PDF, and the HTML stays below what Gmail shows', () => {
		const lines = (count: number) =>
			Array.from({ length: count }, (_, index) => line({ description: `Line number ${index + 1}.` }))
		const many = email({ lines: lines(500) })
		for (const text of [many.text, many.html]) {
			expect(text).toContain('Line number 40.')
			expect(text).not.toContain('Line number 41.')
			expect(text).toContain('… and 460 more lines in the attached PDF')
		}
		expect(Buffer.byteLength(many.html)).toBeLessThan(102_000)
		expect(email({ lines: lines(41) }).text).toContain('… and 1 more line in the attached PDF')
		expect(email({ lines: lines(40) }).text).not.toContain('attached PDF')
	})

	it('are wrapped in plain text, and an amount never touches the words', () => {
		const url = `https://northlight.example/${'long'.repeat(15)}`
		const { text } = email({
			lines: [line({ description: `${'word '.repeat(30)}end` }), line({ description: url, amount: '€0.00' })],
			passages: passages({ notes: 'Thank you.', terms: 'Please name the number of the invoice when you pay. '.repeat(3).trim() }),
		})
		const rows = text.split('\n')
		expect(rows).toContain(url)
		expect(rows[rows.indexOf(url) + 1]).toBe('€0.00'.padStart(72))
		for (const row of rows.filter((row) => row !== url)) expect(row.length).toBeLessThanOrEqual(72)
		expect(rows.filter((row) => row.startsWith('word'))).toHaveLength(3)
	})
})

describe('what comes from data', () => {
	const hostile = `</title><script>alert("1")</script>&amp; 'x' " onclick="x`

	it('is text wherever it stands', () => {
		const fields: Partial<InvoiceDocument> = {
			locale: hostile,
			title: hostile,
			number: hostile,
			status: { key: 'paid', label: hostile },
			seller: [hostile, hostile],
			facts: [{ label: hostile, value: hostile }],
			lines: [
				line({ description: hostile, quantity: hostile, unitPrice: hostile, discount: hostile, tax: hostile, amount: hostile }),
			],
			columns: { discount: true, tax: true },
			totals: [
				{ label: hostile, value: hostile, kind: 'plain' },
				{ label: hostile, value: hostile, kind: 'total' },
			],
			due: null,
			passages: passages({ notes: hostile, terms: hostile }),
			footer: hostile,
			paymentUrl: `https://pay.example/${hostile}`,
		}
		const { html, text } = email(fields, { message: hostile })
		const harmless = JSON.parse(JSON.stringify(fields).replaceAll(JSON.stringify(hostile).slice(1, -1), 'x'))
		const tags = (of: string) => of.match(/<[a-z!/]+/gi)
		expect(tags(html)).toEqual(tags(email(harmless, { message: 'x' }).html))
		expect(html).not.toMatch(/\sonclick=/)
		expect(readable(html)).toContain(hostile)
		expect(text).toContain(hostile)
	})

	it('reads in its own direction', () => {
		const { html } = email(
			{ lines: [line({ description: 'تصميم' })], passages: passages({ notes: 'شكرا' }) },
			{ message: 'مرحبا' },
		)
		expect(html).toMatch(/dir="auto"[^>]*>تصميم</)
		expect(html).toMatch(/dir="auto"[^>]*>شكرا</)
		expect(html).toMatch(/dir="auto"[^>]*>مرحبا</)
	})
})
