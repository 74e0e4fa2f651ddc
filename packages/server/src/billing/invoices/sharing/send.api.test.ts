// Sends invoices to a real mail server: the mail that arrives, and the invoice afterwards. delivery.api.test.ts covers mail
// servers that fail.
import { hash } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { eventsOf } from '../../../../test/events.ts'
import { startTestServer, type Tenant, type TestServer } from '../../../../test/harness.ts'
import { type MailServer, pdfText, startMailServer } from '../../../../test/mail-server.ts'
import type { InvoiceInput } from '../../../generated/contract.ts'
import { query } from '../../../platform/db/database.ts'

const MAIL_FROM = 'invoices@remit.example'
const to = 'billing@acme.example'
const lineItems = [{ description: 'Workshop', quantity: '3', unitPriceCents: 11_000 }]

let mail: MailServer
let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	mail = await startMailServer()
	server = await startTestServer({ SMTP_URL: mail.url, MAIL_FROM })
	tenant = await server.newTenant({ name: 'Northlight Studio', email: 'hello@northlight.example', timeZone: 'Europe/Berlin' })
})
afterEach(() => {
	mail.received.length = 0
})
afterAll(async () => {
	await server.close()
	await mail.close()
})

const create = async (invoice: InvoiceInput = { lineItems }, { remit }: Tenant = tenant) =>
	(await remit.invoices.create(invoice)).id
const read = async (id: string, { ask }: Tenant = tenant) => ask('GET', `/api/invoices/${id}`)
const post = (id: string, body: unknown, headers = {}) => tenant.ask('POST', `/api/invoices/${id}/send`, { body, headers })

const events = async (id: string) => (await eventsOf(server, tenant, id)).map(({ type }) => type)

const documentsOf = query<{ invoiceId: string }, { sha256: string }>((knex, key) => knex('documents').where(key).select('sha256'))

/** The one mail that arrived, and the text of its PDF. */
async function arrived() {
	expect(mail.received).toHaveLength(1)
	const { email, to } = mail.received[0] as MailServer['received'][number]
	const pdf = new Uint8Array(email.attachments[0]?.content as ArrayBuffer)
	return { email, to, pdf, pdfText: await pdfText(pdf) }
}

describe('the mail', () => {
	it('keeps the PDF that it mails', async () => {
		const id = await create({ lineItems })
		await post(id, { to })
		const { pdf } = await arrived()
		const rows = await server.db.all(documentsOf, { invoiceId: id })
		expect(rows).toEqual([{ sha256: hash('sha256', pdf) }])
	})

	it('warns of what the invoice lacks, and sends it', async () => {
		const codes = async (body: object) =>
			((await post(await create(body), { to })).body.warnings ?? []).map(({ code }: { code: string }) => code)
		expect(await codes({})).toEqual(['no_buyer', 'no_line_items', 'no_due_date'])
		expect(await codes({ billTo: { name: 'Acme' }, dueDate: '2026-12-31' })).toEqual(['no_line_items'])
		const { id: companyId } = await tenant.remit.companies.create({ name: 'Acme GmbH' })
		expect(await codes({ companyId, lineItems, dueDate: '2100-12-31' })).toEqual([])
		expect(await codes({ companyId, lineItems, dueDate: '2100-12-31', issuedDate: '2101-01-01' })).toEqual(['due_before_issue'])
		expect(await codes({ companyId, lineItems, dueDate: '2020-12-31' })).toEqual(['due_before_issue'])
	})

	it('brings the invoice in both bodies and as the PDF that a GET then answers', async () => {
		const company = await tenant.remit.companies.create({ name: 'Acme GmbH' })
		const id = await create({
			companyId: company.id,
			currency: 'EUR',
			dueDate: '2026-12-31',
			lineItems,
			notes: 'Room 4',
			paymentTerms: 'Within 14 days',
		})
		const { url } = await tenant.remit.invoices.clientLink.create(id)
		expect((await post(id, { to, message: 'Thank you,\nand until next time.' })).body).toEqual({ ok: true })
		const { email, to: recipients, pdf, pdfText } = await arrived()
		const { invoiceNumber } = (await read(id)).body.data
		expect(recipients).toEqual([to])
		expect(email).toMatchObject({
			subject: `Invoice ${invoiceNumber} from Northlight Studio`,
			from: { name: 'Northlight Studio via remit.example', address: MAIL_FROM },
			to: [{ address: to }],
			replyTo: [{ address: 'hello@northlight.example' }],
		})
		expect(email.attachments).toMatchObject([{ filename: `${invoiceNumber}.pdf`, mimeType: 'application/pdf' }])
		const everywhere = ['Workshop', '€110.00', '€330.00', 'Room 4', 'Within 14 days', invoiceNumber]
		for (const words of [...everywhere, 'Thank you,', 'and until next time.', url]) {
			expect(email.text).toContain(words)
			expect(email.html).toContain(words)
		}
		for (const words of [...everywhere, 'Acme GmbH', 'Amount due']) expect(pdfText).toContain(words)
		expect(pdfText).not.toContain('Draft')
		const again = await tenant.ask('GET', `/api/invoices/${id}/pdf`)
		expect(Buffer.from(pdf).equals(again.bytes)).toBe(true)
	})

	it('is one mail for all recipients, of whom bcc is in no header, with the subject and the reply address that were asked for', async () => {
		const id = await create()
		const [cc, bcc] = [['ada@acme.example', 'Billing@acme.example'], ['books@northlight.example']]
		await tenant.remit.invoices.send(id, { to, cc, bcc, replyTo: 'ann@northlight.example', subject: 'März & "April"' })
		const { email, to: recipients } = await arrived()
		expect(recipients).toEqual([to, 'ada@acme.example', 'books@northlight.example'])
		expect(email).toMatchObject({
			subject: 'März & "April"',
			to: [{ address: to }],
			cc: cc.map((address) => ({ address })),
			replyTo: [{ address: 'ann@northlight.example' }],
		})
		expect(mail.received[0]?.raw).not.toMatch(/^bcc:|books@/im)
		const { data, meta } = await tenant.remit.invoices.emails.list(id)
		expect(meta).toEqual({ total: 1, limit: 50, offset: 0, hasMore: false, nextCursor: null })
		const accepted = (address: string) => ({ address, accepted: true, answer: null })
		expect(data).toEqual([
			{
				id: expect.stringMatching(/^mail_/),
				organizationId: tenant.organizationId,
				invoiceId: id,
				to,
				cc,
				bcc,
				replyTo: 'ann@northlight.example',
				subject: 'März & "April"',
				messageId: email.messageId,
				status: 'accepted',
				reason: null,
				recipients: recipients.map(accepted),
				createdAt: server.clock.now,
				updatedAt: server.clock.now,
			},
		])
		expect(email.messageId).toBe(`<${data[0]?.id}@remit.example>`)
	})

	it('has the timesheet in its PDF when the invoice includes it, by the days of the organization', async () => {
		const dealId = await tenant.newDeal({ hourlyRateCents: 9_000 })
		const entry = { dealId, durationSeconds: 5_400, taskName: 'Checkout', startedAt: '2026-03-30T23:30:00Z' }
		const { id: entryId } = await tenant.remit.timeEntries.create(entry)
		const { id } = await tenant.remit.invoices.createFromTimeEntries({ dealId, timeEntryIds: [entryId], includeTimesheet: true })
		await post(id, { to })
		expect((await arrived()).pdfText).toMatch(/Timesheet .*Mar 31, 2026 Checkout 1\.50/)
	})

	it('treats a blank message as none, and has no reply address when the organization has none', async () => {
		const other = await server.newTenant({ name: 'Studio Two' })
		await other.remit.invoices.send(await create({ lineItems }, other), { to, message: ' \n ' })
		const { email } = await arrived()
		expect(email.replyTo).toBeUndefined()
		expect(email.text).toMatch(/^Invoice INV-0001 from Studio Two\n/)
	})

	it('keeps what others wrote as text, and out of its headers', async () => {
		const markup = '<img src=x onerror=alert(1)></title><script> <b>bold</b> &amp;'
		const broken = 'Northlight\r\nBcc: eve@evil.example\r\n\r\n'
		const other = await server.newTenant({ name: `${broken}${markup}` })
		const { id: companyId } = await other.remit.companies.create({ name: markup })
		const [description, notes, message] = [markup, `${broken}${markup}`, `${broken}${markup}`]
		const id = await create({ companyId, notes, paymentTerms: markup, lineItems: [{ description, unitPriceCents: 100 }] }, other)
		await other.remit.invoices.send(id, { to, message })
		const { email, to: recipients, pdfText } = await arrived()
		expect(recipients).toEqual([to])
		expect(email.headers.map(({ key }) => key).sort()).toEqual(
			['content-type', 'date', 'from', 'message-id', 'mime-version', 'subject', 'to'].sort(),
		)
		expect(email.subject).toContain('from Northlight')
		expect(email.html).not.toMatch(/<img|<script|onerror=[^&]*>/)
		expect(email.html).toContain('&#60;img src&#61;x')
		expect(email.text).toContain(markup)
		expect(pdfText).toContain('<b>bold</b> &amp;')
	})
})

describe('an international domain', () => {
	it('is taken wherever an address is, goes to the mail server in ASCII, and is kept as it was written', async () => {
		const email = 'Info@MÜLLER.example'
		const post = async (path: string, body: object) => (await tenant.ask('POST', path, { body })).body.id
		const read = async (path: string) => (await tenant.ask('GET', path)).body.data
		const contact = await post('/api/contacts', { name: 'Ada', email })
		expect(await read(`/api/contacts/${contact}`)).toMatchObject({ email })
		const companyId = await post('/api/companies', { name: 'Müller' })
		expect((await tenant.ask('PATCH', `/api/companies/${companyId}`, { body: { billingEmail: email } })).status).toBe(200)
		expect((await tenant.ask('PATCH', '/api/organization', { body: { email: 'us@größe.example' } })).status).toBe(200)
		const id = await create({ companyId, lineItems, billFrom: { name: 'We', email: 'we@größe.example' } })
		const sent = await tenant.ask('POST', `/api/invoices/${id}/send`, { body: { to: email, cc: ['a@例え.テスト'] } })
		expect(sent.body).toMatchObject({ ok: true })
		expect(mail.received).toHaveLength(1)
		expect(mail.received[0]?.raw).toMatch(/^To: Info@xn--mller-kva\.example\r$/m)
		expect(mail.received[0]?.raw).toMatch(/^Cc: a@xn--r8jz45g\.xn--zckzah\r$/m)
		expect(mail.received[0]?.raw).toMatch(/^Reply-To: us@xn--gre-6ka8i\.example\r$/m)
		expect(await read(`/api/invoices/${id}`)).toMatchObject({ billTo: { email }, billFrom: { email: 'we@größe.example' } })
		const [mailed] = (await tenant.ask('GET', `/api/invoices/${id}/emails`)).body.data
		expect(mailed).toMatchObject({
			to: email,
			cc: ['a@例え.テスト'],
			recipients: [{ address: email }, { address: 'a@例え.テスト' }],
		})
		await tenant.ask('PATCH', '/api/organization', { body: { email: 'hello@northlight.example' } })
	})
})

describe('the invoice', () => {
	it('that was a draft is sent, dated, and keeps its parties', async () => {
		const { id: companyId } = await tenant.remit.companies.create({ name: 'Acme GmbH', billingCity: 'Berlin' })
		const id = await create({ companyId, lineItems })
		await post(id, { to })
		const { now } = server.clock
		const sent = (await read(id)).body.data
		expect(sent).toMatchObject({ status: 'sent', sentAt: now, issuedDate: now, updatedAt: now, version: 2 })
		expect(sent).toMatchObject({ billTo: { name: 'Acme GmbH', city: 'Berlin' }, billFrom: { name: 'Northlight Studio' } })
		expect(await events(id)).toEqual(['invoice.created', 'invoice.updated', 'invoice.sent'])
		await tenant.remit.companies.update(companyId, { name: 'Acme SE', billingCity: 'Bonn' })
		expect((await read(id)).body.data.billTo).toMatchObject({ name: 'Acme GmbH', city: 'Berlin' })
	})

	it('keeps the date of issue that it has', async () => {
		const id = await create({ lineItems, issuedDate: '2026-03-31' })
		await post(id, { to })
		expect((await read(id)).body.data.issuedDate).toBe(Date.UTC(2026, 2, 31))
	})

	it.each(['paid', 'overdue'] as const)('that is %s stays so, and is now sent', async (status) => {
		const id = await create({ lineItems, status })
		await post(id, { to })
		expect((await read(id)).body.data).toMatchObject({
			status,
			sentAt: server.clock.now,
			billFrom: { name: 'Northlight Studio' },
		})
		expect((await events(id)).slice(-2)).toEqual(['invoice.updated', 'invoice.sent'])
	})

	it('that was sent is delivered again, and does not change', async () => {
		const id = await create()
		await post(id, { to })
		const before = await read(id)
		server.clock.now += 60_000
		await post(id, { to: 'other@acme.example' })
		expect(mail.received.map(({ to }) => to)).toEqual([[to], ['other@acme.example']])
		const after = await read(id)
		expect([after.text, after.headers.get('etag')]).toEqual([before.text, before.headers.get('etag')])
		expect(await events(id)).toEqual(['invoice.created', 'invoice.updated', 'invoice.sent', 'invoice.sent'])
	})

	it('that is sent twice lists each e-mail with the time of its own sending', async () => {
		const id = await create()
		const times = async () => (await tenant.remit.invoices.emails.list(id)).data.map(({ createdAt }) => createdAt)
		const first = server.clock.now
		await post(id, { to })
		server.clock.now += 60_000
		await post(id, { to })
		expect(await times()).toEqual([first + 60_000, first])
		// At one time, or when the clock was set back, it is the first moment after the earlier e-mail's.
		await post(id, { to })
		server.clock.now -= 30_000
		await post(id, { to })
		expect(await times()).toEqual([first + 60_002, first + 60_001, first + 60_000, first])
		server.clock.now += 30_000
	})

	it('that is cancelled, unknown or of another organization is not sent', async () => {
		const cancelled = await create({ lineItems, status: 'cancelled' })
		expect(await post(cancelled, { to })).toMatchObject({ status: 409, body: { code: 'invoice_cancelled' } })
		const foreign = await create({ lineItems }, server)
		for (const id of ['inv_doesnotexist00000000', foreign]) {
			expect(await post(id, { to })).toMatchObject({ status: 404, body: { code: 'invoice_not_found' } })
			expect((await tenant.ask('GET', `/api/invoices/${id}/send`)).status).toBe(404)
		}
		expect((await read(foreign, server)).body.data.status).toBe('draft')
		expect(mail.received).toEqual([])
	})
})

describe('a request', () => {
	it.each([
		'',
		'ada',
		'ada@',
		'ada@example.com\r\nBcc: eve@evil.example',
		'ada@example.com, eve@evil.example',
		'Ada <ada@example.com>',
		'ada @example.com',
		`${'a'.repeat(288)}@example.com`,
		null,
		['ada@example.com'],
	])('is refused when its recipient is not one address: %j', async (address) => {
		const id = await create()
		const { status, body } = await post(id, { to: address })
		expect([status, body.errors[0].pointer]).toEqual([400, '/to'])
		expect((await read(id)).body.data.status).toBe('draft')
		expect(mail.received).toEqual([])
	})

	it.each(['a\0b@example.com', 'a\u202eb@example.com'])('is refused when its recipient hides something: %j', async (address) => {
		const { status, body } = await post(await create(), { to: address })
		expect([status, body.errors?.[0].pointer]).toEqual([400, '/to'])
	})

	it('is refused without a recipient, with an unknown field, and with a message that is too long or holds a NUL', async () => {
		const id = await create()
		const pointerOf = async (body: unknown) => (await post(id, body)).body.errors[0].pointer
		expect(await pointerOf({})).toBe('/to')
		expect(await pointerOf({ to, copy: to })).toBe('/copy')
		expect(await pointerOf({ to, message: 'x'.repeat(10_001) })).toBe('/message')
		expect(await pointerOf({ to, message: 'a\0b' })).toBe('/message')
	})

	it.each<[string, object]>([
		['/cc/1', { cc: ['ada@acme.example', 'ada@acme.example\r\nBcc: eve@evil.example'] }],
		['/bcc/0', { bcc: ['Ada <ada@acme.example>'] }],
		['/cc', { cc: Array(11).fill('ada@acme.example') }],
		['/bcc', { bcc: 'ada@acme.example' }],
		['/replyTo', { replyTo: 'ada@acme.example, eve@evil.example' }],
		['/subject', { subject: 'Invoice\r\nBcc: eve@evil.example' }],
		['/subject', { subject: ' ' }],
		['/subject', { subject: 'x'.repeat(201) }],
		['/again', { again: 'yes' }],
		['/link', { link: 'yes' }],
	])('is refused at %s when it has %j', async (pointer, wrong) => {
		const { status, body } = await post(await create(), { to, ...wrong })
		expect([status, body.errors[0].pointer]).toEqual([400, pointer])
		expect(mail.received).toEqual([])
	})

	it('needs a key that may write', async () => {
		const id = await create()
		const { key } = await tenant.newKey(['invoices:read'])
		expect((await tenant.ask('POST', `/api/invoices/${id}/send`, { key, body: { to } })).status).toBe(403)
		expect((await tenant.ask('GET', `/api/invoices/${id}/send`, { key })).status).toBe(200)
		expect((await tenant.ask('POST', `/api/invoices/${id}/send`, { key: null, body: { to } })).status).toBe(401)
	})
})
