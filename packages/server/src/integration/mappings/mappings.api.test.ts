import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { eventsOf } from '../../../test/events.ts'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import type { MappingCreate, MappingField, MappingIssue } from '../../generated/contract.ts'
import { scopes } from '../../platform/auth/keys.ts'
import { query } from '../../platform/db/database.ts'

let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	server = await startTestServer()
})
beforeEach(async () => {
	tenant = await server.newTenant()
})
afterAll(() => server.close())

const inbound: Omit<MappingCreate, 'fields'> = {
	name: 'HubSpot companies',
	source: { system: 'hubspot', object: 'companies' },
	target: { system: 'internal', object: 'company' },
}
const outbound: Omit<MappingCreate, 'fields'> = {
	name: 'Xero invoices',
	source: { system: 'internal', object: 'invoice' },
	target: { system: 'xero', object: 'invoices' },
}
const named: MappingField = { target: 'name', source: 'properties.name', required: true }

const create = (body: object) => tenant.ask('POST', '/mappings', { body })
/** The issues of a draft, as `pointer code`. */
const issuesOf = async (body: object): Promise<string[]> => {
	const { id } = (await create(body)).body
	const { validation } = (await tenant.ask('GET', `/mappings/${id}`)).body.data
	expect(validation.valid).toBe(validation.issues.length === 0)
	return validation.issues.map(({ pointer, code }: MappingIssue) => `${pointer} ${code}`)
}
/** The places of a 422, as `pointer code`. */
const refused = async (body: object): Promise<string[]> => {
	const { status, body: problem } = await create(body)
	expect({ status, code: problem.code }).toEqual({ status: 422, code: 'invalid_mapping' })
	return problem.errors.map(({ pointer, code }: { pointer: string; code: string }) => `${pointer} ${code}`)
}

describe('a mapping', () => {
	it('is created as a draft, read, listed by status, changed and deleted with the SDK', async () => {
		const { remit, organizationId } = tenant
		const { id } = await remit.mappings.create({ ...inbound, fields: [named] })
		expect(await remit.mappings.get(id)).toEqual({
			...{ ...inbound, id, organizationId, fields: [named], match: null, status: 'draft', version: 1 },
			connectionId: null,
			...{ validation: { valid: true, issues: [] }, createdAt: server.clock.now, updatedAt: server.clock.now },
		})
		await remit.mappings.update(id, { status: 'active', match: { keys: ['name'], onMultiple: 'first' } })
		expect((await remit.mappings.list({ status: 'active' })).data).toMatchObject([{ id, version: 2, match: { keys: ['name'] } }])
		expect((await remit.mappings.list({ status: 'draft' })).meta).toEqual({
			total: 0,
			limit: 50,
			offset: 0,
			hasMore: false,
			nextCursor: null,
		})
		await remit.mappings.delete(id)
		expect(await tenant.ask('GET', `/mappings/${id}`)).toMatchObject({ status: 404, body: { code: 'mapping_not_found' } })
	})

	it('has events and entries of the audit log for each change, and none for a write of what is there', async () => {
		const { id } = await tenant.remit.mappings.create({ ...inbound, fields: [named] })
		await tenant.remit.mappings.update(id, { name: 'Accounts' })
		await tenant.remit.mappings.update(id, { name: 'Accounts', fields: [named] })
		await tenant.remit.mappings.delete(id)
		const events = await eventsOf(server, tenant, id)
		expect(events.map(({ type }) => type)).toEqual(['mapping.created', 'mapping.updated', 'mapping.deleted'])
		expect(events[1]?.changes).toEqual({ name: { from: 'HubSpot companies', to: 'Accounts' } })
		const { data } = (await tenant.ask('GET', `/api/audit?resource=${id}`)).body
		expect(data.map(({ action }: { action: string }) => action)).toEqual(['deleted', 'updated', 'created'])
	})

	it('keeps what it said at each version at which that changed, also when it is deleted', async () => {
		const { id } = await tenant.remit.mappings.create({ ...inbound, fields: [named] })
		await tenant.remit.mappings.update(id, { name: 'Accounts' })
		await tenant.remit.mappings.update(id, { fields: [named, { target: 'domain', constant: null }] })
		await tenant.remit.mappings.delete(id)
		const kept = query<{ mappingId: string }, { version: number; fields: string | object }>((knex, key) =>
			knex('mapping_versions').where(key).orderBy('version').select('version', 'fields'),
		)
		const rows = await server.db.all(kept, { mappingId: id })
		const said = (fields: string | object) => (typeof fields === 'string' ? JSON.parse(fields) : fields)
		expect(rows.map(({ version, fields }) => [version, said(fields).length])).toEqual([
			[1, 1],
			[3, 2],
		])
	})

	it('is for keys without a limit to kinds of records', async () => {
		const { key } = await tenant.newKey(scopes, { resources: ['company'] })
		const answer = await tenant.ask('GET', '/mappings', { key })
		expect(answer).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } })
	})

	it('is deleted by a key with `admin` only', async () => {
		const { id } = await tenant.remit.mappings.create({ ...inbound, fields: [named] })
		const { key } = await tenant.newKey(['write'])
		expect((await tenant.ask('DELETE', `/mappings/${id}`, { key })).status).toBe(403)
	})
})

describe('what can never be right is refused with its place:', () => {
	it.each<[name: string, body: object, places: string[]]>([
		['two internal sides', { ...inbound, source: outbound.source }, ['/source/system one_internal_side']],
		['no internal side', { ...inbound, target: outbound.target }, ['/source/system one_internal_side']],
		['an unknown system', { source: { system: 'sap', object: 'bp' } }, ['/source/system unknown_system']],
		['an unknown object', { target: { system: 'internal', object: 'deal' } }, ['/target/object unknown_object']],
		[
			'fields that contradict themselves',
			{
				fields: [
					named,
					{ target: 'domain', source: 'a', constant: 1 },
					{ target: 'notes', source: 'a.__proto__' },
					{ target: 'phone', source: 'a', transforms: [{ name: 'trim' }, { name: 'truncate' }] },
					{ target: 'taxId', template: '{a' },
					{ target: 'vatId', source: 'a', transforms: [{ name: 'concat', paths: ['b['] }] },
				],
			},
			[
				...['/fields/1 invalid_field', '/fields/2/source invalid_path', '/fields/3/transforms/1 invalid_transform'],
				...['/fields/4/template invalid_path', '/fields/5/transforms/0/paths/0 invalid_path'],
			],
		],
		[
			'two fields with one target',
			{ fields: [named, { ...named, source: 'b' }] },
			['/fields/0/target duplicate_target', '/fields/1/target duplicate_target'],
		],
	])('%s', async (_name, body, places) => {
		expect(await refused({ ...inbound, fields: [named], ...body })).toEqual(places)
	})

	it.each([
		['a transform that there is none of', { transforms: [{ name: 'eval' }] }, '/fields/0/transforms/0/name'],
		['a currency that is none', { transforms: [{ name: 'toCents', currency: 'XXX' }] }, '/fields/0/transforms/0/currency'],
		['a path of 501 characters', { source: 'x'.repeat(501) }, '/fields/0/source'],
	])('%s, by the contract', async (_name, field, pointer) => {
		const { status, body } = await create({ ...inbound, fields: [{ ...named, ...field }] })
		expect([status, body.errors[0].pointer]).toEqual([400, pointer])
	})
})

describe('the validation of a draft names', () => {
	it('fields that a company does not have, or that nobody writes, and required ones that are missing', async () => {
		const fields = ['nickname', 'createdAt', 'name.first', 'billingCity'].map((target) => ({ target, source: 'a' }))
		expect(await issuesOf({ ...inbound, fields: fields.filter(({ target }) => target !== 'name.first') })).toEqual([
			...['/fields/0/target unknown_field', '/fields/1/target read_only_field', '/fields required_field_missing'],
		])
		expect(await issuesOf({ ...inbound, fields: fields.slice(2) })).toEqual(['/fields/0/target unknown_field'])
	})

	it('fields of an invoice that are read and that it does not have', async () => {
		const fields = [
			{ target: 'Contact.Name', source: 'billTo.name' },
			{ target: 'Total', source: 'totalCents', transforms: [{ name: 'fromCents', currencyPath: 'currency' }] },
			{ target: 'LineItems[0].Description', source: 'lineItems[0].description' },
			{ target: 'Reference', template: '{invoiceNumber} {customer}' },
			{ target: 'Notes', source: 'notes', transforms: [{ name: 'coalesce', paths: ['note'] }] },
			{ target: 'Buyer', source: 'billTo' },
		]
		expect(await issuesOf({ ...outbound, fields })).toEqual([
			'/fields/3/template unknown_field',
			'/fields/4/transforms/0/paths/0 unknown_field',
			'/fields/5/source not_a_value',
		])
	})

	it('transforms and values that do not fit the type of the other side', async () => {
		const ofInvoices = { ...inbound, target: { system: 'internal', object: 'invoice' } }
		const fields = [
			{ target: 'totalCents', source: 'total', transforms: [{ name: 'toCents', currency: 'EUR' }] },
			{ target: 'subtotalCents', source: 'total', transforms: [{ name: 'toCents', currency: 'EUR' }, { name: 'toString' }] },
			{ target: 'invoiceNumber', source: 'number', transforms: [{ name: 'toInteger' }, { name: 'trim' }] },
			{ target: 'notes', constant: 7 },
			{ target: 'paymentTerms', source: 'terms', default: true, onError: 'use_default' },
			{ target: 'taxLabel', source: 'label', onError: 'use_default' },
			{ target: 'billTo', source: 'buyer' },
		]
		expect(await issuesOf({ ...ofInvoices, fields })).toEqual([
			'/fields/1/target type_mismatch',
			'/fields/2/transforms/1 type_mismatch',
			'/fields/3/target type_mismatch',
			'/fields/4/default type_mismatch',
			'/fields/5/onError default_missing',
			'/fields/6/target not_a_value',
		])
	})

	it('texts of a provider where Remit takes a number', async () => {
		const hubspot = { ...inbound, source: { system: 'hubspot', object: 'companies' } }
		const target = { target: { system: 'internal', object: 'invoice' }, match: null }
		const fields = ['properties.zip', 'properties.employees'].map((source) => ({ target: 'totalCents', source }))
		expect(await issuesOf({ ...hubspot, ...target, fields: [fields[0]] })).toEqual(['/fields/0/target type_mismatch'])
		// A field of the account's own may be anything.
		expect(await issuesOf({ ...hubspot, ...target, fields: [fields[1]] })).toEqual([])
	})

	it('keys that are no targets, or by which nothing is found', async () => {
		const match = { keys: ['name', 'domain', 'notes'], onMultiple: 'conflict' }
		const expected = ['/match/keys/1 key_not_mapped', '/match/keys/2 no_match_key']
		expect(await issuesOf({ ...inbound, fields: [named], match })).toEqual(expected)
	})
})

describe('a mapping with issues', () => {
	const fields = [{ target: 'nickname', source: 'a' }]

	it('is not created as active', async () => {
		expect(await refused({ ...inbound, fields, status: 'active' })).toEqual([
			'/fields/0/target unknown_field',
			'/fields required_field_missing',
		])
	})

	it('does not become active, and an active one gets none', async () => {
		const { id } = await tenant.remit.mappings.create({ ...inbound, fields })
		const patch = (body: object) => tenant.ask('PATCH', `/mappings/${id}`, { body })
		expect(await patch({ status: 'active' })).toMatchObject({ status: 422, body: { code: 'invalid_mapping' } })
		expect((await patch({ status: 'active', fields: [named] })).status).toBe(200)
		expect(await patch({ fields })).toMatchObject({ status: 422, body: { code: 'invalid_mapping' } })
		expect((await patch({ fields, status: 'draft' })).status).toBe(200)
		expect(await tenant.remit.mappings.get(id)).toMatchObject({ status: 'draft', validation: { valid: false } })
	})
})
