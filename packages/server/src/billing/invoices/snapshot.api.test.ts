// What a sent invoice shows of other records stays: buyer, seller, and how its dates and numbers are written.
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { png } from '../../../test/images.ts'
import { query } from '../../platform/db/database.ts'

let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	server = await startTestServer()
})
beforeEach(async () => {
	tenant = await server.newTenant()
	await set({ locale: 'en-IE', timeZone: 'UTC' })
})
afterAll(() => server.close())

const set = (body: object) => tenant.remit.organization.update(body)
const setLogo = (bytes: Buffer | null) =>
	bytes ? tenant.remit.organization.logo.replace({ data: bytes.toString('base64') }) : tenant.remit.organization.logo.delete()
const create = async (body: object = {}): Promise<string> => (await tenant.ask('POST', '/api/invoices', { body })).body.id
const read = (id: string) => tenant.remit.invoices.get(id)
const patch = (id: string, body: object) => tenant.remit.invoices.update(id, body)
const newCompany = async (name = 'Acme') => (await tenant.remit.companies.create({ name, ...address })).id

const address = {
	billingContactName: 'Ada Lovelace',
	billingAddressLine1: 'Unter den Linden 1',
	billingCity: 'Berlin',
	billingPostalCode: '10117',
	billingCountry: 'Germany',
	billingEmail: 'billing@acme.example',
	vatId: 'DE 136 695 976',
}
const acme = {
	name: 'Acme',
	contactName: 'Ada Lovelace',
	addressLine1: 'Unter den Linden 1',
	addressLine2: null,
	city: 'Berlin',
	state: null,
	postalCode: '10117',
	country: 'Germany',
	email: 'billing@acme.example',
	phone: null,
	taxId: null,
	vatId: 'DE136695976',
	registration: null,
	bankAccount: null,
	footer: null,
}
const blank = { billTo: null, billFrom: null, language: null, locale: null, timeZone: null }
const moved = { name: 'Moved Ltd', city: 'Bonn', language: 'de', locale: 'de-DE', timeZone: 'Pacific/Kiritimati' }

describe('sending', () => {
	it('fixes buyer, seller, locale and time zone: later changes of the company and of the settings change nothing', async () => {
		const companyId = await newCompany()
		const id = await create({ companyId })
		expect(await read(id)).toMatchObject(blank)
		await patch(id, { status: 'sent' })
		const sent = await read(id)
		expect(sent).toMatchObject({ billTo: acme, locale: 'en-IE', timeZone: 'UTC' })
		await tenant.remit.companies.update(companyId, { name: 'Acme II', billingCity: 'Bonn' })
		await set(moved)
		await patch(id, { notes: 'Thanks', status: 'paid' })
		const { billTo, billFrom, locale, timeZone } = sent
		expect(await read(id)).toMatchObject({ billTo, billFrom, locale, timeZone })
		await tenant.remit.companies.delete(companyId)
		expect((await read(id)).billTo).toEqual(acme)
	})

	it('fixes them on create too, with the company as it is then', async () => {
		expect(await read(await create({ companyId: await newCompany(), status: 'sent' }))).toMatchObject({ billTo: acme })
		expect(await read(await create({ status: 'sent' }))).toMatchObject({ billTo: null, billFrom: { city: null } })
	})

	it('fixes a buyer that was deleted since the invoice was written', async () => {
		const companyId = await newCompany()
		const id = await create({ companyId })
		await tenant.remit.companies.delete(companyId)
		await patch(id, { status: 'sent' })
		expect((await read(id)).billTo).toEqual(acme)
	})

	it('keeps the date that is printed, and the bytes of the PDF, whatever the settings say later', async () => {
		const id = await create({ status: 'sent', issuedDate: '2026-03-01T23:30:00Z', totalCents: 123_456 })
		const pdf = async () => Buffer.from(await tenant.remit.invoices.pdf(id))
		const before = await pdf()
		await set(moved)
		expect((await pdf()).equals(before)).toBe(true)
	})
})

it('what a sent invoice prints changes with it alone, whatever happens around it', async () => {
	const companyId = await newCompany()
	const other = await create({ companyId })
	const around: Record<string, fc.Arbitrary<() => Promise<unknown>>> = {
		settings: fc
			.record(
				{
					name: fc.constantFrom('Moved Ltd', 'Northlight'),
					city: fc.constantFrom('Bonn', null),
					language: fc.constantFrom('de', 'fr', 'en'),
					locale: fc.constantFrom('de-DE', 'ja-JP', 'en-IE'),
					accentColor: fc.constantFrom('#0f5c4d', '#333333', null),
					timeZone: fc.constantFrom('Pacific/Kiritimati', 'America/Los_Angeles'),
					bankAccount: fc.constantFrom({ iban: 'DE89370400440532013000' }, null),
					footer: fc.constantFrom('No VAT.', null),
					paymentTerms: fc.constantFrom('Net 7', null),
					defaultCurrency: fc.constantFrom('JPY', 'EUR'),
				},
				{ requiredKeys: [] },
			)
			.map((changes) => () => set(changes)),
		logo: fc.constantFrom(png(4, 4, [200, 0, 0]), png(8, 4, [0, 120, 0]), null).map((bytes) => () => setLogo(bytes)),
		company: fc
			.constantFrom(
				{ name: 'Acme II' },
				{ language: 'it' } as const,
				{ language: null },
				{ billingCity: 'Bonn' },
				{ vatId: null },
				{ billingEmail: null },
			)
			.map((changes) => () => tenant.remit.companies.update(companyId, changes)),
		'another invoice': fc
			.constantFrom({ status: 'sent' } as const, { status: 'paid' } as const, { status: 'draft' } as const, { notes: 'x' })
			.map((changes) => () => patch(other, changes)),
	}
	const edits = fc.constantFrom(
		{ notes: 'Thanks' },
		{ notes: null },
		{ status: 'paid' } as const,
		{ status: 'sent' } as const,
		{ billTo: { name: 'Written' } },
		{ billTo: null },
		{ language: 'pl' } as const,
		{ language: null },
	)
	await fc.assert(
		fc.asyncProperty(fc.array(fc.oneof(...Object.values(around)), { minLength: 3, maxLength: 6 }), edits, async (steps, edit) => {
			const id = await create({
				companyId,
				status: 'sent',
				issuedDate: '2026-03-01T23:30:00Z',
				lineItems: [{ unitPriceCents: 1 }],
			})
			const { url } = await tenant.remit.invoices.clientLink.create(id)
			const page = async () => (await fetch(url, { method: 'GET', headers: { purpose: 'prefetch' } })).text()
			for (const half of [steps.slice(0, 2), steps.slice(2)]) {
				const [before, bytes] = [await page(), Buffer.from(await tenant.remit.invoices.pdf(id))]
				for (const step of half) await step()
				expect(await page()).toBe(before)
				expect(Buffer.from(await tenant.remit.invoices.pdf(id)).equals(bytes)).toBe(true)
				await patch(id, edit)
			}
		}),
		{ numRuns: 12 },
	)
})

describe('the language', () => {
	it("is the invoice's, else the company's, else the organization's, with a locale that fits", async () => {
		await set({ language: 'de', locale: 'de-CH' })
		const companyId = await newCompany()
		const sent = async (body: object) => {
			const { language, locale } = await read(await create({ status: 'sent', ...body }))
			return [language, locale]
		}
		expect(await sent({ companyId })).toEqual(['de', 'de-CH'])
		await tenant.remit.companies.update(companyId, { language: 'fr' })
		expect(await sent({ companyId })).toEqual(['fr', 'fr-CH'])
		expect(await sent({ companyId, language: 'en' })).toEqual(['en', 'en-GB'])
		expect(await sent({ companyId, language: null })).toEqual(['fr', 'fr-CH'])
		expect(await sent({})).toEqual(['de', 'de-CH'])
	})

	it("that a caller wrote stays through a draft, can be another on a sent invoice, and null takes the company's again", async () => {
		const companyId = await newCompany()
		await tenant.remit.companies.update(companyId, { language: 'it' })
		const id = await create({ companyId, language: 'nl', status: 'sent' })
		expect(await read(id)).toMatchObject({ language: 'nl', locale: 'nl-NL' })
		await patch(id, { status: 'draft' })
		expect(await read(id)).toMatchObject({ language: 'nl', locale: null })
		await patch(id, { status: 'sent', language: 'pt' })
		expect(await read(id)).toMatchObject({ language: 'pt', locale: 'pt-PT' })
		await patch(id, { language: null })
		expect(await read(id)).toMatchObject({ language: 'it', locale: 'it-IT' })
		await patch(id, { status: 'draft' })
		expect(await read(id)).toMatchObject({ language: null, locale: null })
	})

	it('of an invoice that a version without languages sent is English, whatever the settings say now', async () => {
		const id = await create({ status: 'sent', totalCents: 100 })
		const { url } = await tenant.remit.invoices.clientLink.create(id)
		const bytes = Buffer.from(await tenant.remit.invoices.pdf(id))
		await server.db.transaction((tx) => tx.run(asBefore, { id }))
		await set({ language: 'de', locale: 'de-DE' })
		expect(await (await fetch(url, { headers: { purpose: 'prefetch' } })).text()).toContain('<html lang="en">')
		expect(Buffer.from(await tenant.remit.invoices.pdf(id)).equals(bytes)).toBe(true)
		const { version } = await read(id)
		await patch(id, { status: 'sent' })
		expect(await read(id)).toMatchObject({ version, language: null })
		await patch(id, { notes: 'Thanks' })
		expect(await read(id)).toMatchObject({ version: version + 1, language: null, locale: 'en-IE' })
	})

	const asBefore = query<{ id: string }>((knex, key) => knex('invoices').where(key).update({ language: null }))
})

it.each(['paid', 'overdue', 'cancelled'] as const)(
	'an invoice that becomes %s without having been sent keeps what it shows, too',
	async (status) => {
		const companyId = await newCompany()
		const [id, made] = [await create({ companyId }), await create({ companyId, status })]
		await patch(id, { status })
		await tenant.remit.companies.update(companyId, { name: 'Renamed Ltd' })
		await set(moved)
		for (const invoice of [id, made]) {
			expect(await read(invoice)).toMatchObject({ billTo: acme, language: 'en', locale: 'en-IE', timeZone: 'UTC' })
			await patch(invoice, { status: 'draft' })
			expect(await read(invoice)).toMatchObject(blank)
		}
	},
)

describe('a sent invoice that becomes a draft', () => {
	it('gets all of them anew when it is sent again', async () => {
		const companyId = await newCompany()
		const id = await create({ companyId, status: 'sent' })
		await patch(id, { status: 'draft' })
		expect(await read(id)).toMatchObject(blank)
		await tenant.remit.companies.update(companyId, { billingCity: 'Bonn' })
		await set(moved)
		await patch(id, { status: 'sent' })
		const { name, city, ...others } = moved
		expect(await read(id)).toMatchObject({ billTo: { ...acme, city: 'Bonn' }, billFrom: { name, city }, ...others })
	})

	it('keeps a buyer and a seller that a caller wrote', async () => {
		const written = { billTo: { name: 'Buyer' }, billFrom: { name: 'Seller', taxId: '7' } }
		const id = await create({ companyId: await newCompany(), status: 'sent', ...written })
		await patch(id, { status: 'draft' })
		expect(await read(id)).toMatchObject({ ...written, locale: null })
		await patch(id, { status: 'sent' })
		expect(await read(id)).toMatchObject(written)
	})
})

describe('the buyer', () => {
	it('of a sent invoice follows its companyId', async () => {
		const id = await create({ companyId: await newCompany(), status: 'sent' })
		const other = await newCompany('Other Ltd')
		await patch(id, { companyId: other })
		expect((await read(id)).billTo).toEqual({ ...acme, name: 'Other Ltd' })
		await tenant.remit.companies.update(other, { name: 'Renamed Ltd' })
		await patch(id, { notes: 'Thanks' })
		expect((await read(id)).billTo?.name).toBe('Other Ltd')
		await patch(id, { companyId: null })
		expect(await read(id)).toMatchObject({ billTo: null, companyId: null })
	})

	it('brings its language, unless a caller wrote one', async () => {
		const french = (await tenant.remit.companies.create({ name: 'Amie', language: 'fr' })).id
		const [id, written] = [await create({ status: 'sent' }), await create({ status: 'sent', language: 'de' })]
		for (const invoice of [id, written]) await patch(invoice, { companyId: french })
		expect(await read(id)).toMatchObject({ language: 'fr', locale: 'fr-FR' })
		expect(await read(written)).toMatchObject({ language: 'de' })
	})

	it('may be written, also of a sent invoice, and null takes the company again', async () => {
		const id = await create({ companyId: await newCompany(), status: 'sent' })
		await patch(id, { billTo: { name: 'Acme GmbH', taxId: 'DE1' } })
		const { name, ...rest } = acme
		const none = Object.fromEntries(Object.keys(rest).map((field) => [field, null]))
		expect((await read(id)).billTo).toEqual({ ...none, name: 'Acme GmbH', taxId: 'DE1' })
		await patch(id, { billTo: null })
		expect((await read(id)).billTo).toEqual(acme)
	})

	it('that was written stays when the invoice is sent, and goes with its company', async () => {
		const id = await create({ companyId: await newCompany(), billTo: { name: 'Written' } })
		await tenant.remit.invoices.update(id, { status: 'sent' })
		expect((await read(id)).billTo?.name).toBe('Written')
		await patch(id, { companyId: await newCompany('Other Ltd') })
		expect((await read(id)).billTo?.name).toBe('Other Ltd')
		await patch(id, { companyId: await newCompany('Third Ltd'), billTo: { name: 'Written again' } })
		expect((await read(id)).billTo?.name).toBe('Written again')
	})

	it('without a name is refused', async () => {
		const { status, body } = await tenant.ask('POST', '/api/invoices', { body: { billTo: { city: 'Bonn' } } })
		expect({ status, pointers: body.errors.map(({ pointer }: { pointer: string }) => pointer) }).toEqual({
			status: 400,
			pointers: ['/billTo/name'],
		})
	})
})

describe('a wrong number of a buyer or seller', () => {
	const wrong = 'DE136695977'
	it.each([
		['POST', '/api/companies', { name: 'Acme', vatId: wrong }, 'invalid_vat_id', '/vatId'],
		['PATCH', '/api/organization', { vatId: wrong }, 'invalid_vat_id', '/vatId'],
		['PATCH', '/api/organization', { bankAccount: { iban: 'DE89 3704 0044 0532 0130 01' } }, 'invalid_iban', '/bankAccount/iban'],
		['POST', '/api/invoices', { billTo: { name: 'Acme', vatId: wrong } }, 'invalid_vat_id', '/billTo/vatId'],
		['POST', '/api/invoices/preview', { billFrom: { name: 'A', vatId: 'X' } }, 'invalid_vat_id', '/billFrom/vatId'],
		[
			'POST',
			'/api/invoices',
			{ billFrom: { name: 'A', bankAccount: { iban: 'XX1' } } },
			'invalid_iban',
			'/billFrom/bankAccount/iban',
		],
	])('is 422 at its place: %s %s %j', async (method, path, body, code, pointer) => {
		const answer = await tenant.ask(method, path, { body })
		expect(answer).toMatchObject({ status: 422, body: { code, errors: [{ code, pointer }] } })
	})

	const account = { iban: 'DE89 3704 0044 0532 0130 01' }
	it.each([
		[
			'PATCH',
			'/api/organization',
			{ vatId: wrong, bankAccount: account, accentColor: '#ffcc00' },
			['/vatId', '/bankAccount/iban', '/accentColor'],
		],
		[
			'POST',
			'/api/invoices',
			{ billTo: { name: 'A', vatId: wrong }, billFrom: { name: 'A', vatId: 'X', bankAccount: account } },
			['/billTo/vatId', '/billFrom/vatId', '/billFrom/bankAccount/iban'],
		],
	])('is named beside all others: %s %s', async (method, path, body, pointers) => {
		const answer = await tenant.ask(method, path, { body })
		expect(answer).toMatchObject({ status: 422, body: { code: 'invalid_vat_id' } })
		expect(answer.body.errors.map(({ pointer }: { pointer: string }) => pointer).toSorted()).toEqual(pointers.toSorted())
	})

	it('of a company is refused by PATCH too, and null removes it', async () => {
		const id = await newCompany()
		expect((await tenant.ask('PATCH', `/api/companies/${id}`, { body: { vatId: wrong } })).status).toBe(422)
		await tenant.remit.companies.update(id, { vatId: null, taxId: '1' })
		expect(await tenant.remit.companies.get(id)).toMatchObject({ vatId: null, taxId: '1' })
	})
})

it('the seller of a sent invoice keeps its bank account, without blanks in the IBAN', async () => {
	await set({ bankAccount: { iban: 'DE89 3704 0044 0532 0130 00' }, footer: 'No VAT.', registration: 'HRB 1' })
	const id = await create({ status: 'sent' })
	await set({ bankAccount: null, footer: null, registration: null })
	const bankAccount = { iban: 'DE89370400440532013000', bic: null }
	expect((await read(id)).billFrom).toMatchObject({ bankAccount, footer: 'No VAT.', registration: 'HRB 1' })
})

it('the seller may be written too, and null takes the settings again', async () => {
	const id = await create({ status: 'sent', billFrom: { name: 'Branch office' } })
	expect((await read(id)).billFrom).toMatchObject({ name: 'Branch office', city: null })
	await set({ city: 'Bonn' })
	await patch(id, { billFrom: null })
	expect((await read(id)).billFrom).toMatchObject({ city: 'Bonn' })
})
