// The link to the invoice in its e-mail and on its PDF, where the client views and pays it.
import type { Email } from 'postal-mime'
import { getDocumentProxy } from 'unpdf'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../../test/harness.ts'
import { type MailServer, pdfText, startMailServer } from '../../../../test/mail-server.ts'

const to = 'billing@acme.example'
const lineItems = [{ description: 'Workshop', quantity: '3', unitPriceCents: 11_000 }]

let mail: MailServer
let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	mail = await startMailServer()
	server = await startTestServer({ SMTP_URL: mail.url, MAIL_FROM: 'invoices@remit.example', PAYMENT_PROCESSOR: 'none' })
})
beforeEach(async () => {
	mail.received.length = 0
	mail.beforeAnswer = () => {}
	tenant = await server.newTenant({ name: 'Northlight Studio' })
})
afterAll(async () => {
	await server.close()
	await mail.close()
})

const create = async (fields: object = {}) => (await tenant.remit.invoices.create({ lineItems, ...fields })).id
const send = (id: string, more: object = {}) => tenant.remit.invoices.send(id, { to, ...more })
const linkOf = async (id: string) => (await tenant.remit.invoices.clientLink.get(id)).url
const statusOf = async (url: string) => (await fetch(url)).status

/** The link in an e-mail: the same in the HTML and in the plain text, or in neither. */
function linkIn({ text = '', html = '' }: Email) {
	const url = /https?:\/\/\S+\/view\/invoice\/\S+/.exec(text)?.[0]
	expect(/href="([^"]*\/view\/invoice\/[^"]*)"/.exec(html)?.[1]).toBe(url)
	return url
}

async function arrived() {
	const { email } = mail.received.at(-1) as MailServer['received'][number]
	const pdf = Buffer.from(email.attachments[0]?.content as ArrayBuffer)
	const page = await (await getDocumentProxy(new Uint8Array(pdf))).getPage(1)
	const linksOfPdf = (await page.getAnnotations()).map(({ url }) => url)
	return { email, link: linkIn(email), pdf, linksOfPdf, pdfText: await pdfText(pdf) }
}

describe('an e-mail', () => {
	it('has the link to its invoice, which sending makes, and so has its PDF', async () => {
		const id = await create()
		expect((await send(id)).ok).toBe(true)
		const { email, link, linksOfPdf, pdf, pdfText } = await arrived()
		const url = await linkOf(id)
		expect([link, linksOfPdf]).toEqual([url, [url]])
		for (const words of [email.text, email.html, pdfText]) expect(words).toContain('View online')
		expect(await tenant.remit.invoices.document(id)).toMatchObject({ viewUrl: url, paymentUrl: null })
		expect(Buffer.from(await tenant.remit.invoices.pdf(id)).equals(pdf)).toBe(true)
		expect(await statusOf(url)).toBe(200)
	})

	it('has the same link each time, for all recipients', async () => {
		const id = await create()
		await send(id)
		await send(id, { to: 'other@acme.example', cc: ['ada@acme.example'] })
		expect(mail.received.map(({ email }) => linkIn(email))).toEqual(Array(2).fill(await linkOf(id)))
		const history = (await tenant.ask('GET', `/api/invoices/${id}/history`)).body.data
		expect(history.filter(({ action }: { action: string }) => action === 'shared')).toHaveLength(1)
	})

	it('leads to where it can be paid, in an organization that takes payments', async () => {
		const paying = await startTestServer({ ...server.settings, PAYMENT_PROCESSOR: 'test' })
		const id = await create()
		const { key } = tenant
		expect((await paying.ask('POST', `/api/invoices/${id}/send`, { key, body: { to } })).status).toBe(200)
		const { email, link, linksOfPdf, pdfText } = await arrived()
		const { url } = (await paying.ask('GET', `/api/invoices/${id}/client-link`, { key })).body
		expect([link, linksOfPdf]).toEqual([url, [url]])
		for (const words of [email.text, email.html]) expect(words).toContain('View and pay online')
		expect(pdfText).toContain('Pay online')
		const { body } = await paying.ask('GET', `/api/invoices/public/${url.split('/').at(-1)}`, { key: null })
		expect(body.data.payUrl).toBe(url)
		await paying.close()
	})

	it('has another link once the earlier one was revoked', async () => {
		const id = await create()
		await send(id)
		const first = (await arrived()).link as string
		await tenant.remit.invoices.clientLink.delete(id)
		await send(id)
		const { link: second = '', linksOfPdf } = await arrived()
		expect(linksOfPdf).toEqual([second])
		expect([await statusOf(first), await statusOf(second)]).toEqual([404, 200])
	})

	it('has no link when none is wanted, and none is made', async () => {
		const id = await create()
		await send(id, { link: false })
		const { link, linksOfPdf, pdf } = await arrived()
		expect([link, linksOfPdf]).toEqual([undefined, []])
		await expect(linkOf(id)).rejects.toMatchObject({ code: 'client_link_not_found' })
		// A link that is made later changes nothing of the PDF that the client has, until an e-mail brings it.
		await tenant.remit.invoices.clientLink.create(id)
		expect(Buffer.from(await tenant.remit.invoices.pdf(id)).equals(pdf)).toBe(true)
		await send(id, { link: false })
		const again = await arrived()
		expect([again.link, again.pdf.equals(pdf)]).toEqual([undefined, true])
		await send(id)
		const url = await linkOf(id)
		expect(await arrived()).toMatchObject({ link: url, linksOfPdf: [url] })
	})

	it('of an organization that shows no drafts has a link that works once the invoice is sent', async () => {
		await tenant.remit.organization.update({ publishDrafts: false })
		const id = await create()
		let during = 0
		mail.beforeAnswer = async () => {
			during = await statusOf(linkIn(mail.received[0]?.email as Email) ?? mail.url)
		}
		await send(id)
		expect([during, await statusOf(await linkOf(id))]).toEqual([404, 200])
	})

	it('that must not leave makes no link', async () => {
		const id = await create({ status: 'cancelled' })
		await expect(send(id)).rejects.toMatchObject({ code: 'invoice_cancelled' })
		await expect(linkOf(id)).rejects.toMatchObject({ code: 'client_link_not_found' })
	})
})
