// A key that is limited to some kinds of records: what it reads by events and deliveries, the endpoints that it makes, and that it
// cannot make a key that reaches further. Without a limit, `read` reads every record that has events.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { stripeSecret } from '../../../test/leaks.ts'
import { Sink } from '../../../test/sink.ts'
import type { ResourceKind, WebhookDelivery, WebhookEvent } from '../../generated/contract.ts'
import { scopes } from '../../platform/auth/keys.ts'

let server: TestServer
let tenant: Tenant
let sink: Sink
beforeAll(async () => {
	server = await startTestServer()
})
beforeEach(async () => {
	tenant = await server.newTenant()
	sink = await new Sink().start()
})
afterEach(() => sink.stop())
afterAll(() => server.close())

/** Asks with a key that has every scope and is limited to these kinds. */
async function limitedTo(...resources: ResourceKind[]) {
	const { id, key } = await tenant.newKey(scopes, { resources })
	const ask = (method: string, path: string, body?: object) => tenant.ask(method, path, { key, ...(body && { body }) })
	return { id, ask }
}

/** Makes an event of each of three kinds; returns the ids of the records. */
async function makeEvents() {
	const company = (await tenant.ask('POST', '/api/companies', { body: { name: 'Acme' } })).body.id
	const invoice = (await tenant.ask('POST', '/api/invoices', { body: { totalCents: 100 } })).body.id
	return { company, invoice, timeEntry: await tenant.newTimeEntry() }
}

const kindsOf = (events: WebhookEvent[]) => events.map(({ resource }) => resource.type)
const refused = { status: 403, body: { code: 'insufficient_scope' } }
const endpoint = (eventTypes: string[]) => ({ url: sink.url, eventTypes })

describe('the feed', () => {
	it('has the records of every kind for a key that may only `read`, as the contract says', async () => {
		await makeEvents()
		const { key } = await tenant.newKey(['read'])
		const { data } = (await tenant.ask('GET', '/webhooks/events', { key })).body
		expect(kindsOf(data)).toEqual(['company', 'invoice', 'deal', 'time_entry'])
		expect(data[1].data.totalCents).toBe(100)
	})

	it('of a limited key has the events about its kinds alone, in order and by pages', async () => {
		await makeEvents()
		await makeEvents()
		const { ask } = await limitedTo('invoice', 'company')
		const { data, meta } = (await ask('GET', '/webhooks/events')).body
		expect(kindsOf(data)).toEqual(['company', 'invoice', 'company', 'invoice'])
		expect(meta.total).toBe(4)
		const [first, , third] = data
		expect((await ask('GET', '/webhooks/events?limit=2&offset=1')).body.data).toEqual(data.slice(1, 3))
		const page = (await ask('GET', '/webhooks/events?limit=2')).body
		expect((await ask('GET', `/webhooks/events?limit=2&cursor=${page.meta.nextCursor}`)).body.data[0]).toEqual(third)
		expect((await ask('GET', '/webhooks/events?type=company.created')).body.data).toEqual([first, third])
		const other = (await tenant.ask('GET', '/webhooks/events?type=time_entry.created')).body.data[0]
		expect((await ask('GET', '/webhooks/events?type=time_entry.created')).body).toMatchObject({ data: [], meta: { total: 0 } })
		expect((await ask('GET', `/webhooks/events/${other.id}`)).body.code).toBe('event_not_found')
		expect((await ask('GET', `/webhooks/events/${first.id}`)).status).toBe(200)
	})

	it('of a key that is limited to kinds without events is empty', async () => {
		await makeEvents()
		const { ask } = await limitedTo('tax_rate')
		expect((await ask('GET', '/webhooks/events')).body).toMatchObject({ data: [], meta: { total: 0, nextCursor: null } })
	})
})

describe('an endpoint of a limited key', () => {
	it('gets the events about its kinds alone, also by a wildcard, and when the key is gone', async () => {
		const { id: keyId, ask } = await limitedTo('invoice')
		const { id } = (await ask('POST', '/webhooks/endpoints', endpoint(['*', 'invoice.*']))).body
		expect((await ask('GET', `/webhooks/endpoints/${id}`)).body.data.resources).toEqual(['invoice'])
		await tenant.ask('DELETE', `/api-keys/${keyId}`)
		await makeEvents()
		const { data } = (await tenant.ask('GET', `/webhooks/deliveries?endpointId=${id}`)).body
		expect(data.map(({ eventType }: WebhookDelivery) => eventType)).toEqual(['invoice.created'])
	})

	it('cannot subscribe to events about other kinds alone, when it is made or later, by whatever key', async () => {
		const { ask } = await limitedTo('invoice')
		const beyond = { status: 422, body: { code: 'event_type_out_of_reach', errors: [{ pointer: '/eventTypes/1' }] } }
		for (const pattern of ['company.created', 'company.*', 'webhook.test'])
			expect(await ask('POST', '/webhooks/endpoints', endpoint(['invoice.paid', pattern]))).toMatchObject(beyond)
		const { id } = (await ask('POST', '/webhooks/endpoints', endpoint(['*']))).body
		const body = { eventTypes: ['*', 'company.*'] }
		expect(await tenant.ask('PATCH', `/webhooks/endpoints/${id}`, { body })).toMatchObject(beyond)
	})

	it('is the only kind of endpoint that the key sees, changes, tests, and delivers to again', async () => {
		const all = (await tenant.ask('POST', '/webhooks/endpoints', { body: endpoint(['*']) })).body.id
		const { ask } = await limitedTo('invoice', 'company')
		const own = (await ask('POST', '/webhooks/endpoints', endpoint(['*']))).body.id
		const narrower = await limitedTo('invoice')
		const narrow = (await narrower.ask('POST', '/webhooks/endpoints', endpoint(['*']))).body.id
		await makeEvents()
		const ids = async (asker: typeof narrower) =>
			(await asker.ask('GET', '/webhooks/endpoints')).body.data.map((found: { id: string }) => found.id).sort()
		expect(await ids(narrower)).toEqual([narrow])
		expect(await ids({ ...narrower, ask })).toEqual([own, narrow].sort())
		const delivery = (await tenant.ask('GET', `/webhooks/deliveries?endpointId=${all}`)).body.data.at(-1).id
		for (const [method, path, body] of [
			['GET', `/webhooks/endpoints/${all}`],
			['PATCH', `/webhooks/endpoints/${all}`, { url: `${sink.url}/stolen` }],
			['DELETE', `/webhooks/endpoints/${all}`],
			['POST', `/webhooks/endpoints/${all}/rotate-secret`],
			['POST', `/webhooks/endpoints/${all}/test`],
			['POST', `/webhooks/endpoints/${all}/redeliver`],
			['GET', `/webhooks/deliveries/${delivery}`],
			['POST', `/webhooks/deliveries/${delivery}/redeliver`],
		] as const)
			expect({ path, status: (await ask(method, path, body)).status }).toEqual({ path, status: 404 })
		const deliveries = (await ask('GET', '/webhooks/deliveries')).body
		expect(deliveries.meta.total).toBe(3)
		const pairs = deliveries.data.map(({ endpointId, eventType }: WebhookDelivery) => `${endpointId} ${eventType}`)
		expect(pairs.sort()).toEqual([`${own} company.created`, `${own} invoice.created`, `${narrow} invoice.created`].sort())
		const sorted = deliveries.data.map(({ id }: WebhookDelivery) => id)
		expect(sorted).toEqual(sorted.toSorted().reverse())
		expect((await ask('GET', '/webhooks/deliveries?limit=1&offset=1')).body.data[0].id).toBe(sorted[1])
		const { nextCursor } = (await ask('GET', '/webhooks/deliveries?limit=2')).body.meta
		expect((await ask('GET', `/webhooks/deliveries?cursor=${nextCursor}`)).body.data[0].id).toBe(sorted[2])
		expect((await ask('GET', `/webhooks/deliveries?endpointId=${all}`)).body.data).toEqual([])
		expect((await ask('GET', '/webhooks/deliveries?offset=20000')).status).toBe(400)
		expect((await ask('GET', `/webhooks/deliveries/${sorted[0]}`)).status).toBe(200)
		expect((await ask('POST', `/webhooks/endpoints/${own}/test`)).status).toBe(200)
	})
})

describe('a limited key', () => {
	it('is shown with its limit; without one it has null', async () => {
		const body = { name: 'shop', scopes: ['read'], resources: ['invoice', 'company', 'invoice'] }
		const { id } = (await tenant.ask('POST', '/api-keys', { body })).body
		const { data } = (await tenant.ask('GET', '/api-keys')).body
		const limits = data.map((key: { id: string; resources: unknown }) => [key.id === id, key.resources])
		expect(limits.sort()).toEqual([
			[false, null],
			[true, ['invoice', 'company']],
		])
	})

	it('does nothing with its scopes about other kinds, and cannot read the log of all', async () => {
		const { invoice, company } = await makeEvents()
		const { ask } = await limitedTo('invoice', 'deal')
		expect((await ask('GET', `/api/invoices/${invoice}`)).status).toBe(200)
		expect((await ask('GET', '/api/deals')).status).toBe(200)
		expect(await ask('GET', `/api/companies/${company}`)).toMatchObject(refused)
		expect(await ask('POST', '/api/time-entries', {})).toMatchObject(refused)
		expect(await ask('GET', '/api/organization')).toMatchObject(refused)
		expect(await ask('GET', '/api/audit')).toMatchObject(refused)
	})

	it('reads and changes nothing that is about the whole organization, whatever its kinds', async () => {
		const { ask } = await limitedTo('organization_settings', 'invoice')
		const credentials = '/api/organization/payment-credentials'
		const keys = { secretKey: stripeSecret('rk_live'), webhookSecret: stripeSecret('whsec', '8fKq2LwXc4Rk6') }
		for (const [method, path, body] of [
			['GET', '/api/audit'],
			['GET', credentials],
			['PUT', credentials, keys],
			['DELETE', credentials],
			['PATCH', '/api/organization', { name: 'Mine' }],
			['PUT', '/api/organization', { name: 'Mine' }],
		] as const)
			expect({ method, path, ...(await ask(method, path, body)) }).toMatchObject({ method, path, ...refused })
		expect((await tenant.ask('GET', credentials)).body.data.configured).toBe(false)
		expect((await ask('GET', '/api/organization')).body.data.name).toBe('Test Ltd')
	})

	it('sees, revokes and rotates only keys that are limited as much', async () => {
		const { id: own, ask } = await limitedTo('invoice', 'company')
		const narrower = (await limitedTo('company')).id
		const others = [(await tenant.newKey(['read'])).id, (await limitedTo('invoice', 'deal')).id]
		const { data, meta } = (await ask('GET', '/api-keys')).body
		expect(data.map(({ id }: { id: string }) => id).sort()).toEqual([own, narrower].sort())
		expect(meta.total).toBe(2)
		const missing = { status: 404, body: { code: 'api_key_not_found' } }
		for (const id of others) {
			expect(await ask('POST', `/api-keys/${id}/rotate`)).toMatchObject(missing)
			expect(await ask('DELETE', `/api-keys/${id}`)).toMatchObject(missing)
		}
		const all = (await tenant.ask('GET', '/api-keys')).body.data
		expect(all.filter(({ revokedAt }: { revokedAt: unknown }) => revokedAt !== null)).toEqual([])
		expect((await ask('DELETE', `/api-keys/${narrower}`)).status).toBe(200)
	})

	it('creates and rotates only keys that are limited as much', async () => {
		const { id, ask } = await limitedTo('invoice', 'company')
		const create = (resources?: ResourceKind[] | null) => ask('POST', '/api-keys', { name: 'x', scopes: ['read'], resources })
		for (const resources of [undefined, null, ['deal'], ['invoice', 'deal']] as const)
			expect(await create(resources && [...resources])).toMatchObject({
				...refused,
				body: { errors: [{ pointer: '/resources' }] },
			})
		expect((await create(['company'])).status).toBe(201)
		expect(await ask('POST', '/api-keys', { name: 'x', scopes: ['companies:read'], resources: ['invoice'] })).toMatchObject({
			status: 201,
		})
		const rotated = (await ask('POST', `/api-keys/${id}/rotate`)).body.id
		const { data } = (await tenant.ask('GET', '/api-keys')).body
		expect(data.find((key: { id: string }) => key.id === rotated).resources).toEqual(['invoice', 'company'])
	})
})
