// Characters that no font of the PDF has: whoever writes them is told before the client sees U+FFFD.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../../test/harness.ts'
import { type MailServer, pdfText, startMailServer } from '../../../../test/mail-server.ts'

let mail: MailServer
let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	mail = await startMailServer()
	server = await startTestServer({ SMTP_URL: mail.url, MAIL_FROM: 'invoices@remit.example' })
	tenant = await server.newTenant({ name: 'Studio ไทย' })
})
afterAll(async () => {
	await server.close()
	await mail.close()
})

const invoice = async () => ({
	companyId: (await tenant.remit.companies.create({ name: 'בע״מ Ltd' })).id,
	dueDate: '2030-12-31',
	lineItems: [{ description: 'Design' }, { description: 'Workshop 😀 and 😀', unitPriceCents: 100, unit: 'day' }],
})

const expected = [
	['/billFrom/name', 'The PDF shows \ufffd in billFrom.name in place of ไ ท ย: none of its fonts has that.'],
	['/billTo/name', 'The PDF shows \ufffd in billTo.name in place of ב ע ״ מ: none of its fonts has that.'],
	['/lineItems/1/description', 'The PDF shows \ufffd in lineItems.1.description in place of 😀: none of its fonts has that.'],
].map(([pointer, detail]) => ({ code: 'unprintable_text', pointer, detail }))

it('a preview, the question whether it can be sent, and sending name each field and its characters', async () => {
	const body = await invoice()
	expect((await tenant.remit.invoices.preview(body)).warnings).toEqual(expected)
	const { id } = await tenant.remit.invoices.create(body)
	expect((await tenant.remit.invoices.sendStatus(id)).warnings).toEqual(expected)
	expect(await tenant.remit.invoices.send(id, { to: 'ada@acme.example' })).toEqual({ ok: true, warnings: expected })
	const text = await pdfText(new Uint8Array(mail.received[0]?.email.attachments[0]?.content as ArrayBuffer))
	expect(text).toContain('Workshop \ufffd and \ufffd')
})

it('nothing is said of an invoice whose PDF shows all', async () => {
	const other = await server.newTenant({ name: 'Größe 請求書 فاتورة' })
	expect(await other.remit.invoices.preview({ notes: 'Ελλάδα' })).not.toHaveProperty('warnings')
	const { id } = await other.remit.invoices.create({ notes: 'Ελλάδα' })
	expect(await other.remit.invoices.sendStatus(id)).not.toHaveProperty('warnings')
})

it('nothing is said of a text that the PDF does not show: what only the seller has on it, and ids of time entries', async () => {
	const other = await server.newTenant({ name: 'Studio' })
	const dealId = await other.newDeal({ hourlyRateCents: 9_000 })
	const ids = { userId: 'ไ', taskId: 'ไ', deliverableId: 'ไ' }
	const { id: entry } = await other.remit.timeEntries.create({
		...{ dealId, durationSeconds: 3_600, startedAt: '2026-03-31T09:00:00Z' },
		...ids,
	})
	const request = { dealId, timeEntryIds: [entry], includeTimesheet: true, groupBy: 'all' as const }
	const { id } = await other.remit.invoices.createFromTimeEntries(request)
	await other.remit.invoices.update(id, { billTo: { name: 'Acme', email: 'info@ไทย.example', phone: 'ไ', footer: 'ไ' } })
	const { warnings = [] } = await other.remit.invoices.sendStatus(id)
	expect(warnings.filter(({ code }) => code === 'unprintable_text')).toEqual([])
})

it('an entry of the timesheet is named as well', async () => {
	const other = await server.newTenant({ name: 'Studio' })
	const dealId = await other.newDeal({ hourlyRateCents: 9_000 })
	const { id: entry } = await other.remit.timeEntries.create({
		dealId,
		durationSeconds: 3_600,
		description: 'ไ',
		startedAt: '2026-03-31T09:00:00Z',
	})
	const request = { dealId, timeEntryIds: [entry], includeTimesheet: true, groupBy: 'all' as const }
	const { id } = await other.remit.invoices.createFromTimeEntries(request)
	const { warnings = [] } = await other.remit.invoices.sendStatus(id)
	expect(warnings.map(({ pointer }) => pointer)).toContain('/timeEntries/0/description')
})
