// Each language has all words, fills in the same, and leaves no English on a document.
import { describe, expect, it } from 'vitest'
import { englishIn, fixedPart, readable, textsOf } from '../../../../test/language.ts'
import { emptyInvoice, invoiceOf, party, present } from '../../../../test/presented.ts'
import { connectPage, questionPage, resultPage } from '../../../app/hosted/connect-page.ts'
import { testPaymentPage } from '../../../app/hosted/test-payment-page.ts'
import { invoiceEmail } from '../../../billing/documents/email.ts'
import { invoicePage } from '../../../billing/documents/pages/invoice-page.ts'
import type { InvoiceDocument, Language } from '../../../generated/contract.ts'
import { messagePage } from '../pages/message-page.ts'
import { countOf, languages, wordsOf } from './languages.ts'
import { localeFor } from './locales.ts'
import type { ConnectResult, MessageName } from './words.ts'

const english = textsOf('en')
const others = languages.filter((language) => language !== 'en')
const namesIn = (text = '') => [...text.matchAll(/\{\w+\}/g)].map(([name]) => name).sort()

const day = Date.UTC(2026, 2, 31)
const account = { holder: null, bankName: null, iban: null, bic: null, accountNumber: '1', routingNumber: '2' }

/** Documents that between them have every word. */
function documentsIn(language: Language): InvoiceDocument[] {
	const seller = party({ taxId: '7', vatId: '8', bankAccount: account })
	const source = { language, locale: localeFor(language, { language, locale: 'de-DE' }), seller, buyer: party({ name: '4711' }) }
	const timeEntries = [
		{ startedAt: day, durationSeconds: 3_600, description: 'Lorem', taskName: 'ipsum', deliverableName: 'dolor' },
	]
	const lines = [
		{ kind: 'time' as const, description: 'Lorem', unitPriceCents: 10_000, discountPercent: '10', durationSeconds: 3_600 },
		{ unitPriceCents: 500, discountCents: 100, taxes: [{ label: 'Tax', percent: '7', inclusive: true }] },
	]
	const details = {
		...{ issuedDate: day, dueDate: day, periodStart: day, periodEnd: day, notes: 'Lorem', paymentTerms: 'ipsum', taxRate: 19 },
		...{ showRateBreakdown: true, includeTimesheet: true, amountPaidCents: 1 },
	}
	const all = invoiceOf(lines, details)
	const payment = { paidDate: day, paymentMethod: 'X', paymentReference: 'Y' }
	return [
		present(all, { ...source, timeEntries, paymentUrl: 'https://pay.example' }),
		present({ ...all, isOverdue: true }, source),
		present({ ...all, status: 'draft', dueDate: null }, source),
		present({ ...all, status: 'paid', ...payment, amountPaidCents: all.totalCents, amountDueCents: 0 }, source),
		present({ ...all, status: 'cancelled', amountDueCents: 0 }, source),
		present({ ...emptyInvoice, subtotalCents: 100, taxCents: 19, taxRate: 19, totalCents: 119 }, source),
		present(invoiceOf([{ unitPriceCents: -100 }]), source),
	]
}

function everythingIn(language: Language): string {
	const of = (document: InvoiceDocument) => {
		const many = { ...document, lines: Array.from({ length: 45 }, () => document.lines[0] ?? { ...blank }) }
		const urls = { pdfUrl: '/pdf', payUrl: '/pay' }
		const email = invoiceEmail({ document: many, message: null })
		const offline = invoiceEmail({ document: { ...document, paymentUrl: null, viewUrl: 'https://view.example' }, message: null })
		const pages = (['demo', 'testMode'] as const).map((notice) => invoicePage({ document, ...urls, notice }))
		return [email.subject, email.text, readable(email.html), offline.text, ...pages.map(readable)].join('\n')
	}
	const messages = Object.keys(wordsOf('en').messages) as MessageName[]
	const receipt = { facts: [], accent: null, pdfUrl: '/pdf' }
	const link = { organization: 'A', provider: 'P', host: 'h', check: '' }
	const typed = ['apiKey', 'username', 'password'] as const
	const problems = (['missing', 'refused', 'untested'] as const).map((name) => ({ ...link, fields: typed, problem: { name } }))
	const results = Object.keys(wordsOf('en').connect.results) as ConnectResult[]
	const pages = [
		...[...problems, { ...link, fields: [] }].map((shown) => connectPage(language, shown)),
		questionPage(language, { ...link, connection: 'C' }, ''),
		...results.map((result) => resultPage(language, result, { returnUrl: 'https://app.example/' })),
		...messages.map((name) => messagePage(language, name, { invoiceUrl: '/', receipt })),
		testPaymentPage({ language, amount: '1', seller: 'S', number: '7', payUrl: '/', cancelUrl: '/' }),
	]
	return [...documentsIn(language).map(of), ...pages.map(readable)].join('\n')
}
const blank = { description: '', quantity: '', unitPrice: '', discount: '', tax: '', amount: '' }

describe.each(others)('%s', (language) => {
	const own = textsOf(language)

	it('has a text for each of English, which fills in the same', () => {
		expect([...own.keys()]).toEqual([...english.keys()])
		for (const [path, text] of own) {
			expect([path, text.trim()]).toEqual([path, text])
			expect([path, namesIn(text)]).toEqual([path, namesIn(english.get(path))])
			expect(text).not.toBe('')
		}
	})

	it('leaves no word of English on a page or in a mail, and shows its own', () => {
		const shown = everythingIn(language)
		expect(englishIn(shown, language)).toEqual([])
		const missing = [...own].filter(([path, text]) => !onPaperOnly.has(path) && !shown.includes(fixedPart(text)))
		expect(missing.map(([path]) => path)).toEqual([])
	})
})

/** Words of the PDF, which billing/invoices/sharing/pdf.api.test.ts reads, and of a line that time entries make. */
const onPaperOnly = new Set(['/payOnline', '/pageOf', '/time'])

it('counts in the forms of the language', () => {
	const lines = (language: Language, count: number) => countOf(language, wordsOf(language).mail.moreLines, count)
	expect([1, 2, 5, 22].map((count) => /\d+ (\p{L}+)/u.exec(lines('pl', count))?.[0])).toEqual([
		'1 pozycja',
		'2 pozycje',
		'5 pozycji',
		'22 pozycje',
	])
	expect(lines('de', 1)).toBe('… und 1 weitere Position im angehängten PDF')
	expect(lines('en', 2)).toBe('… and 2 more lines in the attached PDF')
})

it.each<[Language, Language, string, string]>([
	['de', 'de', 'de-AT', 'de-AT'],
	['fr', 'de', 'de-CH', 'fr-CH'],
	['fr', 'de', 'de-DE', 'fr-FR'],
	['de', 'en', 'en-US', 'de-DE'],
	['pt', 'en', 'en-BR', 'pt-BR'],
	['en', 'de', 'de-DE', 'en-GB'],
	['en', 'en', 'de-DE', 'de-DE'],
	['en', 'en', 'ja-JP', 'ja-JP'],
	['pl', 'pl', 'en-US', 'pl-PL'],
])('an invoice in %s of an organization with %s and %s is written as %s', (language, own, locale, expected) => {
	expect(localeFor(language, { language: own, locale })).toBe(expected)
})
