// A sync both ways of records that name others: ids are looked up among links on their way in and out.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { connectXero, counts, newSync, type TestSync } from '../../../test/syncs.ts'
import { FakeXero } from '../../../test/vendors/xero.ts'
import type { MappingCreate } from '../../generated/contract.ts'

let server: TestServer
let tenant: Tenant
const xero = new FakeXero()
let contacts: TestSync
let invoices: TestSync
beforeAll(async () => {
	await xero.start()
	server = await startTestServer(xero.settings)
	xero.clock = () => server.clock.now
})
afterAll(async () => {
	await server.close()
	await xero.stop()
})

const [internalCompany, internalInvoice] = [
	{ system: 'internal', object: 'company' },
	{ system: 'internal', object: 'invoice' },
]
const [there, thereInvoice] = [
	{ system: 'xero', object: 'contacts' },
	{ system: 'xero', object: 'invoices' },
]
const lookUp = { transforms: [{ name: 'lookupLink' as const, object: 'contacts' }], required: true }
const mappings = {
	contactsIn: {
		...{ name: 'Contacts in', source: there, target: internalCompany, status: 'active' },
		fields: [{ target: 'name', source: 'Name', required: true }],
		match: { keys: ['name'], onMultiple: 'conflict' },
	},
	contactsOut: {
		...{ name: 'Contacts out', source: internalCompany, target: there, status: 'active' },
		fields: [{ target: 'Name', source: 'name' }],
		match: { keys: ['Name'], onMultiple: 'conflict' },
	},
	invoicesIn: {
		...{ name: 'Invoices in', source: thereInvoice, target: internalInvoice, status: 'active' },
		fields: [
			{ target: 'companyId', source: 'Contact.ContactID', ...lookUp },
			{ target: 'invoiceNumber', source: 'InvoiceNumber' },
			{ target: 'status', constant: 'sent' },
			{ target: 'notes', source: 'Reference' },
		],
		match: { keys: ['invoiceNumber'], onMultiple: 'conflict' },
	},
	invoicesOut: {
		...{ name: 'Invoices out', source: internalInvoice, target: thereInvoice, status: 'active' },
		fields: [
			{ target: 'Type', constant: 'ACCREC' },
			{ target: 'Contact.ContactID', source: 'companyId', ...lookUp },
			{ target: 'InvoiceNumber', source: 'invoiceNumber' },
			{ target: 'Reference', source: 'notes' },
		],
		match: { keys: ['InvoiceNumber'], onMultiple: 'conflict' },
	},
} satisfies Record<string, MappingCreate>

beforeEach(async () => {
	tenant = await server.newTenant()
	xero.contacts.clear()
	xero.invoices.clear()
	const connectionId = await connectXero(tenant, xero)
	const settings = { conflictPolicy: 'newest_wins' } as const
	contacts = await newSync(server, tenant, connectionId, mappings.contactsIn, { ...settings, reverse: mappings.contactsOut })
	invoices = await newSync(server, tenant, connectionId, mappings.invoicesIn, { ...settings, reverse: mappings.invoicesOut })
})

const seedInvoice = (ContactID: string, number: string) =>
	xero.invoices.put({ Type: 'ACCREC', InvoiceNumber: number, Status: 'DRAFT', Contact: { ContactID }, LineItems: [] })
const atXero = (number: string) => xero.invoices.list().find(({ data }) => data.InvoiceNumber === number)
const inRemit = async (number: string) =>
	(await tenant.remit.invoices.list({ limit: 100 })).data.find(({ invoiceNumber }) => invoiceNumber === number)
const later = () => {
	server.clock.now += 600_000
}

it('Invoices go both ways with the records of the other side, once, and nothing comes back', async () => {
	const contact = xero.contacts.put({ Name: 'Theirs', ContactStatus: 'ACTIVE' })
	seedInvoice(contact.id, 'X-1')
	const { id: companyId } = await tenant.remit.companies.create({ name: 'Ours' })
	await tenant.remit.invoices.create({ companyId, invoiceNumber: 'R-1', status: 'sent', notes: 'first' })
	later()
	expect(counts(await contacts.run())).toMatchObject({ created: 2 })
	expect(counts(await invoices.run())).toMatchObject({ created: 2 })
	const ours = xero.contacts.list().find(({ data }) => data.Name === 'Ours')
	const theirs = (await tenant.remit.companies.list({ search: 'Theirs' })).data[0]
	expect(atXero('R-1')?.data).toMatchObject({ Contact: { ContactID: ours?.id }, Reference: 'first' })
	expect(await inRemit('X-1')).toMatchObject({ companyId: theirs?.id })
	for (const mode of [undefined, 'full'] as const) {
		later()
		const counted = counts(await invoices.run(mode))
		for (const name of ['created', 'updated', 'failed']) expect(counted).not.toHaveProperty(name)
	}
})

it('A change of the record that is named goes to either side, and does not come back', async () => {
	const [one, other] = ['One', 'Other'].map((Name) => xero.contacts.put({ Name, ContactStatus: 'ACTIVE' }))
	seedInvoice(one?.id as string, 'X-1')
	later()
	await contacts.run()
	await invoices.run()
	const companyOf = async (search: string) => (await tenant.remit.companies.list({ search })).data[0]?.id as string
	later()
	xero.invoices.change(atXero('X-1')?.id as string, { Contact: { ContactID: other?.id } })
	later()
	expect(counts(await invoices.run())).toMatchObject({ updated: 1 })
	expect(await inRemit('X-1')).toMatchObject({ companyId: await companyOf('Other') })
	later()
	const { id } = (await inRemit('X-1')) ?? { id: '' }
	await tenant.remit.invoices.update(id, { companyId: await companyOf('One') })
	later()
	expect(counts(await invoices.run())).toMatchObject({ updated: 1 })
	expect(atXero('X-1')?.data).toMatchObject({ Contact: { ContactID: one?.id } })
	later()
	expect(counts(await invoices.run('full'))).not.toHaveProperty('updated')
})

it('What names a record that is not linked yet fails on either side, and is written once it is', async () => {
	const contact = xero.contacts.put({ Name: 'Theirs', ContactStatus: 'ACTIVE' })
	seedInvoice(contact.id, 'X-1')
	const { id: companyId } = await tenant.remit.companies.create({ name: 'Ours' })
	await tenant.remit.invoices.create({ companyId, invoiceNumber: 'R-1', status: 'sent' })
	later()
	const first = await invoices.run()
	expect(counts(first)).toMatchObject({ read: 2, failed: 2 })
	const { data } = await tenant.remit.syncs.runs.errors.list(invoices.id, first.id)
	expect(data.map(({ direction, errors }) => [direction, errors[0]?.code]).toSorted()).toEqual([
		['inbound', 'not_linked'],
		['outbound', 'not_linked'],
	])
	later()
	await contacts.run()
	expect(counts(await invoices.run('failed'))).toMatchObject({ read: 2, created: 2 })
	expect([atXero('R-1') === undefined, (await inRemit('X-1')) === undefined]).toEqual([false, false])
	later()
	const counted = counts(await invoices.run('full'))
	for (const name of ['created', 'updated', 'failed']) expect(counted).not.toHaveProperty(name)
})
