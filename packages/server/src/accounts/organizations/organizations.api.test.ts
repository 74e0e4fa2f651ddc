import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { invalid } from '../../../test/records.ts'
import { query } from '../../platform/db/database.ts'
import { changeOrganization, lockOrganization } from './store.ts'

let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	server = await startTestServer()
})
beforeEach(async () => {
	tenant = await server.newTenant()
})
afterAll(() => server.close())

const path = '/api/organization'
const read = async ({ ask }: Tenant = tenant) => (await ask('GET', path)).body.data
const patch = (body: object, { ask }: Tenant = tenant) => ask('PATCH', path, { body })
async function set(body: object) {
	expect((await patch(body)).body).toEqual({ ok: true })
}
/** The invoice as a GET answers it. */
async function newInvoice(body: object = {}, key = tenant.key) {
	const { id } = (await tenant.ask('POST', '/api/invoices', { body, key })).body
	return readInvoice(id)
}
const readInvoice = async (id: string) => (await tenant.ask('GET', `/api/invoices/${id}`)).body.data

const nothing = {
	contactName: null,
	addressLine1: null,
	addressLine2: null,
	city: null,
	state: null,
	postalCode: null,
	country: null,
	email: null,
	phone: null,
	taxId: null,
	vatId: null,
	registration: null,
	bankAccount: null,
	footer: null,
	accentColor: null,
	hourlyRateCents: null,
	paymentTerms: null,
}
const given = {
	timeZone: 'UTC',
	language: 'en',
	locale: 'en-US',
	defaultCurrency: 'USD',
	taxRounding: 'document',
	timeRounding: 'none',
	timeRoundingMinutes: 15,
	publishDrafts: true,
	numberOnIssue: false,
	invoiceNumberPrefix: 'INV-',
	invoiceNumberDigits: 4,
	connectReturnOrigins: [],
}
const changes = {
	name: 'Northlight "Studio" & Söhne',
	contactName: 'Ada Lovelace',
	addressLine1: 'Lindenallee 7',
	addressLine2: 'Hinterhaus',
	city: 'Berlin',
	state: 'BE',
	postalCode: '10115',
	country: 'Germany',
	email: 'hello@northlight.example',
	phone: '+49 30 901820',
	taxId: '12/345/67890',
	vatId: 'DE136695976',
	registration: 'HRB 123456, Amtsgericht Berlin',
	bankAccount: {
		holder: 'Ada Lovelace',
		bankName: 'Musterbank',
		iban: 'DE89370400440532013000',
		bic: 'COBADEFFXXX',
		accountNumber: null,
		routingNumber: null,
	},
	footer: 'Small business:\nno VAT.',
	timeZone: 'America/Argentina/Buenos_Aires',
	language: 'fr',
	locale: 'de-CH',
	accentColor: '#0f5c4d',
	defaultCurrency: 'JPY',
	hourlyRateCents: 999_999_999_999,
	taxRounding: 'line',
	publishDrafts: false,
	numberOnIssue: true,
	invoiceNumberPrefix: 'R{year}-',
	invoiceNumberDigits: 6,
	paymentTerms: 'Net 14.\nThank you!',
	connectReturnOrigins: ['https://app.northlight.example', 'http://localhost:3000'],
}

describe('an organization', () => {
	it('begins with a name, and with settings that every invoice can have', async () => {
		const { now } = server.clock
		const times = { createdAt: now, updatedAt: now, version: 1 }
		expect(await read()).toEqual({ id: tenant.organizationId, name: 'Test Ltd', logo: null, ...nothing, ...given, ...times })
	})

	it.each(Object.entries(changes))('keeps %s as it was written, and leaves the rest', async (field, value) => {
		const before = await read()
		server.clock.now++
		await set({ [field]: value })
		expect(await read()).toEqual({ ...before, [field]: value, updatedAt: server.clock.now, version: 2 })
	})

	it.each(['PATCH', 'PUT'])(
		'takes all its settings at once by %s, and clears with null those that may be empty',
		async (method) => {
			const answer = await tenant.ask(method, path, { body: changes })
			expect([answer.status, answer.headers.get('etag')]).toEqual([200, '"2"'])
			expect(await read()).toMatchObject(changes)
			await tenant.ask(method, path, { body: nothing })
			expect(await read()).toMatchObject({ ...changes, ...nothing, version: 3 })
		},
	)

	it.each([
		['name', null],
		['name', ' '],
		['email', 'nobody'],
		['city', 'a\nb'],
		['timeZone', 'Europe/Atlantis'],
		['timeZone', '+01:00'],
		['timeZone', ''],
		['timeZone', null],
		['language', 'sv'],
		['language', null],
		['locale', 'en_US'],
		['locale', 'klingon'],
		['locale', null],
		['defaultCurrency', 'EURO'],
		['defaultCurrency', 'XYZ'],
		['defaultCurrency', 'eur'],
		['defaultCurrency', null],
		['taxRounding', 'none'],
		['hourlyRateCents', -1],
		['hourlyRateCents', 1.5],
		['paymentTerms', 'x'.repeat(10_001)],
		['nextInvoiceNumber', 7],
		['id', 'org_other'],
	])('refuses %s %j, names it, and changes nothing', async (field, value) => {
		expect(await patch({ city: 'Paris', [field]: value })).toMatchObject(invalid(`/${field}`))
		expect(await read()).toMatchObject({ city: null, version: 1 })
	})

	it('changes only the version that If-Match names, and answers 304 while nothing has changed', async () => {
		const change = (tag: string) => tenant.ask('PATCH', path, { body: { city: 'Berlin' }, headers: { 'if-match': tag } })
		expect([(await change('"2"')).status, (await change('"1"')).status, (await change('"1"')).status]).toEqual([412, 200, 412])
		const ask = async (tag: string) => (await tenant.ask('GET', path, { headers: { 'if-none-match': tag } })).status
		expect([await ask('"2"'), await ask('"1"')]).toEqual([304, 200])
	})

	it('loses none of twenty changes at the same time, nor the number of an invoice meanwhile', async () => {
		const fields = ['contactName', 'addressLine1', 'city', 'country'] as const
		const writes = Array.from({ length: 20 }, (_, index) => patch({ [fields[index % 4] as string]: `Change ${index}` }))
		const [invoice] = await Promise.all([newInvoice(), ...writes])
		const changed = Object.fromEntries(fields.map((field) => [field, expect.stringMatching(/^Change \d+$/)]))
		expect(await read()).toMatchObject({ ...changed, version: 21 })
		expect([invoice.invoiceNumber, (await newInvoice()).invoiceNumber]).toEqual(['INV-0001', 'INV-0002'])
	})

	it('is not changed by another', async () => {
		const other = await server.newTenant()
		const before = await read()
		await patch(changes, other)
		expect(await read()).toEqual(before)
	})
})

describe('a currency', () => {
	it('is one to pay in; records of an older version that have another stay, and can change', async () => {
		expect(await patch({ defaultCurrency: 'XAU' })).toMatchObject(invalid('/defaultCurrency'))
		const { id } = await newInvoice()
		const { organizationId } = tenant
		await server.db.transaction(async (tx) => {
			await tx.run(gold, { organizationId })
			await tx.run(testCurrency, { organizationId, id })
		})
		await set({ name: 'Mint' })
		expect(await read()).toMatchObject({ name: 'Mint', defaultCurrency: 'XAU' })
		expect((await tenant.ask('PATCH', `/api/invoices/${id}`, { body: { notes: 'Hello', status: 'sent' } })).status).toBe(200)
		expect(await readInvoice(id)).toMatchObject({ notes: 'Hello', currency: 'XTS' })
		expect((await tenant.ask('GET', '/api/invoices')).body.data).toMatchObject([{ id, currency: 'XTS' }])
	})

	const gold = query<{ organizationId: string }>((knex, key) =>
		knex('organizations').where(key).update({ defaultCurrency: 'XAU' }),
	)
	const testCurrency = query<{ organizationId: string; id: string }>((knex, key) =>
		knex('invoices').where(key).update({ currency: 'XTS' }),
	)
})

describe('a setting is in force for the next request', () => {
	it('with the currency and payment terms of new invoices and deals, and of no older one', async () => {
		const deals = async () => (await tenant.ask('GET', `/api/deals/${await newDeal()}`)).body.data
		const newDeal = async () => (await tenant.ask('POST', '/api/deals', { body: { name: 'Shop' } })).body.id
		const [before, deal] = [await newInvoice(), await deals()]
		expect([before.currency, before.paymentTerms, deal.currency]).toEqual(['USD', null, 'USD'])
		await set({ defaultCurrency: 'EUR', paymentTerms: 'Net 14' })
		expect(await newInvoice()).toMatchObject({ currency: 'EUR', paymentTerms: 'Net 14' })
		expect(await deals()).toMatchObject({ currency: 'EUR' })
		expect(await newInvoice({ currency: 'JPY', paymentTerms: null })).toMatchObject({ currency: 'JPY', paymentTerms: null })
		expect(await readInvoice(before.id)).toEqual(before)
		await set({ paymentTerms: null })
		expect(await newInvoice()).toMatchObject({ currency: 'EUR', paymentTerms: null })
	})

	it('with the rounding of new invoices, while older ones keep theirs, also when they are changed', async () => {
		// 3 × 0.05 × 10 %: rounded once on the sum, 0.015 is 0.02; rounded on each line, 0.005 is 0.01.
		const lineItems = Array.from({ length: 3 }, () => ({ unitPriceCents: 5 }))
		const before = await newInvoice({ taxRate: 10, lineItems })
		expect(before).toMatchObject({ taxRounding: 'document', taxCents: 2 })
		await set({ taxRounding: 'line' })
		expect(await newInvoice({ taxRate: 10, lineItems })).toMatchObject({ taxRounding: 'line', taxCents: 3 })
		const { data } = (await tenant.ask('POST', '/api/invoices/preview', { body: { taxRate: 10, lineItems } })).body
		expect(data).toMatchObject({ taxRounding: 'line', taxCents: 3 })
		await tenant.ask('PATCH', `/api/invoices/${before.id}`, { body: { lineItems } })
		expect(await readInvoice(before.id)).toMatchObject({ taxRounding: 'document', taxCents: 2, version: 2 })
	})

	it('with the time zone in which an invoice is overdue', async () => {
		server.clock.now = Date.UTC(2026, 5, 15, 11)
		const { id } = await newInvoice({ status: 'sent', totalCents: 1, dueDate: '2026-06-15' })
		const isOverdue = async () => (await readInvoice(id)).isOverdue
		expect(await isOverdue()).toBe(false)
		await set({ timeZone: 'Pacific/Kiritimati' })
		expect(await isOverdue()).toBe(true)
		await set({ timeZone: 'Pacific/Pago_Pago' })
		expect(await isOverdue()).toBe(false)
	})

	it('with the hourly rate of time that has none', async () => {
		const [dealId, timeEntryIds] = [await tenant.newDeal(), [] as string[]]
		timeEntryIds.push(await tenant.newTimeEntry({ dealId, hourlyRateCents: null }))
		const invoice = () => tenant.ask('POST', '/api/invoices/from-time-entries', { body: { dealId, timeEntryIds } })
		expect(await invoice()).toMatchObject({ status: 422, body: { code: 'rate_missing' } })
		await set({ hourlyRateCents: 12_345 })
		expect(await readInvoice((await invoice()).body.id)).toMatchObject({ totalCents: 12_345 })
	})

	it('with the seller of an invoice that is sent from then on', async () => {
		const before = await newInvoice({ status: 'sent' })
		await set({ name: 'Renamed Ltd', city: 'Berlin', taxId: 'DE1' })
		expect((await readInvoice(before.id)).billFrom).toMatchObject({ name: 'Test Ltd', city: null, taxId: null })
		const { billFrom } = await newInvoice({ status: 'sent' })
		expect(billFrom).toMatchObject({ name: 'Renamed Ltd', city: 'Berlin', taxId: 'DE1' })
	})

	it('with another key as well, and with those of no other organization', async () => {
		const [{ key }, stranger] = [await tenant.newKey(['invoices:write']), await server.newTenant()]
		const strange = async () => (await stranger.ask('POST', '/api/invoices')).body.id
		await newInvoice({}, key)
		await strange()
		await set({ defaultCurrency: 'EUR' })
		expect((await newInvoice({}, key)).currency).toBe('EUR')
		const { data } = (await stranger.ask('GET', `/api/invoices/${await strange()}`)).body
		expect(data.currency).toBe('USD')
	})

	it('but not when it was refused', async () => {
		const body = { defaultCurrency: 'EUR' }
		expect((await tenant.ask('PATCH', path, { body, headers: { 'if-match': '"7"' } })).status).toBe(412)
		expect((await newInvoice()).currency).toBe('USD')
	})

	it('two seconds after another process has changed it', async () => {
		await newInvoice()
		await server.db.transaction(async (tx) => {
			const organization = await lockOrganization(tx, tenant.organizationId)
			await changeOrganization(tenant.writing(tx), organization, { defaultCurrency: 'CHF' })
		})
		await expect.poll(async () => (await newInvoice()).currency, { interval: 100, timeout: 10_000 }).toBe('CHF')
	})
})
