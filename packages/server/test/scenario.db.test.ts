// The whole way from tracked time to a paid invoice, as users go it: over HTTP and through the SDK, for clients of three languages.
// The mail server, the browser's requests and the payment page are real.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type {
	DealCreate,
	InvoiceSend,
	Language,
	LineItem,
	TimeEntriesInvoice,
	TimeEntryCreate,
} from '../src/generated/contract.ts'
import { query } from '../src/platform/db/database.ts'
import { wordsOf } from '../src/platform/rendering/words/languages.ts'
import { browser, startTestServer, type Tenant, type TestServer } from './harness.ts'
import { englishIn, readable } from './language.ts'
import { type MailServer, pdfText, startMailServer } from './mail-server.ts'

let server: TestServer
let mail: MailServer
beforeAll(async () => {
	mail = await startMailServer()
	server = await startTestServer({ SMTP_URL: mail.url, MAIL_FROM: 'invoices@remit.example', PAYMENT_PROCESSOR: 'test' })
})
afterAll(async () => {
	await server.close()
	await mail.close()
})

/** The calls of the scenario: once as plain requests, once through the SDK. */
interface Way {
	company(name: string, billingEmail: string, language: Language): Promise<string>
	deal(input: DealCreate): Promise<string>
	timeEntry(input: TimeEntryCreate): Promise<string>
	fromTimeEntries(input: TimeEntriesInvoice): Promise<{ id: string; invoiceNumber: string }>
	send(id: string, input: InvoiceSend): Promise<void>
	clientLink(id: string): Promise<string>
	paymentLink(id: string): Promise<string>
	invoice(id: string): Promise<{ status: string; totalCents: number; lineItems: LineItem[]; [field: string]: unknown }>
	dealStage(id: string): Promise<string>
	pdf(id: string): Promise<Uint8Array>
}

const overHttp = ({ ask, key }: Tenant): Way => {
	const made = async (path: string, body: object) => {
		const answer = await ask('POST', path, { body })
		expect(answer.status).toBe(201)
		return answer.body
	}
	const read = async (path: string) => (await ask('GET', path)).body.data
	return {
		company: async (name, billingEmail, language) => (await made('/api/companies', { name, billingEmail, language })).id,
		deal: async (input) => (await made('/api/deals', input)).id,
		timeEntry: async (input) => (await made('/api/time-entries', input)).id,
		fromTimeEntries: (input) => made('/api/invoices/from-time-entries', input),
		send: async (id, body) => expect((await ask('POST', `/api/invoices/${id}/send`, { body })).body).toMatchObject({ ok: true }),
		clientLink: async (id) => (await ask('POST', `/api/invoices/${id}/client-link`)).body.url,
		paymentLink: async (id) => (await ask('POST', `/api/invoices/${id}/payment-link`)).body.url,
		invoice: (id) => read(`/api/invoices/${id}`),
		dealStage: async (id) => (await read(`/api/deals/${id}`)).stage,
		pdf: async (id) => {
			const answer = await fetch(`${server.url}/api/invoices/${id}/pdf`, { headers: { authorization: `Bearer ${key}` } })
			expect(answer.headers.get('content-type')).toBe('application/pdf')
			return new Uint8Array(await answer.arrayBuffer())
		},
	}
}

const throughTheSdk = ({ remit }: Tenant): Way => ({
	company: async (name, billingEmail, language) => (await remit.companies.create({ name, billingEmail, language })).id,
	deal: async (input) => (await remit.deals.create(input)).id,
	timeEntry: async (input) => (await remit.timeEntries.create(input)).id,
	fromTimeEntries: async (input) => remit.invoices.createFromTimeEntries(input),
	send: async (id, input) => expect(await remit.invoices.send(id, input)).toMatchObject({ ok: true }),
	clientLink: async (id) => (await remit.invoices.clientLink.create(id)).url,
	paymentLink: async (id) => (await remit.invoices.paymentLink.create(id)).url,
	invoice: async (id) => ({ ...(await remit.invoices.get(id)) }),
	dealStage: async (id) => (await remit.deals.get(id)).stage,
	pdf: async (id) => remit.invoices.pdf(id),
})

const eventTypes = query<{ organizationId: string }, { type: string }>((knex, { organizationId }) =>
	knex('events').where({ organizationId }).orderBy('position').select('type'),
)

/** What the client reads of the invoice. */
const read = {
	en: {
		subject: 'Invoice INV-0001 from Northlight Studio',
		pay: 'Pay €597.53',
		amounts: ['€275.03', '€247.50', '€75.00', '€597.53'],
	},
	de: {
		subject: 'Rechnung INV-0001 von Northlight Studio',
		pay: '597,53\u00a0€ bezahlen',
		amounts: ['275,03 €', '247,50 €', '75,00 €', '597,53 €'],
	},
	fr: {
		subject: 'Facture INV-0001 de Northlight Studio',
		pay: 'Payer 597,53\u00a0€',
		amounts: ['275,03 €', '247,50 €', '75,00 €', '597,53 €'],
	},
} as const
const documentLanguages = Object.keys(read) as (keyof typeof read)[]

describe.each([
	['over HTTP', overHttp],
	['through the SDK', throughTheSdk],
])('%s', (_, wayOf) => {
	it.each(documentLanguages)(
		'time on a deal becomes an invoice in %s, is sent, viewed and paid, and the deal moves on',
		async (language) => {
			const words = wordsOf(language)
			const inLanguage = (text: string) => {
				if (language !== 'en') expect(englishIn(text, language)).toEqual([])
				return text
			}
			const tenant = await server.newTenant({
				name: 'Northlight Studio',
				defaultCurrency: 'EUR',
				email: 'hello@northlight.example',
			})
			const way = wayOf(tenant)
			const companyId = await way.company('Acme GmbH', 'billing@acme.example', language)
			const dealId = await way.deal({ name: 'Web shop', companyId, stage: 'in_progress', hourlyRateCents: 11_000 })
			const work = [
				{ taskName: 'Checkout', durationSeconds: 5_400 },
				{ taskName: 'Checkout', durationSeconds: 3_601 },
				{ taskName: 'Search', durationSeconds: 7_200 },
				{ taskName: 'Search', durationSeconds: 900 },
				{ taskName: 'Review', durationSeconds: 1_800, hourlyRateCents: 15_000 },
			]
			const timeEntryIds: string[] = []
			for (const [day, entry] of work.entries()) {
				timeEntryIds.push(await way.timeEntry({ ...entry, dealId, startedAt: `2026-03-0${day + 2}T09:00:00+01:00` }))
			}
			const { id, invoiceNumber } = await way.fromTimeEntries({ dealId, timeEntryIds, groupBy: 'task', includeTimesheet: true })
			expect(invoiceNumber).toBe('INV-0001')

			// 9001 s at 110.00 are 275.0305…, 8100 s are 247.50, 1800 s at 150.00 are 75.00.
			const draft = await way.invoice(id)
			expect(draft).toMatchObject({ status: 'draft', totalCents: 27_503 + 24_750 + 7_500, currency: 'EUR', companyId, dealId })
			expect(draft.lineItems.map(({ description, amountCents }) => [description, amountCents])).toEqual([
				['Checkout', 27_503],
				['Search', 24_750],
				['Review', 7_500],
			])

			const page = await way.clientLink(id)
			await way.send(id, { to: 'billing@acme.example', message: 'Lorem.\nIpsum dolor.' })
			const texts = await expectMail(language, invoiceNumber, page)
			inLanguage(texts.join('\n'))
			expect(inLanguage(await pdfText(await way.pdf(id)))).toContain(invoiceNumber)
			expect(await way.invoice(id)).toMatchObject({
				status: 'sent',
				sentAt: server.clock.now,
				billTo: { name: 'Acme GmbH' },
				language,
			})

			const open = async () => (await fetch(page, { headers: { 'user-agent': browser } })).text()
			const seen = await open()
			expect(seen).toContain(`<html lang="${language}">`)
			expect(inLanguage(readable(seen))).toContain(read[language].pay)
			expect(await way.paymentLink(id)).toMatch(`${server.url}/pay/test/`)
			const toProcessor = await fetch(`${page}/pay`, { method: 'POST', redirect: 'manual' })
			expect([toProcessor.status, toProcessor.headers.get('location')]).toEqual([303, await way.paymentLink(id)])
			const paid = await fetch(await way.paymentLink(id), { method: 'POST' })
			const thanks = inLanguage(readable(await paid.text()))
			for (const part of [words.messages.paymentConfirmed.title, words.amountPaid, words.paidBy, words.page.downloadReceipt])
				expect(thanks).toContain(part)

			expect(await way.invoice(id)).toMatchObject({
				status: 'paid',
				paidDate: server.clock.now,
				paymentMethod: 'test',
				amountPaidCents: 59_753,
				amountDueCents: 0,
				viewCount: 1,
			})
			expect(await way.dealStage(dealId)).toBe('paid')
			expect(inLanguage(readable(await open()))).toContain(words.page.paidOn.replace('{date}', ' '))
			expect(inLanguage(await pdfText(await way.pdf(id)))).toContain(words.paidBy)
			const happened = (await server.db.all(eventTypes, { organizationId: tenant.organizationId })).map(({ type }) => type)
			expect(happened).toEqual([
				'company.created',
				'deal.created',
				...Array(5).fill('time_entry.created'),
				...Array(5).fill('time_entry.updated'),
				'invoice.created',
				'invoice.updated',
				'invoice.sent',
				'invoice.viewed',
				'payment.received',
				'invoice.updated',
				'invoice.paid',
				'deal.updated',
				'deal.stage_changed',
			])
		},
	)
})

/** Expects one mail to one recipient, complete in both bodies, with the PDF; returns its texts. */
async function expectMail(language: keyof typeof read, invoiceNumber: string, page: string): Promise<string[]> {
	const { to, email } = mail.received.pop() as MailServer['received'][number]
	const words = wordsOf(language)
	const { subject, amounts } = read[language]
	expect(mail.received).toEqual([])
	expect(to).toEqual(['billing@acme.example'])
	expect(email.subject).toBe(subject)
	expect(email.from).toMatchObject({ name: 'Northlight Studio via remit.example', address: 'invoices@remit.example' })
	expect(email.replyTo).toMatchObject([{ address: 'hello@northlight.example' }])
	const bodies = [email.text ?? '', email.html ?? ''].map((body) => body.replaceAll('\u00a0', ' '))
	for (const body of bodies)
		for (const part of ['Lorem.', 'Checkout', 'Search', 'Review', amounts[3], page, words.mail.viewAndPay])
			expect(body).toContain(part)
	const [attachment] = email.attachments
	expect(attachment).toMatchObject({ filename: `${invoiceNumber}.pdf`, mimeType: 'application/pdf' })
	const text = (await pdfText(new Uint8Array(attachment?.content as ArrayBuffer))).replaceAll('\u00a0', ' ')
	for (const part of [invoiceNumber, 'Checkout', 'Search', 'Review', ...amounts, words.timesheet, words.total])
		expect(text).toContain(part)
	return [subject, bodies[0] as string, readable(bodies[1] as string), text]
}
