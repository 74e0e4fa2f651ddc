// The mappings that Remit brings along, each created as it is and used by a sync.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { connect, connectXero, counts, newSync } from '../../../test/syncs.ts'
import { FakeHubSpot } from '../../../test/vendors/hubspot.ts'
import { FakeStripe } from '../../../test/vendors/stripe.ts'
import { FakeXero } from '../../../test/vendors/xero.ts'
import type { CompanyCreate, Invoice, MappingCreate } from '../../generated/contract.ts'
import { defaultMappings } from '../mappings/defaults.ts'

let server: TestServer
let tenant: Tenant
const vendors = { hubspot: new FakeHubSpot(), xero: new FakeXero(), stripe: new FakeStripe() }
const { hubspot, xero, stripe } = vendors

beforeAll(async () => {
	const settings = await Promise.all(Object.values(vendors).map(async (vendor) => (await vendor.start()).settings))
	server = await startTestServer(Object.assign({}, ...settings))
})
afterAll(async () => {
	await server.close()
	for (const vendor of Object.values(vendors)) await vendor.stop()
})
beforeEach(async () => {
	tenant = await server.newTenant()
	for (const vendor of Object.values(vendors)) vendor.clock = () => server.clock.now
	for (const records of [hubspot.companies, xero.contacts, xero.invoices, stripe.customers, stripe.invoices]) records.clear()
})

type Provider = keyof typeof vendors

const connectTo = (provider: Provider) =>
	provider === 'xero' ? connectXero(tenant, xero) : connect(tenant, provider, vendors[provider])
/** The default of a provider from one object to another. */
const defaultOf = async (provider: Provider, from: string, to: string): Promise<MappingCreate> => {
	const { data } = await tenant.remit.mappings.defaults.list({ provider })
	const found = data.find(({ source, target }) => source.object === from && target.object === to)
	if (!found) throw new Error(`${provider} has no default from ${from} to ${to}`)
	return found
}
const run = async (connectionId: string, mapping: MappingCreate, mode?: 'failed') =>
	counts(await (await newSync(server, tenant, connectionId, mapping)).run(mode))

describe('the defaults', () => {
	it('are listed by provider, each a body that creates an active mapping without issues', async () => {
		const { data, meta } = await tenant.remit.mappings.defaults.list()
		expect([data, meta.total]).toEqual([defaultMappings, defaultMappings.length])
		expect((await tenant.remit.mappings.defaults.list({ provider: 'nobody' })).data).toEqual([])
		for (const mapping of data) {
			const { id } = await tenant.remit.mappings.create(mapping)
			const valid = { valid: true, issues: [] }
			expect(await tenant.remit.mappings.get(id)).toMatchObject({ ...mapping, status: 'active', validation: valid })
		}
	})

	it('go both ways for the companies of each provider', async () => {
		const ways = defaultMappings.map(
			({ source, target }) => `${source.system} ${source.object} ${target.system} ${target.object}`,
		)
		expect(ways.toSorted()).toEqual([
			'hubspot companies internal company',
			'internal company hubspot companies',
			'internal company stripe customers',
			'internal company xero contacts',
			'internal invoice xero invoices',
			'stripe customers internal company',
			'stripe invoices internal invoice',
			'xero contacts internal company',
			'xero invoices internal invoice',
		])
	})
})

const acme = {
	...{ name: 'Acme', phone: '123', billingAddressLine1: 'Street 1', billingCity: 'Bern', billingState: 'BE' },
	...{ billingPostalCode: '3000', billingCountry: 'Switzerland' },
} satisfies CompanyCreate
const contact = {
	...{ Name: 'Acme', EmailAddress: 'a@acme.example', TaxNumber: 'T1', Phones: [{ PhoneType: 'DEFAULT', PhoneNumber: '123' }] },
	Addresses: [
		{
			...{ AddressType: 'POBOX', AddressLine1: 'Street 1', AddressLine2: 'Floor 2', City: 'Bern', Region: 'BE' },
			...{ PostalCode: '3000', Country: 'Switzerland' },
		},
	],
}
const properties = {
	...{ name: 'Acme', domain: 'acme.example', phone: '123', address: 'Street 1', city: 'Bern', state: 'BE' },
	...{ zip: '3000', country: 'Switzerland' },
}
const customer = {
	...{ name: 'Acme', email: 'a@acme.example', phone: '123' },
	address: { line1: 'Street 1', line2: 'Floor 2', city: 'Bern', state: 'BE', postal_code: '3000', country: 'Switzerland' },
}
const floor = { billingAddressLine2: 'Floor 2', billingEmail: 'a@acme.example' }

describe.each<[provider: Provider, object: 'companies' | 'contacts' | 'customers', there: object, here: CompanyCreate]>([
	['hubspot', 'companies', properties, { ...acme, domain: 'acme.example' }],
	['xero', 'contacts', contact, { ...acme, ...floor, taxId: 'T1' }],
	['stripe', 'customers', customer, { ...acme, ...floor }],
])('companies of %s', (provider, object, there, here) => {
	const records = () => vendors[provider].records(object)

	it('come with name, address and what else both have', async () => {
		records().put({ ...there })
		expect(await run(await connectTo(provider), await defaultOf(provider, object, 'company'))).toEqual({ read: 1, created: 1 })
		expect((await tenant.remit.companies.list()).data).toMatchObject([here])
	})

	it('go out with the same, also with a name alone', async () => {
		await tenant.remit.companies.create(here)
		await tenant.remit.companies.create({ name: 'Bare' })
		expect(await run(await connectTo(provider), await defaultOf(provider, 'company', object))).toEqual({ read: 2, created: 2 })
		const named = (data: Readonly<Record<string, unknown>>) => data.name ?? data.Name
		expect(
			records()
				.list()
				.find(({ data }) => named(data) === 'Acme')?.data,
		).toMatchObject(there)
		expect(
			records()
				.list()
				.some(({ data }) => named(data) === 'Bare'),
		).toBe(true)
	})
})

const invoicesOf = async (): Promise<Invoice[]> =>
	(await tenant.remit.invoices.list()).data.toSorted((a, b) => (a.invoiceNumber < b.invoiceNumber ? -1 : 1))
const amountsOf = ({ currency, subtotalCents, taxCents, totalCents, status }: Invoice) => [
	...[currency, subtotalCents, taxCents, totalCents],
	status,
]

describe('invoices of Xero', () => {
	const seedInvoice = (ContactID: string, n: number, more: object) =>
		xero.invoices.put({
			...{ Type: 'ACCREC', InvoiceNumber: `INV-${n}`, Status: 'AUTHORISED', CurrencyCode: 'EUR', Contact: { ContactID } },
			...{ Date: '2026-01-31', DueDate: '2100-02-28', SubTotal: 10.1, TotalTax: 1.92, Total: 12.02, LineItems: [] },
			...more,
		})

	it('come with the company of their contact, dates, status and amounts to the cent, and bills do not', async () => {
		const { id } = xero.contacts.put(contact)
		seedInvoice(id, 1, {})
		seedInvoice(id, 2, { CurrencyCode: 'JPY', SubTotal: 1_000, TotalTax: 100, Total: 1_100, Status: 'VOIDED' })
		seedInvoice(id, 3, { CurrencyCode: 'KWD', SubTotal: 0.1, TotalTax: 0.023, Total: 0.123 })
		seedInvoice(id, 4, {
			SubTotal: 4_503_599.33,
			TotalTax: 0.29,
			Total: 4_503_599.62,
			FullyPaidOnDate: '/Date(1774915200000+0000)/',
			Status: 'PAID',
		})
		seedInvoice(id, 5, { Type: 'ACCPAY' })
		const connectionId = await connectTo('xero')
		await run(connectionId, await defaultOf('xero', 'contacts', 'company'))
		expect(await run(connectionId, await defaultOf('xero', 'invoices', 'invoice'))).toEqual({ read: 4, created: 4 })
		const found = await invoicesOf()
		expect(found.map(amountsOf)).toEqual([
			['EUR', 1_010, 192, 1_202, 'sent'],
			['JPY', 1_000, 100, 1_100, 'cancelled'],
			['KWD', 100, 23, 123, 'sent'],
			['EUR', 450_359_933, 29, 450_359_962, 'paid'],
		])
		const [company] = (await tenant.remit.companies.list()).data
		expect(found.map(({ companyId }) => companyId)).toEqual(Array(4).fill(company?.id))
		expect(found[0]).toMatchObject({ issuedDate: Date.UTC(2026, 0, 31), dueDate: Date.UTC(2100, 1, 28) })
		expect(found[3]).toMatchObject({ paidDate: 1_774_915_200_000 })
	})

	it('fail while their contact is not linked, and are written once it is', async () => {
		const { id } = xero.contacts.put(contact)
		const record = seedInvoice(id, 1, {})
		const connectionId = await connectTo('xero')
		const sync = await newSync(server, tenant, connectionId, await defaultOf('xero', 'invoices', 'invoice'))
		const first = await sync.run()
		expect(counts(first)).toEqual({ read: 1, failed: 1 })
		const { data } = await tenant.remit.syncs.runs.errors.list(sync.id, first.id)
		expect(data).toMatchObject([{ externalId: record.id, errors: [{ field: 'companyId', code: 'not_linked' }] }])
		await run(connectionId, await defaultOf('xero', 'contacts', 'company'))
		expect(counts(await sync.run('failed'))).toEqual({ read: 1, created: 1 })
		expect(counts(await sync.run('full'))).toEqual({ read: 1, unchanged: 1 })
	})

	it('go out once with the contact of their company and their sums, and drafts do not', async () => {
		const { id: companyId } = await tenant.remit.companies.create(acme)
		const sums = { companyId, currency: 'EUR', status: 'sent', issuedDate: '2026-01-31', dueDate: '2026-02-28' } as const
		await tenant.remit.invoices.create({ ...sums, invoiceNumber: 'A-1', subtotalCents: 1_010, taxCents: 192, totalCents: 1_202 })
		await tenant.remit.invoices.create({
			...sums,
			invoiceNumber: 'A-2',
			currency: 'JPY',
			subtotalCents: 1_000,
			taxCents: 100,
			totalCents: 1_100,
		})
		await tenant.remit.invoices.create({ companyId })
		const connectionId = await connectTo('xero')
		await run(connectionId, await defaultOf('xero', 'company', 'contacts'))
		const sync = await newSync(server, tenant, connectionId, await defaultOf('xero', 'invoice', 'invoices'))
		expect(counts(await sync.run())).toEqual({ read: 3, created: 2, skipped: 1 })
		const [contactThere] = xero.contacts.list()
		const found = xero.invoices
			.list()
			.map(({ data }) => data)
			.toSorted((a, b) => (String(a.InvoiceNumber) < String(b.InvoiceNumber) ? -1 : 1))
		expect(found).toMatchObject([
			{
				...{
					InvoiceNumber: 'A-1',
					Type: 'ACCREC',
					CurrencyCode: 'EUR',
					Status: 'DRAFT',
					Date: '2026-01-31',
					DueDate: '2026-02-28',
				},
				...{ SubTotal: 10.1, TotalTax: 1.92, Total: 12.02, Contact: { ContactID: contactThere?.id } },
			},
			{ InvoiceNumber: 'A-2', CurrencyCode: 'JPY', SubTotal: 1_000, TotalTax: 100, Total: 1_100 },
		])
		expect(counts(await sync.run('full'))).toEqual({ read: 3, unchanged: 2, skipped: 1 })
	})
})

it('Invoices of Stripe come with the company of their customer and amounts as Stripe counts them, yen as yen', async () => {
	const { id } = stripe.customers.put(customer)
	const total = (currency: string, n: number, more: object = {}) =>
		stripe.invoices.put({
			...{ customer: id, number: `F-${n}`, status: 'open', currency, due_date: 4_102_444_800, total: 1_190 },
			...{ total_excluding_tax: 1_000, total_taxes: [{ amount: 190 }], status_transitions: { finalized_at: 1_774_828_800 } },
			...more,
		})
	total('eur', 1)
	total('jpy', 2, { total: 1_013, total_excluding_tax: null, subtotal: 1_013, total_taxes: [] })
	total('kwd', 3, { status: 'void' })
	// Stripe counts hundredths of it, which ISO 4217 does not.
	total('isk', 4)
	const connectionId = await connectTo('stripe')
	await run(connectionId, await defaultOf('stripe', 'customers', 'company'))
	expect(await run(connectionId, await defaultOf('stripe', 'invoices', 'invoice'))).toEqual({ read: 4, created: 3, failed: 1 })
	const found = await invoicesOf()
	expect(found.map(amountsOf)).toEqual([
		['EUR', 1_000, 190, 1_190, 'sent'],
		['JPY', 1_013, 0, 1_013, 'sent'],
		['KWD', 1_000, 190, 1_190, 'cancelled'],
	])
	const [company] = (await tenant.remit.companies.list()).data
	expect(found[0]).toMatchObject({ companyId: company?.id, issuedDate: 1_774_828_800_000, dueDate: 4_102_444_800_000 })
})
