// Previews of records that a provider has now, and of stored records that would go there.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../../test/harness.ts'
import { connect, connectXero, fromHubSpot, newSync, toHubSpot } from '../../../../test/syncs.ts'
import { FakeHubSpot } from '../../../../test/vendors/hubspot.ts'
import { FakeXero } from '../../../../test/vendors/xero.ts'
import type { MappingPreviewInput } from '../../../generated/contract.ts'

let server: TestServer
let tenant: Tenant
const hubspot = new FakeHubSpot()
const xero = new FakeXero()
let connectionId: string

beforeAll(async () => {
	await Promise.all([hubspot.start(), xero.start()])
	server = await startTestServer({ ...hubspot.settings, ...xero.settings })
})
afterAll(async () => {
	await server.close()
	await Promise.all([hubspot.stop(), xero.stop()])
})
beforeEach(async () => {
	tenant = await server.newTenant()
	for (const vendor of [hubspot, xero]) {
		vendor.clock = () => server.clock.now
		vendor.meet([])
	}
	hubspot.companies.clear()
	xero.contacts.clear()
	xero.invoices.clear()
	connectionId = await connect(tenant, 'hubspot', hubspot)
	hubspot.log.length = 0
})

const preview = (id: string, input: MappingPreviewInput) => tenant.remit.mappings.preview(id, input)
const mistakeOf = async (id: string, body: object) => {
	const answer = await tenant.ask('POST', `/mappings/${id}/preview`, { body })
	return [answer.status, answer.body.code, answer.body.errors?.[0]?.pointer]
}
const newCompanyAt = (name: string, more: object = {}) => hubspot.companies.put({ name, ...more }).id
const writesAt = () => hubspot.log.filter(({ method, path }) => method !== 'GET' && !path.includes('/search'))

describe('a preview of what a provider has', () => {
	let mappingId: string
	beforeEach(async () => {
		mappingId = (await tenant.remit.mappings.create(fromHubSpot)).id
	})

	it('has each record as it was read, its id, and what would become of it, and writes nothing', async () => {
		const { id: known } = await tenant.remit.companies.create({ name: 'Known', domain: 'known.example' })
		const ids = [newCompanyAt('New'), newCompanyAt('Known GmbH', { domain: 'known.example' }), newCompanyAt('')]
		const { records } = await preview(mappingId, { connectionId, externalIds: [...ids, '404'] })
		expect(records.map(({ externalId, action, recordId }) => [externalId, action, recordId])).toEqual([
			[ids[0], 'create', null],
			[ids[1], 'update', known],
			[ids[2], 'fail', null],
			['404', 'fail', null],
		])
		expect(records[0]).toMatchObject({
			source: { id: ids[0], properties: { name: 'New' } },
			output: { name: 'New' },
			current: null,
		})
		expect(records[1]?.changes).toEqual({ name: { from: 'Known', to: 'Known GmbH' } })
		expect(records[3]).toMatchObject({ errors: [{ code: 'record_not_found' }], source: null, output: null })
		expect((await tenant.remit.companies.list()).meta.total).toBe(1)
		expect(writesAt()).toEqual([])
	})

	it('without ids takes the first records that the provider lists, 10 or as many as it says', async () => {
		hubspot.seed('companies', 30)
		expect((await preview(mappingId, { connectionId })).records).toHaveLength(10)
		expect((await preview(mappingId, { connectionId, limit: 25 })).records).toHaveLength(25)
		expect((await preview(mappingId, { connectionId, limit: 1 })).records).toMatchObject([{ action: 'create' }])
	})

	it('follows the links of the connection, and says as a sync would what is unchanged', async () => {
		const [same, other, gone] = ['Same', 'Other', 'Gone'].map((name) => newCompanyAt(name)) as [string, string, string]
		await (await newSync(server, tenant, connectionId, fromHubSpot)).run()
		const companies = (await tenant.remit.companies.list()).data
		const idOf = (name: string) => companies.find((company) => company.name === name)?.id as string
		hubspot.companies.change(other, { name: 'Renamed' })
		await tenant.remit.companies.update(idOf('Same'), { name: 'Renamed in Remit' })
		await tenant.remit.companies.delete(idOf('Gone'))
		hubspot.companies.change(gone, { name: 'Gone again' })
		const { records } = await preview(mappingId, { connectionId, externalIds: [same, other, gone] })
		expect(records).toMatchObject([
			{ action: 'unchanged', recordId: idOf('Same'), changes: {} },
			{ action: 'update', recordId: idOf('Other'), changes: { name: { from: 'Other', to: 'Renamed' } } },
			{ action: 'create', recordId: null },
		])
	})

	it('fails one that matches a company which is linked with another', async () => {
		const first = newCompanyAt('First', { domain: 'one.example' })
		await (await newSync(server, tenant, connectionId, fromHubSpot)).run()
		const second = newCompanyAt('Second', { domain: 'one.example' })
		const { records } = await preview(mappingId, { connectionId, externalIds: [second] })
		expect(records).toMatchObject([
			{ action: 'fail', errors: [{ code: 'linked_already', reason: expect.stringContaining(first) }] },
		])
	})

	it('takes records or a connection to the mapping’s system, and says where it is mistaken', async () => {
		const records = [{ properties: { name: 'A' } }]
		expect(await mistakeOf(mappingId, {})).toEqual([422, 'invalid_preview', '/records'])
		expect(await mistakeOf(mappingId, { records, connectionId })).toEqual([422, 'invalid_preview', '/connectionId'])
		expect(await mistakeOf(mappingId, { records, limit: 1 })).toEqual([422, 'invalid_preview', '/limit'])
		expect(await mistakeOf(mappingId, { connectionId, recordIds: ['cmp_1'] })).toEqual([422, 'invalid_preview', '/recordIds'])
		const both = { connectionId, externalIds: ['1'], limit: 1 }
		expect(await mistakeOf(mappingId, both)).toEqual([422, 'invalid_preview', '/limit'])
		expect(await mistakeOf(mappingId, { connectionId: 'con_none' })).toEqual([422, 'unknown_connection', '/connectionId'])
		const toXero = await connectXero(tenant, xero)
		expect(await mistakeOf(mappingId, { connectionId: toXero })).toEqual([422, 'invalid_preview', '/connectionId'])
		await tenant.remit.connections.update(connectionId, { status: 'disabled' })
		expect(await mistakeOf(mappingId, { connectionId })).toEqual([409, 'connection_disabled', undefined])
	})

	it('answers 502 when the provider fails', async () => {
		hubspot.meet(Array(5).fill({ kind: 'error', status: 500 }))
		expect(await mistakeOf(mappingId, { connectionId })).toEqual([502, 'provider_failed', undefined])
	})
})

describe('a preview of what goes out', () => {
	let mappingId: string
	beforeEach(async () => {
		mappingId = (await tenant.remit.mappings.create(toHubSpot)).id
	})

	it('maps the newest records, or those that it names, and asks nobody without a connection', async () => {
		const { id: first } = await tenant.remit.companies.create({ name: 'First' })
		server.clock.now += 1_000
		const { id: second } = await tenant.remit.companies.create({ name: 'Second' })
		const { records } = await preview(mappingId, {})
		expect(records.map(({ recordId }) => recordId)).toEqual([second, first])
		expect(records[0]).toMatchObject({
			action: null,
			output: { properties: { name: 'Second' } },
			source: { id: second, name: 'Second' },
		})
		expect((await preview(mappingId, { limit: 1 })).records).toHaveLength(1)
		expect((await preview(mappingId, { recordIds: [first] })).records).toMatchObject([{ recordId: first }])
		expect(await mistakeOf(mappingId, { recordIds: [first, 'cmp_none'] })).toEqual([422, 'invalid_preview', '/recordIds/1'])
		expect(await mistakeOf(mappingId, { connectionId, externalIds: ['1'] })).toEqual([422, 'invalid_preview', '/externalIds'])
		expect(hubspot.log).toEqual([])
	})

	it('says with a connection what is there now, and what would change', async () => {
		const { id: same } = await tenant.remit.companies.create({ name: 'Same', domain: 'same.example' })
		const { id: changed } = await tenant.remit.companies.create({ name: 'Changed', domain: 'changed.example' })
		const { id: gone } = await tenant.remit.companies.create({ name: 'Gone' })
		await (await newSync(server, tenant, connectionId, toHubSpot)).run()
		const { id: added } = await tenant.remit.companies.create({ name: 'New' })
		await tenant.remit.companies.update(changed, { name: 'Changed since', phone: '123' })
		await tenant.remit.companies.update(gone, { name: 'Gone since' })
		hubspot.companies.remove(hubspot.companies.list().find(({ data }) => data.name === 'Gone')?.id as string)
		hubspot.log.length = 0
		const { records } = await preview(mappingId, { connectionId, recordIds: [same, changed, gone, added] })
		const at = (name: string) => hubspot.companies.list().find(({ data }) => data.name === name)?.id
		expect(records).toMatchObject([
			{ action: 'unchanged', externalId: at('Same'), changes: {}, current: { properties: { name: 'Same' } } },
			{ action: 'update', externalId: at('Changed'), current: { properties: { name: 'Changed' } } },
			{ action: 'fail', errors: [{ code: 'record_not_found' }] },
			{ action: 'create', externalId: null, current: null, changes: {} },
		])
		expect(records[1]?.changes).toEqual({
			'properties.name': { from: 'Changed', to: 'Changed since' },
			'properties.phone': { from: null, to: '123' },
		})
		expect(writesAt()).toEqual([])
	})
})

it('A preview looks up links where it has a connection, and has none without', async () => {
	const xeroId = await connectXero(tenant, xero)
	const { id: contact } = xero.contacts.put({ Name: 'Acme', EmailAddress: 'a@acme.example' })
	const contacts = {
		name: 'Contacts',
		source: { system: 'xero', object: 'contacts' },
		target: { system: 'internal', object: 'company' },
		fields: [{ target: 'name', source: 'Name' }],
		status: 'active' as const,
	}
	const invoices = {
		...contacts,
		source: { system: 'xero', object: 'invoices' },
		target: { system: 'internal', object: 'invoice' },
		fields: [
			{
				target: 'companyId',
				source: 'Contact.ContactID',
				transforms: [{ name: 'lookupLink' as const, object: 'contacts' }],
			},
		],
	}
	const { id: mappingId } = await tenant.remit.mappings.create(invoices)
	const record = xero.invoices.put({ Type: 'ACCREC', Status: 'AUTHORISED', Contact: { ContactID: contact } })
	const live = { connectionId: xeroId, externalIds: [record.id] }
	expect((await preview(mappingId, live)).records).toMatchObject([{ action: 'fail', errors: [{ code: 'not_linked' }] }])
	await (await newSync(server, tenant, xeroId, contacts)).run()
	const [company] = (await tenant.remit.companies.list()).data
	expect((await preview(mappingId, live)).records).toMatchObject([{ action: 'create', output: { companyId: company?.id } }])
	const pasted = { records: [{ Contact: { ContactID: contact } }] }
	expect((await preview(mappingId, pasted)).records).toMatchObject([{ action: 'fail', errors: [{ code: 'not_linked' }] }])
	const { id: back } = await tenant.remit.mappings.create({
		...invoices,
		source: invoices.target,
		target: invoices.source,
		fields: [{ ...invoices.fields[0], target: 'Contact.ContactID', source: 'companyId' }],
	})
	const { id: recordId } = await tenant.remit.invoices.create({ companyId: company?.id as string, status: 'sent' })
	const out = await preview(back, { connectionId: xeroId, recordIds: [recordId] })
	expect(out.records).toMatchObject([{ action: 'create', output: { Contact: { ContactID: contact } } }])
	expect((await preview(back, { recordIds: [recordId] })).records).toMatchObject([{ errors: [{ code: 'not_linked' }] }])
})
