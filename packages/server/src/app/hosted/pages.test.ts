// The text of the hosted pages, in which text from others never becomes markup. pages.e2e.test.ts tests look and behaviour.
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { hostileInvoice } from '../../../test/difficult-documents.ts'
import { cancelledInvoice, openInvoice, overdueInvoice, paidInvoice } from '../../../test/documents.ts'
import { invoicePage, receipt } from '../../billing/documents/pages/invoice-page.ts'
import type { InvoiceDocument } from '../../generated/contract.ts'
import { pageHeaders } from '../../platform/rendering/pages/headers.ts'
import { messagePage } from '../../platform/rendering/pages/message-page.ts'
import { connectPage, questionPage, resultPage } from './connect-page.ts'
import { testPaymentPage } from './test-payment-page.ts'

const urls = { pdfUrl: '/view/invoice/token/pdf', payUrl: '/view/invoice/token/pay' }
const view = (document: InvoiceDocument) => invoicePage({ document, ...urls })
const testPayment = {
	language: 'en' as const,
	amount: '€1,606.50',
	seller: 'Nordlicht Studio',
	number: 'INV-0042',
	payUrl: '/pay',
	cancelUrl: '/cancel',
}

const link = { organization: 'Northlight', provider: 'HubSpot', host: 'api.hubapi.com', check: 'c' }

const pages = {
	'an invoice': view(openInvoice),
	'a hostile invoice': view(hostileInvoice),
	'a message': messagePage('en', 'linkGone'),
	'a test payment': testPaymentPage(testPayment),
	'a connect link': connectPage('en', { ...link, fields: ['username', 'password'] }),
	'a connected account': resultPage('en', 'connected', { connection: 'HubSpot', returnUrl: 'https://app.example/' }),
}

describe.each(Object.entries(pages))('%s', (_, page) => {
	it('has only the style sheet that its headers allow', () => {
		const styles = [...page.matchAll(/<style>(.*?)<\/style>/gs)].map(([, style]) => style as string)
		expect(styles).toHaveLength(1)
		const hash = createHash('sha256')
			.update(styles[0] as string)
			.digest('base64')
		expect(pageHeaders([])['Content-Security-Policy']).toContain(`style-src 'sha256-${hash}';`)
	})

	it('has no script, no event handler and no inline style', () => {
		expect(page).not.toMatch(/<script|<[^>]*\s(on\w+|style)=/i)
	})
})

describe('text of others', () => {
	const markup = `</title></style><img src=x onerror=alert(1)> & "double" 'single'`
	const escaped =
		'&#60;/title&#62;&#60;/style&#62;&#60;img src&#61;x onerror&#61;alert(1)&#62; &#38; &#34;double&#34; &#39;single&#39;'
	const deep = (value: unknown): unknown => {
		if (typeof value === 'string') return markup
		if (Array.isArray(value)) return value.map(deep)
		return value && typeof value === 'object'
			? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, deep(inner)]))
			: value
	}

	it('is never markup, wherever it stands in an invoice', () => {
		const document: InvoiceDocument = { ...(deep(openInvoice) as InvoiceDocument), language: 'en' }
		const page = invoicePage({ document, pdfUrl: markup, payUrl: markup })
		expect(page).not.toContain('<img')
		expect(page).not.toContain('"double"')
		expect(page.match(/<\/title>|<\/style>/g)).toEqual(['</title>', '</style>'])
		for (const place of [`<title>${escaped}`, `action="${escaped}"`, `href="${escaped}"`]) expect(page).toContain(place)
	})

	it('is never markup in a message or a test payment', () => {
		const receipt = { facts: [{ label: markup, value: markup }], accent: markup, pdfUrl: markup }
		const message = messagePage('en', 'paymentConfirmed', { invoiceUrl: markup, receipt })
		for (const page of [message, testPaymentPage({ ...(deep(testPayment) as typeof testPayment), language: 'en' })]) {
			expect(page).not.toContain('<img')
			expect(page).toContain(escaped)
		}
	})
})

it('A receipt names the seller and the invoice, in the colour that the invoice has', () => {
	const document = { ...paidInvoice, brand: { accentColor: '#1f5f4a', logo: null } }
	const page = messagePage('en', 'paymentConfirmed', { receipt: { ...receipt(document), pdfUrl: '/pdf' } })
	for (const part of [document.seller[0], document.number, '--accent:#1f5f4a']) expect(page).toContain(part)
})

describe('the page of a connect link', () => {
	const fields = ['username', 'password'] as const

	it('has no markup of others, wherever it stands', () => {
		const deep = `</title><img src=x onerror=alert(1)>"'`
		const others = { organization: deep, provider: deep, host: deep, check: deep, username: deep }
		const pages = [
			connectPage('de', { ...others, fields, problem: { name: 'untested', detail: deep } }),
			questionPage('de', { ...others, connection: deep }, deep),
			resultPage('de', 'connected', { connection: deep, reason: deep, returnUrl: 'https://app.example/"><img>' }),
		]
		for (const page of pages) expect(page).not.toContain('<img')
	})

	it('puts the cursor where there is something to type', () => {
		const focused = (page: string) => /name="(\w+)"[^>]* autofocus/.exec(page)?.[1]
		expect(focused(connectPage('en', { ...link, fields }))).toBe('username')
		const refused = { ...link, fields, username: 'ada@acme.example', problem: { name: 'refused' } as const }
		expect(focused(connectPage('en', refused))).toBe('password')
		expect(connectPage('en', refused)).toContain('value="ada@acme.example"')
	})

	it('marks what is said in English', () => {
		const problem = { name: 'untested', detail: 'The provider answered 503.' } as const
		const page = connectPage('fr', { ...link, fields, problem })
		expect(page).toContain('<html lang="fr">')
		expect(page).toContain('<span lang="en">The provider answered 503.</span>')
		expect(resultPage('fr', 'denied', { reason: 'Why.' })).toContain('<p lang="en">Why.</p>')
	})
})

describe('the invoice page', () => {
	it('is titled with the invoice and its seller, in English as its words are', () => {
		expect(view(openInvoice)).toContain('<title>Invoice INV-0042 from Nordlicht Studio GmbH</title>')
		expect(view(openInvoice)).toContain('<html lang="en">')
	})

	it('offers to pay what is due, as the document says it', () => {
		expect(view(overdueInvoice)).toContain(`<form method="post" action="${urls.payUrl}">`)
		expect(view(overdueInvoice)).toContain('>Pay $1,179.20</button>')
		expect(view(overdueInvoice)).toContain('Due <bdi>Oct 31, 2026</bdi>')
	})

	it('says instead that it is paid, cancelled or cannot be paid online', () => {
		expect(view(paidInvoice)).toContain('Paid on <bdi>3 Nov 2026</bdi>')
		expect(view(cancelledInvoice)).toContain('This invoice was cancelled. There is nothing to pay.')
		const offline = invoicePage({ document: openInvoice, ...urls, payUrl: null })
		for (const page of [view(paidInvoice), view(cancelledInvoice), offline]) {
			expect(page).not.toContain('<form')
			expect(page).toContain(`href="${urls.pdfUrl}"`)
		}
	})

	it('leaves out the parts that the invoice does not have', () => {
		const bare = view(cancelledInvoice)
		for (const absent of ['Billed to', '<dt>To</dt>', '<table', 'Notes', 'Payment terms']) expect(bare).not.toContain(absent)
		expect(view(openInvoice)).not.toContain('>Discount</th>')
		expect(view(overdueInvoice)).toContain('>Discount</th>')
	})
})

describe('the headers', () => {
	it('let a form go to the targets and nowhere else, and nothing else in', () => {
		const policy = pageHeaders(['https://checkout.stripe.com'])['Content-Security-Policy']
		expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[^ ]+'; img-src data:; form-action 'self' https:\/\/checkout/)
		expect(policy).toContain("base-uri 'none'; frame-ancestors 'none'")
	})

	it('keep the secret address out of caches, search engines and referrers', () => {
		expect(pageHeaders([])).toMatchObject({
			'Cache-Control': 'no-store',
			'Referrer-Policy': 'no-referrer',
			'X-Robots-Tag': 'noindex, nofollow',
		})
	})
})
