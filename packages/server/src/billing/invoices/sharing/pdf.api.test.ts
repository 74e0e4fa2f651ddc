// The PDF of an invoice over HTTP, with a key and by the client's link. src/platform/typeset tests the content of its pages.
import { getDocumentProxy } from 'unpdf'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../../test/harness.ts'
import { pdfText } from '../../../../test/mail-server.ts'
import type { InvoiceInput } from '../../../generated/contract.ts'

let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	server = await startTestServer()
	tenant = await server.newTenant({ name: 'Northlight Studio', timeZone: 'Europe/Berlin', locale: 'en-IE' })
})
afterAll(() => server.close())

const lineItems = [{ description: 'Workshop', quantity: '3', unitPriceCents: 11_000 }]
const create = async (invoice: InvoiceInput = { lineItems }) => (await tenant.remit.invoices.create(invoice)).id
const pdf = (id: string, options = {}) => tenant.ask('GET', `/api/invoices/${id}/pdf`, options)
const publicPath = async (id: string) =>
	`/api/invoices/public/${(await tenant.remit.invoices.clientLink.create(id)).url.split('/').at(-1)}/pdf`

describe('the PDF', () => {
	it('is a file with the number for its name', async () => {
		const id = await create({ lineItems, currency: 'EUR', invoiceNumber: 'R-2026/07', issuedDate: '2026-03-31' })
		const { status, headers, bytes } = await pdf(id)
		expect(status).toBe(200)
		expect(Object.fromEntries(headers)).toMatchObject({
			'content-type': 'application/pdf',
			'content-disposition': 'inline; filename="R-2026-07.pdf"',
			'content-length': String(bytes.length),
			'cache-control': 'private, no-cache',
			'x-content-type-options': 'nosniff',
		})
		const text = await pdfText(bytes)
		for (const words of ['Northlight Studio', 'R-2026/07', 'Draft', '31 Mar 2026', 'Workshop', '€110.00', '€330.00'])
			expect(text).toContain(words)
		// The date of issue, not the time of rendering, which would change the file each time.
		const { info } = await (await getDocumentProxy(bytes)).getMetadata()
		expect(info).toMatchObject({ CreationDate: 'D:20260331000000Z', Language: 'en' })
	})

	it.each([
		['A/B "x"', 'A-B-x'],
		['../../etc/passwd', 'etc-passwd'],
		['.hidden', 'hidden'],
		['2026\\07; filename*=x', '2026-07-filename-x'],
		['№ 7', 'No-7'],
	])('of the invoice %j is called %s.pdf', async (invoiceNumber, name) => {
		const { headers } = await pdf(await create({ lineItems, invoiceNumber }))
		expect(headers.get('content-disposition')).toBe(`inline; filename="${name}.pdf"`)
	})

	it.each([
		['A/B é', 'A-B-e', 'A-B-%C3%A9'],
		['請求書 7', '7', '%E8%AB%8B%E6%B1%82%E6%9B%B8-7'],
		['請求書', 'invoice', '%E8%AB%8B%E6%B1%82%E6%9B%B8'],
		['हिंदी', 'invoice', '%E0%A4%B9%E0%A4%BF%E0%A4%82%E0%A4%A6%E0%A5%80'],
	])('of the invoice %j keeps its script, and is %s.pdf where only ASCII is read', async (invoiceNumber, ascii, encoded) => {
		const { headers } = await pdf(await create({ lineItems, invoiceNumber }))
		expect(headers.get('content-disposition')).toBe(`inline; filename="${ascii}.pdf"; filename*=UTF-8''${encoded}.pdf`)
	})

	it('has the same bytes each time, until the invoice changes', async () => {
		const id = await create()
		const [first, second] = [await pdf(id), await pdf(id)]
		expect(Buffer.from(first.bytes).equals(second.bytes)).toBe(true)
		await tenant.remit.invoices.update(id, { notes: 'Room 4' })
		const third = await pdf(id)
		expect(Buffer.from(first.bytes).equals(third.bytes)).toBe(false)
		expect(await pdfText(third.bytes)).toContain('Room 4')
	})

	it('names the buyer and the seller of the first sending ever after', async () => {
		const { id: companyId } = await tenant.remit.companies.create({ name: 'Acme GmbH' })
		const id = await create({ lineItems, companyId })
		await tenant.remit.companies.update(companyId, { name: 'Acme AG' })
		expect(await pdfText((await pdf(id)).bytes)).toContain('Acme AG')
		await tenant.remit.invoices.update(id, { status: 'sent' })
		await tenant.remit.companies.update(companyId, { name: 'Acme SE' })
		expect(await pdfText((await pdf(id)).bytes)).toContain('Acme AG')
	})

	it('shows the timesheet and the rates when the invoice is to have them', async () => {
		const dealId = await tenant.newDeal({ currency: 'EUR' })
		const entry = await tenant.newTimeEntry({ dealId, taskName: 'Checkout', startedAt: '2026-03-30T23:30:00Z' })
		const { id } = await tenant.remit.invoices.createFromTimeEntries({
			dealId,
			timeEntryIds: [entry],
			includeTimesheet: true,
			showRateBreakdown: true,
		})
		const text = await pdfText((await pdf(id)).bytes)
		expect(text).toMatch(/Hours by rate .*€100\.00 1\.00 €100\.00/)
		expect(text).toMatch(/Timesheet .*31 Mar 2026 Checkout 1\.00/)
		await tenant.remit.invoices.update(id, { includeTimesheet: false, showRateBreakdown: false })
		expect(await pdfText((await pdf(id)).bytes)).not.toMatch(/Timesheet|Hours by rate/)
	})

	it('is for those who may see the invoice', async () => {
		const id = await create()
		const { key } = await tenant.newKey(['invoices:read'])
		const other = await tenant.newKey(['companies:read'])
		const statuses = [{ key }, { key: other.key }, { key: null }, { key: server.key }].map(
			async (options) => (await pdf(id, options)).status,
		)
		expect(await Promise.all(statuses)).toEqual([200, 403, 401, 404])
		expect((await pdf('inv_doesnotexist00000000')).body.code).toBe('invoice_not_found')
	})

	it('leaves the server free for others while it is set', async () => {
		const id = await create({
			lineItems: Array.from({ length: 500 }, (_, row) => ({ description: `Row ${row}`, unitPriceCents: 100 })),
		})
		let setting = true
		const document = pdf(id).finally(() => {
			setting = false
		})
		let answered = 0
		while (setting) {
			expect((await fetch(`${server.url}/health`)).status).toBe(200)
			answered++
		}
		expect((await document).status).toBe(200)
		expect(answered).toBeGreaterThan(10)
	})
})

describe("the client's PDF", () => {
	it('needs no key, is the same file, goes into no cache and counts as no view', async () => {
		const id = await create()
		const path = await publicPath(id)
		const theirs = await tenant.ask('GET', path, { key: null })
		expect(Object.fromEntries(theirs.headers)).toMatchObject({
			'content-type': 'application/pdf',
			'cache-control': 'no-store',
			'referrer-policy': 'no-referrer',
			'x-robots-tag': 'noindex, nofollow',
		})
		const ours = await pdf(id)
		expect(Buffer.from(theirs.bytes).equals(ours.bytes)).toBe(true)
		expect(theirs.headers.get('content-disposition')).toBe(ours.headers.get('content-disposition'))
		expect((await tenant.ask('GET', `/api/invoices/${id}`)).body.data).toMatchObject({ viewCount: 0, viewedAt: null })
	})

	it('is answered to HEAD without its bytes', async () => {
		const { status, headers, bytes } = await tenant.ask('HEAD', await publicPath(await create()), { key: null })
		expect([status, headers.get('content-type'), bytes.length]).toEqual([200, 'application/pdf', 0])
		expect(Number(headers.get('content-length'))).toBeGreaterThan(5_000)
	})

	it('is gone with the link', async () => {
		const id = await create()
		const path = await publicPath(id)
		await tenant.remit.invoices.clientLink.delete(id)
		const { status, body, headers } = await tenant.ask('GET', path, { key: null })
		expect([status, body.code, headers.get('cache-control')]).toEqual([404, 'client_link_not_found', 'no-store'])
	})
})

describe('visitors who hang up', () => {
	it("do not make another organization's PDF wait, and leave nothing in the queue", async () => {
		const description = 'Work of this week '.repeat(20)
		const heavy = () => create({ lineItems: Array.from({ length: 400 }, () => ({ description, unitPriceCents: 100 })) })
		const startedAt = performance.now()
		await pdf(await heavy())
		const alone = performance.now() - startedAt
		const paths = await Promise.all(Array.from({ length: 8 }, async () => publicPath(await heavy())))
		const other = await server.newTenant()
		const { id } = await other.remit.invoices.create({ lineItems })
		const visitors = new AbortController()
		const visits = paths.map((path) => fetch(server.url + path, { signal: visitors.signal }))
		// When a later request is answered, the visits have reached the server.
		await tenant.ask('GET', '/api/invoices')
		visitors.abort()
		await Promise.allSettled(visits)
		const askedAt = performance.now()
		expect((await other.ask('GET', `/api/invoices/${id}/pdf`)).status).toBe(200)
		expect(performance.now() - askedAt).toBeLessThan(4 * alone)
	})
})
