// Records of Remit go to a provider once, whatever becomes of its answers, and both sides come to agree.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { connect, counts, fromHubSpot, newSync, toHubSpot } from '../../../test/syncs.ts'
import type { Fault } from '../../../test/vendors/faults.ts'
import { FakeHubSpot } from '../../../test/vendors/hubspot.ts'
import { FakeStripe } from '../../../test/vendors/stripe.ts'

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
		vendor.log.length = 0
		vendor.meet([])
	}
	hubspot.companies.clear()
	stripe.records('customers').clear()
	hubspot.validationRule = () => undefined
})

const newCompanies = async (count: number) => {
	for (let n = 0; n < count; n++) await tenant.remit.companies.create({ name: `Company ${n}`, domain: `c${n}.example` })
}

const namesAt = () =>
	hubspot.companies
		.list()
		.flatMap(({ data, isRemoved }) => (isRemoved ? [] : String(data.name)))
		.sort()
const writes = () => hubspot.log.filter(({ method, path }) => method !== 'GET' && !path.includes('/search'))

it('Companies go out once, and later those alone that changed', async () => {
	await newCompanies(3)
	const sync = await newSync(server, tenant, await connect(tenant, 'hubspot', hubspot), toHubSpot)
	expect(counts(await sync.run())).toEqual({ read: 3, created: 3 })
	expect(namesAt()).toEqual(['Company 0', 'Company 1', 'Company 2'])
	expect(await sync.run()).toMatchObject({ status: 'succeeded', progress: { read: 0 } })
	const [company] = (await tenant.remit.companies.list()).data
	const id = company?.id as string
	await tenant.remit.companies.update(id, { name: 'First' })
	await tenant.remit.companies.update(id, { name: 'Second' })
	await tenant.remit.companies.update(id, { notes: 'No field of the mapping' })
	hubspot.log.length = 0
	expect(counts(await sync.run())).toEqual({ read: 1, updated: 1 })
	expect(writes()).toHaveLength(1)
	expect(counts(await sync.run('full'))).toEqual({ read: 3, unchanged: 3 })
	expect(writes()).toHaveLength(1)
})

it('What the provider refuses is an error of the run with its reason, and goes out when it was mended', async () => {
	await newCompanies(2)
	hubspot.validationRule = ({ name }) => (name === 'Company 1' ? 'Company names have no digit 1.' : undefined)
	const sync = await newSync(server, tenant, await connect(tenant, 'hubspot', hubspot), toHubSpot)
	const run = await sync.run()
	expect(run.status).toBe('partially_succeeded')
	const { data } = await tenant.remit.syncs.runs.errors.list(sync.id, run.id)
	expect(data).toMatchObject([
		{ direction: 'outbound', errors: [{ code: 'provider_rejected', reason: expect.stringContaining('digit 1') }] },
	])
	hubspot.validationRule = () => undefined
	expect(counts(await sync.run('failed'))).toEqual({ read: 1, created: 1 })
	expect(namesAt()).toEqual(['Company 0', 'Company 1'])
})

const toStripe = {
	name: 'To Stripe',
	source: { system: 'internal', object: 'company' },
	target: { system: 'stripe', object: 'customers' },
	fields: [{ target: 'name', source: 'name' }],
	status: 'active',
} as const

/** Every third answer is lost after the work is done. */
function* everyThirdLost(): Generator<Fault | null> {
	while (true) yield* [null, null, { kind: 'lost' } as const]
}

it.each(['stripe', 'hubspot'] as const)('Nothing is created twice at %s though every third answer is lost', async (provider) => {
	const vendor = { stripe, hubspot }[provider]
	await newCompanies(12)
	const mapping = { stripe: { ...toStripe, fields: [...toStripe.fields] }, hubspot: toHubSpot }[provider]
	const sync = await newSync(server, tenant, await connect(tenant, provider, vendor), mapping)
	vendor.meet(everyThirdLost(), ({ method, path }) => method === 'POST' && !path.includes('/search'))
	const run = await sync.run()
	expect(run).toMatchObject({ status: 'succeeded', error: null })
	expect(vendor.records(provider === 'stripe' ? 'customers' : 'companies').list()).toHaveLength(12)
	vendor.meet([])
	expect(counts(await sync.run('full'))).toEqual({ read: 12, unchanged: 12 })
})

it('Both ways: what one side writes comes back from the other in no round', async () => {
	await newCompanies(3)
	hubspot.seed('companies', 3, { at: server.clock.now - 3_600_000 })
	const sync = await newSync(server, tenant, await connect(tenant, 'hubspot', hubspot), fromHubSpot, { reverse: toHubSpot })
	expect(counts(await sync.run())).toMatchObject({ created: 6 })
	expect((await tenant.remit.companies.list()).meta.total).toBe(6)
	expect(hubspot.companies.list()).toHaveLength(6)
	hubspot.log.length = 0
	const eventsBefore = (await tenant.remit.webhooks.events.list({ limit: 1 })).meta.total
	for (let round = 0; round < 10; round++) {
		server.clock.now += 60_000
		const { progress } = await sync.run()
		expect([progress.created, progress.updated]).toEqual([0, 0])
	}
	expect(writes()).toEqual([])
	const { data } = await tenant.remit.webhooks.events.list({ type: 'company.*' })
	expect(data).toHaveLength(6)
	expect(eventsBefore).toBeGreaterThan(6)
})

it.each([
	['source_wins', 'HubSpot'],
	['target_wins', 'Remit'],
	['newest_wins', 'Remit'],
] as const)('Both ways: when both sides changed, %s brings the name of %s to both', async (conflictPolicy, winner) => {
	hubspot.seed('companies', 1, { at: server.clock.now - 3_600_000 })
	const sync = await newSync(server, tenant, await connect(tenant, 'hubspot', hubspot), fromHubSpot, {
		reverse: toHubSpot,
		conflictPolicy,
	})
	await sync.run()
	const [company] = (await tenant.remit.companies.list()).data
	server.clock.now += 600_000
	hubspot.companies.change(hubspot.companies.list()[0]?.id as string, { name: 'HubSpot' })
	server.clock.now += 600_000
	await tenant.remit.companies.update(company?.id as string, { name: 'Remit' })
	await sync.run()
	server.clock.now += 600_000
	await sync.run()
	expect([namesAt(), (await tenant.remit.companies.get(company?.id as string)).name]).toEqual([[winner], winner])
})

it('A deletion in Remit is one at the provider', async () => {
	await newCompanies(3)
	const settings = { deletePolicy: 'delete' } as const
	const sync = await newSync(server, tenant, await connect(tenant, 'hubspot', hubspot), toHubSpot, settings)
	await sync.run()
	const [one, two] = (await tenant.remit.companies.list()).data
	await tenant.remit.companies.delete(one?.id as string)
	expect(counts(await sync.run())).toEqual({ read: 1, deleted: 1 })
	await tenant.remit.companies.delete(two?.id as string)
	expect(counts(await sync.run('full'))).toMatchObject({ deleted: 1 })
	expect(namesAt()).toHaveLength(1)
})
