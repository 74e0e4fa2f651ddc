// What a provider refuses, loses or already has: each record goes out once, and one that cannot keeps no other back.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { secret } from '../../../test/leaks.ts'
import { connect, counts, fromHubSpot, newSync, type TestSync, toHubSpot } from '../../../test/syncs.ts'
import { always, type FaultPlan } from '../../../test/vendors/faults.ts'
import { FakeHubSpot } from '../../../test/vendors/hubspot.ts'
import { FakeStripe } from '../../../test/vendors/stripe.ts'
import type { MappingCreate, SyncRun } from '../../generated/contract.ts'

const dayMs = 86_400_000

let server: TestServer
let tenant: Tenant
let hubspot: FakeHubSpot
let stripe: FakeStripe

beforeAll(async () => {
	hubspot = await new FakeHubSpot().start()
	stripe = await new FakeStripe().start()
	server = await startTestServer({ ...hubspot.settings, ...stripe.settings })
})
afterAll(async () => {
	await server.close()
	await hubspot.stop()
	await stripe.stop()
})
beforeEach(async () => {
	tenant = await server.newTenant()
	for (const vendor of [hubspot, stripe]) {
		vendor.clock = () => server.clock.now
		vendor.meet([])
	}
	hubspot.companies.clear()
	stripe.records('customers').clear()
	hubspot.validationRule = () => undefined
})

const toStripe: MappingCreate = {
	name: 'To Stripe',
	source: { system: 'internal', object: 'company' },
	target: { system: 'stripe', object: 'customers' },
	fields: [
		{ target: 'name', source: 'name' },
		{ target: 'email', source: 'billingEmail' },
	],
	status: 'active',
}

const fromStripe: MappingCreate = {
	...{ name: 'From Stripe', source: toStripe.target, target: toStripe.source, status: 'active' },
	fields: [{ target: 'name', source: 'name', required: true }],
}

type Settings = Parameters<typeof newSync>[4]

const hubSpotSync = async (settings: Settings = {}, mapping = toHubSpot) =>
	newSync(server, tenant, await connect(tenant, 'hubspot', hubspot), mapping, settings)
const stripeSync = async () => newSync(server, tenant, await connect(tenant, 'stripe', stripe), toStripe)

/** What creations at HubSpot meet. */
const creationsMeet = (plan: FaultPlan, having = '') =>
	hubspot.meet(plan, ({ method, path, text }) => method === 'POST' && !path.includes('/search') && text.includes(having))

const companiesThere = () => hubspot.companies.list().map(({ data: { name, phone } }) => ({ name, phone }))
const customers = () => stripe.customers.list().map(({ data }) => data.name)

async function errorsOf(sync: TestSync, run: SyncRun) {
	const { data } = await tenant.remit.syncs.runs.errors.list(sync.id, run.id)
	return data.flatMap(({ errors }) => errors)
}

it('A record with which the provider always fails is an error after some tries, and the others go out', async () => {
	for (let n = 0; n < 5; n++) await tenant.remit.companies.create({ name: `Company ${n}`, domain: `c${n}.example` })
	const sync = await hubSpotSync()
	creationsMeet(always({ kind: 'error', status: 500 }), 'Company 2')
	const run = await sync.run()
	expect([run.status, counts(run)]).toEqual(['partially_succeeded', { read: 5, created: 4, failed: 1 }])
	expect(await errorsOf(sync, run)).toMatchObject([
		{
			code: 'provider_failed',
			reason: expect.stringMatching(/^The provider answered 500 to POST \S+\. It says: internal error$/),
		},
	])
	creationsMeet([])
	expect(counts(await sync.run('failed'))).toEqual({ read: 1, created: 1 })
	expect(hubspot.companies.list()).toHaveLength(5)
})

it('A provider that fails with every record ends the run, with few of them as errors', async () => {
	for (let n = 0; n < 8; n++) await tenant.remit.companies.create({ name: `Company ${n}`, domain: `c${n}.example` })
	const sync = await hubSpotSync()
	creationsMeet(always({ kind: 'error', status: 500 }))
	const run = await sync.run()
	expect(run).toMatchObject({ status: 'failed', error: { code: 'provider_failed' }, progress: { failed: 3 } })
	creationsMeet([])
	expect((await sync.run()).status).toBe('succeeded')
	expect(hubspot.companies.list()).toHaveLength(8)
})

it('A creation that met a limit is waited for, and not taken for one without an answer', async () => {
	await tenant.remit.companies.create({ name: 'No domain' })
	const sync = await hubSpotSync()
	creationsMeet([{ kind: 'rate_limited', retryAfter: 1 }])
	expect(counts(await sync.run())).toEqual({ read: 1, created: 1 })
	expect(hubspot.companies.list()).toHaveLength(1)
})

it('A creation whose answer was lost is an error where nobody can ask for it', async () => {
	await tenant.remit.companies.create({ name: 'No domain' })
	const sync = await hubSpotSync()
	creationsMeet([{ kind: 'lost' }])
	const run = await sync.run()
	expect(await errorsOf(sync, run)).toMatchObject([
		{ reason: expect.stringContaining('It may have been created: the answer was lost or had no id') },
	])
	expect(hubspot.companies.list()).toHaveLength(1)
})

it('What HubSpot or Stripe refused goes out when it was mended in Remit', async () => {
	const { id } = await tenant.remit.companies.create({ name: 'Bad 1', billingEmail: 'bad@refused.example' })
	hubspot.validationRule = ({ name }) => (String(name).includes('1') ? 'Company names have no digits.' : undefined)
	const syncs = [await hubSpotSync(), await stripeSync()]
	stripe.meet([{ kind: 'cut' }], ({ method }) => method === 'POST')
	for (const sync of syncs) await sync.run()
	expect(hubspot.companies.list()).toHaveLength(0)
	await tenant.remit.companies.update(id, { name: 'Good' })
	for (const sync of syncs) expect((await sync.run()).status).toBe('succeeded')
	expect([companiesThere().map(({ name }) => name), customers()]).toEqual([['Good'], ['Good']])
})

const atHubSpot = (data: object) => hubspot.companies.put({ domain: 'acme.example', ...data }, { at: server.clock.now - dayMs })

it.each([
	['source_wins', { name: 'Remit', phone: '1' }, { read: 1, updated: 1 }],
	['target_wins', { name: 'HubSpot', phone: '1' }, { read: 1, skipped: 1 }],
	['manual', { name: 'HubSpot', phone: '1' }, { read: 1, failed: 1 }],
] as const)(
	'A company that is at the provider is linked by the match, and %s says who is written',
	async (conflictPolicy, ...then) => {
		atHubSpot({ name: 'HubSpot', phone: '1' })
		await tenant.remit.companies.create({ name: 'Remit', domain: 'acme.example' })
		const sync = await hubSpotSync({ conflictPolicy })
		const run = await sync.run()
		expect([...companiesThere(), counts(run)]).toEqual(then)
		expect((await sync.run()).progress.created).toBe(0)
	},
)

it.each([
	['conflict', { read: 1, failed: 1 }, 2],
	['skip', { read: 1, skipped: 1 }, 2],
	['first', { read: 1, updated: 1 }, 2],
] as const)('Where several match, %s decides', async (onMultiple, counted, there) => {
	for (const name of ['One', 'Two']) atHubSpot({ name })
	await tenant.remit.companies.create({ name: 'Remit', domain: 'acme.example' })
	const sync = await hubSpotSync({}, { ...toHubSpot, match: { keys: ['properties.domain'], onMultiple } })
	expect(counts(await sync.run())).toEqual(counted)
	expect(hubspot.companies.list()).toHaveLength(there)
})

it('Two companies that match one at the provider: the second is an error', async () => {
	for (const name of ['First', 'Second']) await tenant.remit.companies.create({ name, domain: 'acme.example' })
	atHubSpot({ name: 'HubSpot' })
	const sync = await hubSpotSync()
	const run = await sync.run()
	expect(counts(run)).toEqual({ read: 2, updated: 1, failed: 1 })
	expect(await errorsOf(sync, run)).toMatchObject([{ code: 'linked_already' }])
})

it('After a lost answer a stranger with the same domain is not taken for what was created', async () => {
	const { id } = await tenant.remit.companies.create({ name: 'Ours', domain: 'acme.example' })
	const sync = await hubSpotSync()
	creationsMeet([{ kind: 'lost' }])
	await tenant.remit.syncs.run(sync.id)
	await server.runJobs()
	await tenant.remit.companies.update(id, { name: 'Ours, renamed' })
	atHubSpot({ name: 'Stranger', phone: 'precious' })
	expect((await sync.finish()).status).toBe('succeeded')
	expect(companiesThere()).toMatchObject([{ name: 'Ours, renamed' }, { name: 'Stranger', phone: 'precious' }])
})

it('A key that the provider may have forgotten is not sent again', async () => {
	await tenant.remit.companies.create({ name: 'One' })
	const sync = await stripeSync()
	stripe.meet([{ kind: 'lost' }], ({ method }) => method === 'POST')
	await tenant.remit.syncs.run(sync.id)
	await server.runJobs()
	server.clock.now += 2 * dayMs
	const run = await sync.finish()
	expect(await errorsOf(sync, run)).toMatchObject([
		{ reason: expect.stringContaining('It may have been created: the answer was lost or had no id') },
	])
	expect(customers()).toEqual(['One'])
})

it('What was created and has been linked with another record in the meantime is an error', async () => {
	await tenant.remit.companies.create({ name: 'One' })
	const sync = await stripeSync()
	const inbound = await newSync(server, tenant, sync.connectionId, fromStripe)
	stripe.meet([{ kind: 'lost' }], ({ method }) => method === 'POST')
	await tenant.remit.syncs.run(sync.id)
	await server.runJobs()
	stripe.customers.change(stripe.customers.list()[0]?.id as string, { name: 'Renamed there' })
	await tenant.remit.syncs.run(inbound.id)
	await server.runJobs()
	expect((await inbound.lastRun()).progress.created).toBe(1)
	const run = await sync.finish()
	expect(run.status).toBe('partially_succeeded')
	expect(await errorsOf(sync, run)).toMatchObject([{ code: 'linked_already' }])
})

it('What an inbound sync brought does not go back by an outbound sync of the connection', async () => {
	hubspot.seed('companies', 3, { at: server.clock.now - 3_600_000 })
	const connectionId = await connect(tenant, 'hubspot', hubspot)
	const inbound = await newSync(server, tenant, connectionId, fromHubSpot)
	const outbound = await newSync(server, tenant, connectionId, toHubSpot)
	await outbound.run()
	await inbound.run()
	expect(counts(await outbound.run())).toEqual({})
	hubspot.log.length = 0
	expect(counts(await outbound.run('full'))).toEqual({ read: 3, unchanged: 3 })
	expect(hubspot.log.filter(({ method }) => method === 'PATCH')).toEqual([])
	const [company] = (await tenant.remit.companies.list()).data
	await tenant.remit.companies.update(company?.id as string, { name: 'Changed in Remit' })
	expect(counts(await outbound.run())).toEqual({ read: 1, updated: 1 })
})

/** An API that takes new records, and nothing else. */
async function takingOnly(object: object): Promise<string> {
	const api = createServer(async (req: IncomingMessage, res: ServerResponse) => {
		let text = ''
		for await (const part of req) text += part
		res.writeHead(200, { 'content-type': 'application/json' })
		res.end(req.method === 'POST' ? JSON.stringify({ ...JSON.parse(text), id: 1 }) : '[]')
	})
	api.listen(0, '127.0.0.1')
	await once(api, 'listening')
	api.unref()
	const baseUrl = `http://api.example:${(api.address() as AddressInfo).port}`
	const people = { name: 'people', path: '/people', idField: 'id', pagination: { style: 'none' as const }, ...object }
	const credentials = { apiKey: secret('key-of-acme-0123456789') }
	const { id } = await tenant.remit.connections.create({
		...{ provider: 'http_json', name: 'People', authType: 'api_key', credentials },
		config: { baseUrl, objects: [people] },
	})
	await tenant.remit.connections.test(id)
	return id
}

const toPeople: MappingCreate = {
	...{ name: 'To people', source: toStripe.source, target: { system: 'http_json', object: 'people' }, status: 'active' },
	fields: [{ target: 'name', source: 'name' }],
}

it('What the provider cannot do with a record is an error of the record', async () => {
	const { id } = await tenant.remit.companies.create({ name: 'One' })
	const connectionId = await takingOnly({ create: { method: 'POST', path: '/people' } })
	const sync = await newSync(server, tenant, connectionId, toPeople)
	expect(counts(await sync.run())).toEqual({ read: 1, created: 1 })
	await tenant.remit.companies.update(id, { name: 'Uno' })
	const run = await sync.run()
	expect(run.status).toBe('partially_succeeded')
	expect(await errorsOf(sync, run)).toMatchObject([{ reason: 'No record of people can be changed.' }])
})

it('A sync to an object that cannot be written is refused', async () => {
	const connectionId = await takingOnly({})
	await expect(newSync(server, tenant, connectionId, toPeople)).rejects.toMatchObject({
		code: 'invalid_sync',
		errors: [{ pointer: '/direction' }],
	})
})
