// Mappings that are validated by the fields that their connection has.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { secret } from '../../../test/leaks.ts'
import { connect, fromHubSpot, newSync, toHubSpot } from '../../../test/syncs.ts'
import { FakeHubSpot } from '../../../test/vendors/hubspot.ts'
import { FakeStripe } from '../../../test/vendors/stripe.ts'
import type { MappingCreate } from '../../generated/contract.ts'

let server: TestServer
let tenant: Tenant
let connectionId: string
const hubspot = new FakeHubSpot()
const stripe = new FakeStripe()

beforeAll(async () => {
	await Promise.all([hubspot.start(), stripe.start()])
	server = await startTestServer({ ...hubspot.settings, ...stripe.settings })
})
afterAll(async () => {
	await server.close()
	await Promise.all([hubspot.stop(), stripe.stop()])
})
beforeEach(async () => {
	tenant = await server.newTenant()
	hubspot.clock = () => server.clock.now
	hubspot.meet([])
	connectionId = await connect(tenant, 'hubspot', hubspot)
	hubspot.log.length = 0
})

const create = async (mapping: MappingCreate) => (await tenant.remit.mappings.create(mapping)).id
const issuesOf = async (id: string) =>
	(await tenant.remit.mappings.get(id)).validation.issues.map(({ pointer, code, message }) => [pointer, code, message])
const draft = (fields: MappingCreate['fields'], more: Partial<MappingCreate> = {}): MappingCreate => ({
	...{ ...fromHubSpot, fields, match: null, status: 'draft', connectionId },
	...more,
})
const named = { target: 'name', source: 'properties.name' }
const schemaCalls = () => hubspot.log.filter(({ path }) => path.includes('/properties/'))

it('A field that the account does not have is an issue, with the nearest that it has', async () => {
	const id = await create(
		draft([
			named,
			{ target: 'phone', source: 'properties.phnoe' },
			{ target: 'notes', template: '{properties.city} {properties.nothing_like_it}' },
			{ target: 'domain', source: 'properties.domain', transforms: [{ name: 'coalesce', paths: ['properties.domian'] }] },
			{ target: 'taxId', source: 'id' },
		]),
	)
	const none = "The provider's companies have no field"
	expect(await issuesOf(id)).toEqual([
		['/fields/1/source', 'unknown_field', `${none} properties.phnoe. Is it properties.phone?`],
		['/fields/2/template', 'unknown_field', `${none} properties.nothing_like_it.`],
		['/fields/3/transforms/0/paths/0', 'unknown_field', `${none} properties.domian. Is it properties.domain?`],
	])
	await expect(tenant.remit.mappings.update(id, { status: 'active' })).rejects.toMatchObject({
		status: 422,
		code: 'invalid_mapping',
	})
	await tenant.remit.mappings.update(id, { fields: [named], status: 'active' })
	expect(await tenant.remit.mappings.get(id)).toMatchObject({ connectionId, status: 'active', validation: { valid: true } })
})

it('Targets are tested as well, and types of the account’s own fields', async () => {
	const out = { ...toHubSpot, status: 'draft', connectionId } as const
	const fields = [...toHubSpot.fields, { target: 'properties.nmae', source: 'phone' }]
	expect(await issuesOf(await create({ ...out, fields }))).toMatchObject([
		['/fields/4/target', 'unknown_field', expect.stringContaining('Is it properties.name?')],
	])
	hubspot.properties.push({ name: 'employees', type: 'number' } as (typeof hubspot.properties)[number])
	server.clock.now += 180_000
	const invoice = { target: { system: 'internal', object: 'invoice' } }
	const total = [{ target: 'totalCents', source: 'properties.employees' }]
	expect(await issuesOf(await create(draft(total, invoice)))).toMatchObject([
		['/fields/0/target', 'type_mismatch', expect.anything()],
	])
	hubspot.properties.pop()
	// Without the connection nobody knows the field.
	expect(await issuesOf(await create(draft(total, { ...invoice, connectionId: null })))).toEqual([])
})

it('The provider is asked once in three minutes', async () => {
	const id = await create(draft([named]))
	await tenant.remit.mappings.update(id, { fields: [{ ...named, required: true }] })
	await create(draft([named]))
	expect(schemaCalls()).toHaveLength(1)
	server.clock.now += 180_000
	await tenant.remit.mappings.update(id, { fields: [named] })
	expect(schemaCalls()).toHaveLength(2)
})

it('A provider that fails, and a connection that is disabled or deleted, leave the mapping as it would be without', async () => {
	const unknown = { target: 'phone', source: 'properties.phnoe' }
	hubspot.meet(Array(10).fill({ kind: 'error', status: 500 }))
	const id = await create(draft([named, unknown], { status: 'active' }))
	hubspot.meet([])
	expect(await issuesOf(id)).toEqual([])
	server.clock.now += 60_000
	await tenant.remit.connections.update(connectionId, { status: 'disabled' })
	await tenant.remit.mappings.update(id, { fields: [named, unknown] })
	await tenant.remit.connections.delete(connectionId)
	await tenant.remit.mappings.update(id, { name: 'Still here', fields: [unknown, named] })
	expect(await tenant.remit.mappings.get(id)).toMatchObject({ connectionId, name: 'Still here', validation: { valid: true } })
	await tenant.remit.mappings.update(id, { connectionId: null })
	await expect(tenant.remit.mappings.update(id, { connectionId })).rejects.toMatchObject({
		status: 422,
		code: 'unknown_connection',
	})
})

it('The connection is one of the organization to the mapping’s system, which has its object', async () => {
	const refused = async (mapping: MappingCreate) => {
		const { status, body } = await tenant.ask('POST', '/mappings', { body: mapping })
		return [status, body.code, body.errors[0].pointer]
	}
	const toStripe = await connect(tenant, 'stripe', stripe)
	expect(await refused(draft([named], { connectionId: toStripe }))).toEqual([422, 'invalid_mapping', '/connectionId'])
	const foreign = await connect(await server.newTenant(), 'hubspot', hubspot)
	expect(await refused(draft([named], { connectionId: foreign }))).toEqual([422, 'unknown_connection', '/connectionId'])
	const { id: other } = await tenant.remit.connections.create({
		...{ provider: 'http_json', name: 'Other', authType: 'api_key', credentials: { apiKey: secret('key-of-acme-0123456789') } },
		config: {
			baseUrl: 'http://api.example:1',
			objects: [{ name: 'customers', path: '/customers', idField: 'id', pagination: { style: 'none' } }],
		},
	})
	const at = (object: string) => draft([named], { source: { system: 'http_json', object }, connectionId: other })
	expect(await issuesOf(await create(at('customers')))).toEqual([])
	expect(await issuesOf(await create(at('people')))).toEqual([
		['/source/object', 'unknown_object', 'The connection has no object people.'],
	])
})

it('Only a sync of the connection uses it, and only a preview by the connection', async () => {
	const mapping = { ...fromHubSpot, connectionId }
	const second = await connect(tenant, 'hubspot', hubspot)
	await expect(newSync(server, tenant, second, mapping)).rejects.toMatchObject({ status: 422, code: 'invalid_sync' })
	const sync = await newSync(server, tenant, connectionId, mapping)
	expect(await sync.run()).toMatchObject({ status: 'succeeded' })
	const { mappingId } = await tenant.remit.syncs.get(sync.id)
	const preview = (id: string) => tenant.remit.mappings.preview(mappingId, { connectionId: id })
	await expect(preview(second)).rejects.toMatchObject({ status: 422, code: 'invalid_preview' })
	expect((await preview(connectionId)).validation).toEqual({ valid: true, issues: [] })
	const fields = [{ target: 'name', source: 'properties.nmae' }]
	const tried = await tenant.remit.mappings.preview(mappingId, { connectionId, fields })
	expect(tried.validation.issues).toMatchObject([
		{ pointer: '/fields/0/source', code: 'unknown_field' },
		{ code: 'key_not_mapped' },
	])
})
