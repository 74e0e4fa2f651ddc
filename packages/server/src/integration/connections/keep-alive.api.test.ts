// A refresh token that nobody uses is used in time, against a stand-in of Xero that ends it after 60 days.
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { browse, consent } from '../../../test/oauth-server.ts'
import { FakeXero } from '../../../test/vendors/xero.ts'
import { query } from '../../platform/db/database.ts'

const day = 86_400_000
const xero = new FakeXero()
let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	await xero.start()
	server = await startTestServer(xero.settings)
	xero.clock = () => server.clock.now
})
beforeEach(async () => {
	tenant = await server.newTenant()
	xero.meet([])
	xero.log.length = 0
})
afterEach(async () => {
	// The clock goes on for all of them.
	for (const { id } of (await tenant.remit.connections.list()).data) await tenant.remit.connections.delete(id)
})
afterAll(async () => {
	await server.close()
	await xero.stop()
})

const authorized = async () => {
	const { id } = await tenant.remit.connections.create({ provider: 'xero', name: 'Xero', authType: 'oauth2' })
	const { url } = await tenant.remit.connections.authorize(id)
	expect(await consent(await browse(url, `${server.url}/oauth/callback`))).toMatchObject({ status: 200 })
	return id
}
const refreshes = () => xero.log.filter(({ body }) => body.includes('grant_type=refresh_token')).length
const days = async (count: number) => {
	server.clock.now += count * day
	await settled()
}
/** Every job that is due has run to its end. */
const settled = async () => {
	await server.runJobs()
	await expect.poll(async () => server.db.all(leased, {}), { timeout: 15_000 }).toEqual([])
}
const jobsOf = async (id: string) => (await server.db.all(jobs, { resourceId: id })).map(({ dueAt }) => Number(dueAt))
const isToken = ({ path }: { path: string }) => path === '/connect/token'

it('A refresh token that nobody uses is used at three quarters of its 60 days, and so for years', async () => {
	const id = await authorized()
	expect(await jobsOf(id)).toEqual([server.clock.now + 45 * day])
	await days(44)
	expect(refreshes()).toBe(0)
	for (let times = 1; times <= 4; times++) {
		await days(times === 1 ? 1 : 46)
		expect(refreshes()).toBe(times)
	}
	expect(await tenant.remit.connections.test(id)).toMatchObject({ status: 'active' })
})

it('One that calls use has nothing done for it: its job looks and goes back to sleep', async () => {
	const id = await authorized()
	await days(30)
	await tenant.remit.connections.test(id)
	expect(refreshes()).toBe(1)
	await days(15)
	expect(refreshes()).toBe(1)
	const [dueAt = 0] = await jobsOf(id)
	expect(Math.abs(dueAt - (server.clock.now + 30 * day))).toBeLessThan(1_000)
})

it('A disabled connection has nothing done for it, until it is turned on again', async () => {
	const id = await authorized()
	await tenant.remit.connections.update(id, { status: 'disabled' })
	await days(46)
	expect([refreshes(), await jobsOf(id)]).toEqual([0, []])
	await tenant.remit.connections.update(id, { status: 'active' })
	await settled()
	expect(refreshes()).toBe(1)
	expect(await jobsOf(id)).toHaveLength(1)
})

it('A provider that fails is asked again later, and the connection is degraded meanwhile', async () => {
	const id = await authorized()
	xero.meet([{ kind: 'error', status: 503 }], isToken)
	await days(45)
	expect(await tenant.remit.connections.get(id)).toMatchObject({ status: 'degraded', lastError: { code: 'provider_failed' } })
	const [dueAt = 0] = await jobsOf(id)
	expect(dueAt - server.clock.now).toBeLessThan(10_000)
	await days(0.01)
	expect(await tenant.remit.connections.get(id)).toMatchObject({ lastRefreshedAt: expect.any(Number) })
	expect(await tenant.remit.connections.test(id)).toMatchObject({ status: 'active' })
})

it('A token that the provider ended needs a person, and is not asked for again', async () => {
	const id = await authorized()
	xero.tokens.rules = { ...xero.tokens.rules, idleMs: 40 * day }
	await days(45)
	xero.tokens.rules = { ...xero.tokens.rules, idleMs: 60 * day }
	expect(await tenant.remit.connections.get(id)).toMatchObject({ status: 'needs_reauth', lastError: { code: 'unauthorized' } })
	expect(await jobsOf(id)).toEqual([])
})

it('A connection without such a limit has no job, and a deleted one leaves none behind', async () => {
	const credentials = { clientId: xero.tokens.client.id, clientSecret: xero.tokens.client.secret }
	const own = await tenant.remit.connections.create({
		provider: 'xero',
		name: 'Own',
		authType: 'client_credentials',
		credentials,
	})
	expect(await tenant.remit.connections.test(own.id)).toMatchObject({ status: 'active' })
	expect(await jobsOf(own.id)).toEqual([])
	const id = await authorized()
	await tenant.remit.connections.delete(id)
	await days(46)
	expect(await jobsOf(id)).toEqual([])
})

const jobs = query<{ resourceId: string }, { dueAt: number | string }>((knex, { resourceId }) =>
	knex('jobs').where({ kind: 'tokenKeepAlive', resourceId }).select('dueAt'),
)

const leased = query<object, { kind: string }>((knex) => knex('jobs').whereNotNull('leaseUntil').select('kind'))
