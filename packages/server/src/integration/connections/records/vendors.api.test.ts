// Pages, look-ups and writes at HubSpot, Xero and Stripe.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Tenant } from '../../../../test/harness.ts'
import { secret } from '../../../../test/leaks.ts'
import { failureOf, idsOf, type RecordServer, readAll, startRecordServer } from '../../../../test/record-context.ts'
import { planOf } from '../../../../test/vendors/faults.ts'
import { FakeHubSpot } from '../../../../test/vendors/hubspot.ts'
import { FakeStripe } from '../../../../test/vendors/stripe.ts'
import { FakeXero } from '../../../../test/vendors/xero.ts'
import {
	CannotFind,
	capabilitiesOf,
	describeObject,
	type ExternalRecord,
	findRecords,
	type ObjectKey,
	ProviderFailed,
	type RecordPage,
	readPage,
	readRecord,
	removeRecord,
	writeRecord,
} from './records.ts'

const vendors = { hubspot: new FakeHubSpot(), xero: new FakeXero(), stripe: new FakeStripe() }
let records: RecordServer
let tenant: Tenant
const keys: Record<string, ObjectKey> = {}

beforeAll(async () => {
	const settings = await Promise.all(Object.values(vendors).map(async (vendor) => (await vendor.start()).settings))
	records = await startRecordServer(Object.assign({}, ...settings))
	for (const vendor of Object.values(vendors)) vendor.clock = () => records.server.clock.now
	tenant = await records.server.newTenant()
	const key = (object: string, connectionId: string) => {
		keys[object] = { organizationId: tenant.organizationId, connectionId, object }
	}
	const { id: clientId, secret: clientSecret } = vendors.xero.tokens.client
	const xero = { provider: 'xero', authType: 'client_credentials', credentials: { clientId, clientSecret } } as const
	const xeroId = await records.newConnection(tenant, xero)
	key('contacts', xeroId)
	key('companies', await records.newConnection(tenant, { provider: 'hubspot', credentials: { apiKey: vendors.hubspot.token } }))
	key('customers', await records.newConnection(tenant, { provider: 'stripe', credentials: { apiKey: vendors.stripe.token } }))
})
beforeEach(() => {
	for (const vendor of Object.values(vendors)) vendor.meet([])
	records.server.clock.now += 24 * 3_600_000
})
afterAll(async () => {
	await records.close()
	for (const vendor of Object.values(vendors)) await vendor.stop()
})

const objects = { companies: vendors.hubspot, contacts: vendors.xero, customers: vendors.stripe } as const
const names = Object.keys(objects) as (keyof typeof objects)[]
const fields = ['properties.name', 'properties.domain']
/** Those of `expected` that were not read, and those that were besides them. */
const differing = (read: readonly ExternalRecord[], expected: readonly string[]) => {
	const [found, wanted] = [new Set(read.map(({ id }) => id)), new Set(expected)]
	return {
		missing: [...wanted].filter((id) => !found.has(id)).length,
		more: [...found].filter((id) => !wanted.has(id)).length,
	}
}
const keyOf = (object: string) => keys[object] as ObjectKey
const connectionOf = (object: string) => tenant.remit.connections.get(keyOf(object).connectionId)

it.each(names)('%s are read to the last page, and the first call makes the connection active', async (object) => {
	// All changed within one second, so that an empty page tells the end.
	const seeded = objects[object].seed(object, object === 'contacts' ? 1_203 : 203)
	const { records: read, pages } = await readAll(records.context, keyOf(object), { fields })
	expect(idsOf(read)).toEqual(idsOf(read.filter(({ id }) => seeded.includes(id))))
	expect([idsOf(read).length, pages]).toEqual([seeded.length, object === 'contacts' ? 4 : 3])
	expect(await connectionOf(object)).toMatchObject({ status: 'active', lastSuccessAt: records.server.clock.now })
})

it.each(['companies', 'contacts'] as const)(
	'what changed of %s is read, the oldest change first, at the time itself as well',
	async (object) => {
		const since = records.server.clock.now - 3_600_000
		const vendor = objects[object]
		const before = vendor.seed(object, 3, { at: since - 900_000 })
		const at = vendor.seed(object, 2, { at: since })
		const later = vendor.seed(object, 2, { at: since + 1_500 })
		const { records: read } = await readAll(records.context, keyOf(object), { since, fields })
		expect(idsOf(read)).toEqual([...at, ...later].sort())
		const times = read.map(({ changedAt }) => changedAt as number)
		expect(times).toEqual(times.toSorted((a, b) => a - b))
		expect(read.some(({ id }) => before.includes(id))).toBe(false)
	},
)

it('more companies than a search answers are read, also when all changed at once', async () => {
	const since = records.server.clock.now - 3_600_000
	const first = vendors.hubspot.seed('companies', 10_150, { at: since })
	const then = vendors.hubspot.seed('companies', 450, { at: since + 5 })
	const { records: read, total } = await readAll(records.context, keyOf('companies'), { since, fields })
	expect(total).toBe(10_600)
	expect(differing(read, [...first, ...then])).toEqual({ missing: 0, more: 0 })
}, 60_000)

it.each(['companies', 'contacts'] as const)(
	'%s that change while pages are read push none over an edge',
	async (object) => {
		const since = records.server.clock.now - 3_600_000
		const count = object === 'contacts' ? 2_500 : 900
		const seeded = Array.from({ length: count / 100 }, (_, n) =>
			objects[object].seed(object, 100, { at: since + n * 2_000 }),
		).flat()
		const { records: read } = await readAll(records.context, keyOf(object), {
			...{ since, fields },
			between: (page) => {
				for (let n = 0; n < 7; n++)
					objects[object].records(object).change(seeded[page * 11 + n] as string, {}, since + 900_000 + page)
			},
		})
		expect(differing(read, seeded)).toEqual({ missing: 0, more: 0 })
	},
	60_000,
)

it.each([
	[
		'companies',
		{ properties: { name: 'Acme', domain: 'acme.example' } },
		{ properties: { name: 'Acme GmbH' } },
		'properties.domain',
		'acme.example',
	],
	['contacts', { Name: 'Acme' }, { EmailAddress: 'a@acme.example' }, 'Name', 'Acme'],
	[
		'customers',
		{ name: 'Acme', email: 'a@acme.example', address: { country: 'DE' } },
		{ name: 'Acme GmbH' },
		'email',
		'a@acme.example',
	],
] as const)('of %s one is created, read, changed, looked up and removed', async (object, data, change, path, value) => {
	const key = keyOf(object)
	const write = { data, idempotencyKey: 'first', fields }
	const created = await writeRecord(records.context, key, { ...write, externalId: null })
	expect(created).toMatchObject({ data, isDeleted: false })
	const again = await writeRecord(records.context, key, {
		...write,
		externalId: null,
		idempotencyKey: object === 'companies' ? 'x' : 'first',
	}).catch((error) => error)
	if (object !== 'companies') expect(again).toMatchObject({ id: created.id })
	const changed = await writeRecord(records.context, key, {
		externalId: created.id,
		data: change,
		idempotencyKey: 'second',
		fields,
	})
	expect(changed).toMatchObject({ id: created.id, data: change })
	expect(await readRecord(records.context, key, created.id, fields)).toEqual(changed)
	const found = await findRecords(records.context, key, { [path]: value }, fields)
	expect(idsOf(found)).toContain(created.id)
	expect(await findRecords(records.context, key, { [path]: `${value}.nobody` }, fields)).toEqual([])
	await removeRecord(records.context, key, created.id)
	const removed = await readRecord(records.context, key, created.id, fields)
	expect(removed?.isDeleted ?? true).toBe(true)
	await removeRecord(records.context, key, created.id)
	expect(await readRecord(records.context, key, 'cus_nobody', fields)).toBeUndefined()
})

it('a write that the provider does not take has its words', async () => {
	vendors.hubspot.validationRule = () => `Use another token than ${vendors.hubspot.token}`
	const write = { externalId: null, data: { properties: { name: 'x' } }, idempotencyKey: 'k', fields }
	const [kind, code, message] = await failureOf(writeRecord(records.context, keyOf('companies'), write))
	vendors.hubspot.validationRule = () => undefined
	expect([kind, code]).toEqual(['rejected', 'rejected'])
	expect(message).toMatch(/^The provider answered 400 to POST \S+\. It says: .*Use another token than …/)
	const stripe = { externalId: null, data: { email: 'nonsense' }, idempotencyKey: 'k', fields }
	expect((await failureOf(writeRecord(records.context, keyOf('customers'), stripe)))[2]).toContain(
		'Invalid email address: nonsense',
	)
	const xero = { externalId: null, data: {}, idempotencyKey: 'k', fields }
	expect((await failureOf(writeRecord(records.context, keyOf('contacts'), xero)))[2]).toMatch(/It says: .+Name/i)
})

it.each(names)('a write of %s whose answer is lost may have been stored', async (object) => {
	const data = { companies: { properties: { name: 'Lost' } }, contacts: { Name: 'Lost' }, customers: { name: 'Lost' } }[object]
	const write = { externalId: null, data, idempotencyKey: 'lost', fields }
	for (const kind of ['lost', 'truncated', 'html'] as const) {
		objects[object].meet([{ kind }], ({ method, path }) => method !== 'GET' && !path.includes('token'))
		expect((await failureOf(writeRecord(records.context, keyOf(object), write)))[0]).toBe('unclear')
	}
	if (object !== 'companies') {
		expect(await writeRecord(records.context, keyOf(object), write)).toMatchObject({ data })
		expect(
			objects[object]
				.records(object)
				.list()
				.filter((one) => JSON.stringify(one.data).includes('Lost')),
		).toHaveLength(1)
	}
})

it.each(names)('%s are all read while calls fail in every way', async (object) => {
	const vendor = objects[object]
	const since = object === 'customers' ? null : records.server.clock.now - 3_600_000
	const seeded = Array.from({ length: 8 }, (_, n) =>
		vendor.seed(object, 100, { at: records.server.clock.now - 3_600_000 + n * 3_000 }),
	).flat()
	vendor.meet(planOf(7, { length: 60, percent: 50 }), ({ path }) => !path.includes('token'))
	const read: ExternalRecord[] = []
	for (let cursor: string | null = null, tries = 0; tries < 100; tries++) {
		try {
			const page: RecordPage = await readPage(records.context, keyOf(object), { cursor, since, fields })
			read.push(...page.records)
			cursor = page.next
			if (cursor === null) break
		} catch (error) {
			if (!(error instanceof ProviderFailed)) throw error
			expect(['retry', 'limit', 'cursor_expired']).toContain(error.kind)
			if (error.kind === 'cursor_expired') cursor = null
			records.server.clock.now += error.retryAfterMs ?? 0
		}
	}
	expect(seeded.filter((id) => !read.some((record) => record.id === id))).toEqual([])
})

it('a change that the index of HubSpot learns late is read by the next who asks', async () => {
	const { clock } = records.server
	vendors.hubspot.searchLagMs = 60_000
	const [id] = vendors.hubspot.seed('companies', 1, { at: clock.now - 10_000 })
	const read = async (since: number) => idsOf((await readAll(records.context, keyOf('companies'), { since, fields })).records)
	expect(await read(clock.now - 30_000)).not.toContain(id)
	clock.now += 60_000
	expect(await read(clock.now - 60_000)).toContain(id)
	vendors.hubspot.searchLagMs = 0
})

it('an invoice of Xero is deleted while it is a draft, and voided later', async () => {
	const key = { ...keyOf('contacts'), object: 'invoices' }
	const contact = await writeRecord(records.context, keyOf('contacts'), {
		externalId: null,
		data: { Name: 'Buyer' },
		idempotencyKey: 'c',
		fields,
	})
	const statusOf = async (status: string) => {
		const lines = [{ Description: 'Work', Quantity: 1, UnitAmount: 10, AccountCode: '200' }]
		const data = {
			Type: 'ACCREC',
			Contact: { ContactID: contact.id },
			LineItems: lines,
			Status: status,
			DueDate: '2026-12-31',
			Date: '2026-12-01',
		}
		const { id } = await writeRecord(records.context, key, { externalId: null, data, idempotencyKey: status, fields })
		await removeRecord(records.context, key, id)
		await removeRecord(records.context, key, id)
		const removed = await readRecord(records.context, key, id, [])
		return [removed?.data.Status, removed?.isDeleted]
	}
	expect(await statusOf('DRAFT')).toEqual(['DELETED', true])
	expect(await statusOf('AUTHORISED')).toEqual(['VOIDED', false])
})

it('a limit of the day says for how long', async () => {
	const read = (object: string) => readPage(records.context, keyOf(object), { cursor: null, since: null, fields })
	vendors.hubspot.meet([{ kind: 'rate_limited', problem: 'day' }])
	await expect(read('companies')).rejects.toMatchObject({ kind: 'limit', retryAfterMs: 3_600_000 })
	vendors.xero.meet([{ kind: 'rate_limited', problem: 'day', retryAfter: 40_000 }], ({ path }) => path.includes('Contacts'))
	await expect(read('contacts')).rejects.toMatchObject({ kind: 'limit', retryAfterMs: 3_600_000 })
	expect(await connectionOf('contacts')).toMatchObject({ status: 'active' })
})

it('a token that the provider takes no more is replaced, and the call is made again', async () => {
	vendors.xero.meet([{ kind: 'token_expired' }], ({ path }) => path.includes('Contacts'))
	const before = vendors.xero.log.length
	await readPage(records.context, keyOf('contacts'), { cursor: null, since: null, fields })
	const asked = vendors.xero.log.slice(before).map(({ path, status }) => [path.split('?')[0], status])
	expect(asked.slice(-3)).toEqual([
		['/api.xro/2.0/Contacts', 401],
		['/connect/token', 200],
		['/api.xro/2.0/Contacts', 200],
	])
})

it('a client that the provider does not take needs others', async () => {
	const credentials = { clientId: vendors.xero.tokens.client.id, clientSecret: secret('wrong-secret-0123456789') }
	const connectionId = await records.newConnection(tenant, { provider: 'xero', authType: 'client_credentials', credentials })
	const read = readPage(records.context, { ...keyOf('contacts'), connectionId }, { cursor: null, since: null, fields })
	expect((await failureOf(read)).slice(0, 2)).toEqual(['reauth', 'unauthorized'])
	expect(await tenant.remit.connections.get(connectionId)).toMatchObject({
		status: 'failed',
		lastError: { code: 'unauthorized' },
	})
})

it('a place in a list that the provider forgot is told', async () => {
	vendors.stripe.seed('customers', 150)
	vendors.stripe.meet([null, { kind: 'cursor_expired' }])
	expect(await failureOf(readAll(records.context, keyOf('customers')))).toMatchObject([
		'cursor_expired',
		'rejected',
		expect.any(String),
	])
})

it('the fields of companies are what the account has, and a new type is another schema', async () => {
	const before = await describeObject(records.context, keyOf('companies'))
	expect(before).toMatchObject({ name: 'companies', idField: 'id' })
	expect(before.fields).toContainEqual({ path: 'properties.domain', type: 'string' })
	expect(await describeObject(records.context, keyOf('companies'))).toEqual(before)
	vendors.hubspot.properties.push({ ...(vendors.hubspot.properties[0] as (typeof vendors.hubspot.properties)[0]), name: 'tier' })
	const after = await describeObject(records.context, keyOf('companies'))
	expect(after.fields).toContainEqual(expect.objectContaining({ path: 'properties.tier' }))
	expect(after.hash).not.toBe(before.hash)
	expect((await describeObject(records.context, keyOf('customers'))).fields).toContainEqual({ path: 'email', type: 'string' })
})

it('what cannot be done is known before it is tried', async () => {
	const connection = await connectionOf('customers')
	expect(capabilitiesOf(connection, 'invoices')).toMatchObject({ filtersChanges: false, writes: false, removes: false })
	expect(capabilitiesOf(connection, 'customers')).toMatchObject({
		filtersChanges: false,
		writes: true,
		idempotencyKeptMs: 23 * 3_600_000,
	})
	await expect(findRecords(records.context, keyOf('customers'), { phone: '1' }, [])).rejects.toBeInstanceOf(CannotFind)
	await expect(findRecords(records.context, keyOf('contacts'), { Name: 'a" OR 1==1' }, [])).rejects.toBeInstanceOf(CannotFind)
})
