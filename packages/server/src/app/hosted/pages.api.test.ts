// The hosted pages of the real server: the answer and headers of each path, and the way to the processor's page.
// flow.e2e.test.ts and app/hosted/pages.e2e.test.ts cover how they look and work in a browser.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { browser, startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { pdfText } from '../../../test/mail-server.ts'
import { markAsDemo } from '../../accounts/organizations/store.ts'
import type { InvoiceInput } from '../../generated/contract.ts'

let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	server = await startTestServer({ PAYMENT_PROCESSOR: 'test' })
	tenant = await server.newTenant({ name: 'Northlight Studio', timeZone: 'Europe/Berlin', locale: 'de-DE' })
})
afterAll(() => server.close())

const create = async (invoice: InvoiceInput = { totalCents: 123_456, currency: 'EUR' }) =>
	(await tenant.remit.invoices.create(invoice)).id
const pageOf = async (id: string) => (await tenant.remit.invoices.clientLink.create(id)).url
const read = async (id: string) => (await tenant.ask('GET', `/api/invoices/${id}`)).body.data

async function open(url: string, options: RequestInit = {}) {
	const answer = await fetch(url, { redirect: 'manual', ...options })
	return { status: answer.status, headers: Object.fromEntries(answer.headers), text: await answer.text() }
}

const secret = {
	'content-type': 'text/html; charset=utf-8',
	'cache-control': 'no-store',
	'referrer-policy': 'no-referrer',
	'x-robots-tag': 'noindex, nofollow',
	'x-content-type-options': 'nosniff',
	'cross-origin-opener-policy': 'same-origin',
}

describe('the page of an invoice', () => {
	it('shows it in English words, with the numbers of the organization and nothing from elsewhere', async () => {
		const id = await create({
			lineItems: [{ description: 'Workshop', quantity: '1.5', unit: 'day', unitPriceCents: 90_000 }],
			currency: 'EUR',
			issuedDate: '2026-03-31',
			notes: 'Danke',
		})
		const { status, headers, text } = await open(await pageOf(id))
		expect(status).toBe(200)
		expect(headers).toMatchObject(secret)
		const policy = headers['content-security-policy']
		expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; img-src data:; form-action 'self' http:\/\/\S+; /)
		expect(policy).toContain("frame-ancestors 'none'")
		expect(text).toMatch(/^<!doctype html>\n<html lang="en">/)
		const shown = ['<title>Invoice INV-', 'Northlight Studio', 'Workshop', '1,5 day', '1.350,00\u00a0€', '31.03.2026', 'Danke']
		for (const words of shown) expect(text).toContain(words)
		expect(text).not.toMatch(/(org|inv|li|dl|cmp)_[A-Za-z0-9_-]{10}|<script/)
	})

	it('counts a view when a person opens it', async () => {
		const id = await create()
		const page = await pageOf(id)
		await open(page, { headers: { 'sec-purpose': 'prefetch' } })
		const head = await open(page, { method: 'HEAD' })
		expect([head.status, head.text, head.headers]).toMatchObject([200, '', secret])
		expect((await read(id)).viewCount).toBe(0)
		await open(page, { headers: { 'user-agent': browser } })
		expect((await read(id)).viewCount).toBe(1)
	})

	it('keeps what others wrote as text', async () => {
		const markup = '</title></style><img src=x onerror=alert(1)>&amp;"'
		const { id: companyId } = await tenant.remit.companies.create({ name: markup })
		const line = { description: markup, unit: '<b>', unitPriceCents: 100, taxes: [{ label: markup, percent: '19' }] }
		const id = await create({ companyId, invoiceNumber: markup, notes: markup, paymentTerms: markup, lineItems: [line] })
		const { text } = await open(await pageOf(id))
		expect(text).not.toMatch(/<img|<b>/)
		expect(text.match(/<\/title>|<\/style>/g)).toEqual(['</title>', '</style>'])
		expect(text.match(/&#60;img/g)?.length).toBeGreaterThan(5)
	})

	it('leads to the PDF', async () => {
		const { text } = await open(await pageOf(await create()))
		const url = /href="([^"]+)">Download PDF/.exec(text)?.[1]?.replaceAll('&#61;', '=') as string
		expect((await open(url)).headers['content-type']).toBe('application/pdf')
	})

	it.each<[string, InvoiceInput, RegExp]>([
		['open', { totalCents: 100 }, />Pay \$1\.00</],
		['paid', { totalCents: 100, status: 'paid' }, /Paid on/],
		['cancelled', { totalCents: 100, status: 'cancelled' }, /This invoice was cancelled/],
		['for nothing', { totalCents: 0 }, /There is nothing to pay/],
	])('offers to pay when there is something to pay: %s', async (name, invoice, words) => {
		const other = await server.newTenant()
		const { id } = await other.remit.invoices.create(invoice)
		const { text } = await open((await other.remit.invoices.clientLink.create(id)).url)
		expect(text).toMatch(words)
		expect(text.includes('<form')).toBe(name === 'open')
	})

	it('offers no payment where none are taken', async () => {
		const page = await pageOf(await create())
		const other = await startTestServer({ ...server.settings, PAYMENT_PROCESSOR: 'none' })
		const there = page.replace(server.url, other.url)
		const { status, text, headers } = await open(there)
		expect([status, text.includes('<form')]).toEqual([200, false])
		expect(headers['content-security-policy']).toContain("form-action 'self'; ")
		const { status: refused, text: words } = await open(`${there}/pay`, { method: 'POST' })
		expect([refused, words]).toEqual([409, expect.stringContaining('The payment could not be started')])
		await other.close()
	})
})

describe('a server that others can reach', () => {
	const open0 = async (settings: object) => {
		const other = await startTestServer({ HOST: '0.0.0.0', ...settings })
		const { id } = await other.remit.invoices.create({ totalCents: 100 })
		const { pathname } = new URL((await other.remit.invoices.clientLink.create(id)).url)
		const read = async () => (await open(other.url + pathname)).text
		return { other, read }
	}

	it('says on its pages that its payments are not real, and that a demo is made up', async () => {
		const { other, read } = await open0({ PAYMENT_PROCESSOR: 'test' })
		expect(await read()).toContain('Test mode: payments on this page are not real.')
		await other.db.transaction((tx) => markAsDemo(tx, other.organizationId))
		expect(await read()).toContain('Demo: this invoice is made up.')
		await other.close()
		expect(await (await open(await pageOf(await create()))).text).not.toMatch(/Demo:|Test mode:/)
	})

	it('says neither where both are real', async () => {
		const { other, read } = await open0({ PAYMENT_PROCESSOR: 'none' })
		expect(await read()).not.toMatch(/Demo:|Test mode:/)
		await other.close()
	})
})

describe('a link that does not work', () => {
	it.each([
		'/view/invoice/unknown',
		'/view/invoice/unknown/paid',
		'/view/invoice/%E0%A4%A',
		'/view/invoice/',
		'/view/invoice/a/b/c',
		'/view',
		'/pay/test/unknown',
		'/pay/test/%ff',
		'/pay/test/%E0%A4%A',
		'/view/%ff',
		'/view/invoice/%ff/paid',
	])('%s is a page that says so', async (path) => {
		const { status, headers, text } = await open(server.url + path)
		expect([status, headers, text]).toMatchObject([404, secret, expect.stringContaining('This link does not work any more')])
		expect(headers['x-request-id']).toMatch(/^req_/)
	})

	it('is the same page when it was revoked', async () => {
		const id = await create()
		const page = await pageOf(id)
		await tenant.remit.invoices.clientLink.delete(id)
		const { status, text } = await open(page)
		expect([status, text]).toEqual([404, (await open(`${server.url}/view/invoice/unknown`)).text])
		expect((await open(`${page}/pay`, { method: 'POST' })).status).toBe(404)
	})
})

describe('a page without an invoice', () => {
	it('is in the first language of the browser that there is, and one about an invoice in the language of that', async () => {
		const heading = async (url: string, languages: string) => {
			const { text } = await open(url, { headers: { 'accept-language': languages } })
			return /<html lang="(..)">.*<h1[^>]*>([^<]*)</s.exec(text)?.slice(1)
		}
		const unknown = `${server.url}/view/invoice/unknown`
		expect(await heading(unknown, 'sv, de-AT;q=0.9, fr;q=0.8')).toEqual(['de', 'Dieser Link funktioniert nicht mehr'])
		expect(await heading(unknown, 'sv')).toEqual(['en', 'This link does not work any more'])
		expect(await heading(`${server.url}/payments/received`, 'fr')).toEqual(['fr', 'Merci pour votre paiement'])
		const page = await pageOf(await create({ totalCents: 100, language: 'it' }))
		expect(await heading(`${page}/paid`, 'de')).toEqual(['it', 'Grazie per il pagamento'])
		const { text } = await open(await pageOf(await create({ totalCents: 0, language: 'pl' })).then((url) => `${url}/pay`), {
			method: 'POST',
		})
		expect(text).toContain('<h1>Nie ma nic do zapłaty</h1>')
	})
})

describe('another method', () => {
	it.each([
		['POST', '', 'GET, HEAD'],
		['DELETE', '', 'GET, HEAD'],
		['GET', '/pay', 'POST'],
		['PUT', '/pay', 'POST'],
		['POST', '/paid', 'GET, HEAD'],
	])('than its own is refused: %s …%s', async (method, end, allow) => {
		const { status, headers } = await open((await pageOf(await create())) + end, { method })
		expect([status, headers.allow]).toEqual([405, allow])
		expect(headers).toMatchObject(secret)
	})

	it('than its own is refused by the pages without an invoice', async () => {
		for (const path of ['/payments/received', '/payments/cancelled']) {
			expect((await open(server.url + path)).status).toBe(200)
			const { status, headers } = await open(server.url + path, { method: 'POST' })
			expect([status, headers.allow]).toEqual([405, 'GET, HEAD'])
		}
	})
})

describe('paying', () => {
	it('leads to the page of the processor, from there back, and the invoice is paid', async () => {
		const id = await create()
		const page = await pageOf(id)
		const begun = await open(`${page}/pay`, { method: 'POST', headers: { origin: 'null' } })
		expect([begun.status, begun.headers]).toMatchObject([303, { 'cache-control': 'no-store' }])
		const processor = begun.headers.location as string
		expect((await open(`${page}/pay`, { method: 'POST' })).headers.location).toBe(processor)
		const test = await open(processor)
		expect([test.status, test.headers]).toMatchObject([200, secret])
		for (const words of ['no money moves', '1.234,56\u00a0€', 'Northlight Studio', `href="${page}"`])
			expect(test.text).toContain(words)
		const paid = await open(processor, { method: 'POST' })
		expect([paid.status, paid.headers.location]).toEqual([303, `${page}/paid`])
		const thanks = await open(paid.headers.location as string)
		expect(thanks.text).toContain('Thank you for your payment')
		expect(thanks.text).toContain(`href="${page}"`)
		expect(await read(id)).toMatchObject({ status: 'paid', paymentMethod: 'test', amountDueCents: 0 })
		const after = await open(page)
		expect(after.text).toContain('Paid on')
		expect(after.text).not.toContain('<form')
		const again = await open(`${page}/pay`, { method: 'POST' })
		expect([again.status, again.text]).toEqual([422, expect.stringContaining('There is nothing to pay')])
		// It leads to the receipt.
		expect((await open(processor)).status).toBe(303)
	})

	it('is offered for the rest of an invoice that was called paid before its total rose', async () => {
		const id = await create({ totalCents: 10_000, currency: 'EUR', status: 'paid', paidDate: '2026-02-03' })
		await tenant.remit.invoices.update(id, { totalCents: 12_345 })
		expect(await read(id)).toMatchObject({ status: 'paid', amountDueCents: 2_345 })
		const page = await pageOf(id)
		const { text } = await open(page)
		expect(text).toContain('>Pay 23,45\u00a0€</')
		expect(text).toContain('<span class="badge sent">Open</span>')
		expect(text).not.toContain('Paid on')
		const { payUrl, pdfUrl } = (
			await tenant.ask('GET', new URL(page).pathname.replace('/view/invoice/', '/api/invoices/public/'))
		).body.data
		expect(payUrl).toBe(page)
		expect(await pdfText(new Uint8Array(await (await fetch(pdfUrl)).arrayBuffer()))).toContain('Amount due 23,45 €')
		expect((await open(`${page}/paid`)).text).toContain('The invoice shows it as soon as it is confirmed')
		const processor = (await open(`${page}/pay`, { method: 'POST' })).headers.location as string
		const paid = await open(processor, { method: 'POST' })
		expect((await open(paid.headers.location as string)).text).toContain('123,45\u00a0€')
		expect(await read(id)).toMatchObject({ status: 'paid', amountPaidCents: 12_345, amountDueCents: 0 })
		expect((await open(page)).text).toContain('Paid on')
	})
})
