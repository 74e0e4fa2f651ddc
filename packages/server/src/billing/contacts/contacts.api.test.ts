import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { invalid, recordsAt, refused } from '../../../test/records.ts'

let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	server = await startTestServer()
})
beforeEach(async () => {
	tenant = await server.newTenant()
})
afterAll(() => server.close())

const contacts = recordsAt('/api/contacts')
const companies = recordsAt('/api/companies')
const newCompany = (of: Tenant = tenant) => companies.create(of, { name: 'Acme' })

const nothing = { email: null, phone: null, companyId: null }
const details = { email: 'ada@acme.example', phone: '+49 30 901820' }

describe('a contact', () => {
	it('needs a name and nothing else', async () => {
		const id = await contacts.create(tenant, { name: 'Ada' })
		const { now } = server.clock
		const { organizationId } = tenant
		const given = { id, organizationId, createdAt: now, updatedAt: now, deletedAt: null, version: 1 }
		expect(await contacts.read(tenant, id)).toEqual({ ...given, name: 'Ada', ...nothing })
	})

	it('takes every other field as well, changes each alone, and clears with null, but not the name', async () => {
		const companyId = await newCompany()
		const body = { name: 'Ada "Countess" Łovelace', ...details, companyId }
		const id = await contacts.create(tenant, body)
		expect(await contacts.read(tenant, id)).toMatchObject(body)
		expect(await contacts.changed(tenant, id, { email: 'a@acme.example' })).toMatchObject({ ...body, email: 'a@acme.example' })
		expect(await contacts.changed(tenant, id, nothing)).toMatchObject({ name: body.name, ...nothing })
		expect(await contacts.patch(tenant, id, { name: null })).toMatchObject(invalid('/name'))
	})

	it.each([
		[{}, '/name'],
		[{ name: ' ' }, '/name'],
		[{ name: 'a\nb' }, '/name'],
		[{ name: 'a', email: 'nobody' }, '/email'],
		[{ name: 'a', phone: 'x'.repeat(201) }, '/phone'],
		[{ name: 'a', companyId: 7 }, '/companyId'],
		[{ name: 'a', companyId: 'cmp_"' }, '/companyId'],
	])('is refused as %j', async (body, pointer) => {
		expect(await contacts.post(tenant, body)).toMatchObject(invalid(pointer))
	})
})

describe('the company of a contact', () => {
	it('must be a live one of the organization', async () => {
		const deleted = await newCompany()
		await companies.remove(tenant, deleted)
		const id = await contacts.create(tenant, { name: 'Ada' })
		for (const companyId of [await newCompany(await server.newTenant()), deleted, 'cmp_unknown']) {
			const unknown = refused(422, 'unknown_company', '/companyId')
			expect(await contacts.post(tenant, { name: 'Ada', companyId })).toMatchObject(unknown)
			expect(await contacts.patch(tenant, id, { companyId })).toMatchObject(unknown)
		}
		expect(await contacts.ids(tenant)).toEqual([id])
		expect(await contacts.read(tenant, id)).toMatchObject({ companyId: null, version: 1 })
	})

	it('may be deleted: the contact keeps it, but cannot come back to it', async () => {
		const [companyId, other] = [await newCompany(), await newCompany()]
		const id = await contacts.create(tenant, { name: 'Ada', companyId })
		await companies.remove(tenant, companyId)
		expect(await contacts.changed(tenant, id, { companyId, phone: '1' })).toMatchObject({ companyId, phone: '1' })
		expect(await contacts.ids(tenant, { companyId })).toEqual([id])
		await contacts.changed(tenant, id, { companyId: other })
		expect(await contacts.patch(tenant, id, { companyId })).toMatchObject({ status: 422 })
	})

	it('is what a list can ask for', async () => {
		const [one, other] = [await newCompany(), await newCompany()]
		const ids: string[] = []
		for (const companyId of [one, other, null, one]) ids.push(await contacts.create(tenant, { name: 'Ada', companyId }))
		expect((await contacts.ids(tenant, { companyId: one })).toSorted()).toEqual([ids[0], ids[3]].toSorted())
		expect(await contacts.ids(tenant, { companyId: other })).toEqual([ids[1]])
		for (const companyId of ['cmp_unknown', '']) expect(await contacts.ids(tenant, { companyId })).toEqual([])
		const page = await tenant.ask('GET', `/api/contacts?companyId=${one}&limit=1&offset=1`)
		expect(page.body).toMatchObject({ data: [{ companyId: one }], meta: { total: 2, limit: 1, offset: 1 } })
	})
})

describe('a contact that was deleted', () => {
	it('never shows, and deals that point to it keep working', async () => {
		const companyId = await newCompany()
		const [id, other] = [
			await contacts.create(tenant, { name: 'Ada', companyId }),
			await contacts.create(tenant, { name: 'Bob', companyId }),
		]
		const deals = recordsAt('/api/deals')
		const deal = await deals.create(tenant, { name: 'Shop', contactId: id })
		await contacts.remove(tenant, id)
		expect([await contacts.ids(tenant), await contacts.ids(tenant, { companyId })]).toEqual([[other], [other]])
		expect(await deals.changed(tenant, deal, { contactId: id, name: 'Shop 2' })).toMatchObject({ contactId: id, name: 'Shop 2' })
		expect(await deals.ids(tenant, { contactId: id })).toEqual([deal])
		const unknown = refused(422, 'unknown_contact', '/contactId')
		expect(await deals.post(tenant, { name: 'New', contactId: id })).toMatchObject(unknown)
	})
})
