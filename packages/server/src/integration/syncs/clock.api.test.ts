// The clock is set back by a day: what waits for a time does not wait for a day more.
import pino from 'pino'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { connect, counts, fromHubSpot, newSync, type Settings } from '../../../test/syncs.ts'
import { FakeHubSpot } from '../../../test/vendors/hubspot.ts'
import { Worker } from '../../platform/work/jobs.ts'

const [minuteMs, dayMs] = [60_000, 86_400_000]
let server: TestServer
let tenant: Tenant
let hubspot: FakeHubSpot
/** By how much the clock of Remit was set back; the clock of the provider was not. */
let behindMs = 0
beforeAll(async () => {
	hubspot = await new FakeHubSpot().start()
	server = await startTestServer(hubspot.settings)
	hubspot.clock = () => server.clock.now + behindMs
})
afterAll(async () => {
	await server.close()
	await hubspot.stop()
})
beforeEach(async () => {
	tenant = await server.newTenant()
	hubspot.meet([])
	hubspot.companies.clear()
	hubspot.seed('companies', 150, { at: server.clock.now - 3 * dayMs })
})

const newInbound = async (settings: Settings = {}) =>
	newSync(server, tenant, await connect(tenant, 'hubspot', hubspot), fromHubSpot, settings)

/** Sets the clock back, and does what the server does each minute. */
async function setBack(ms: number): Promise<void> {
	server.clock.now -= ms
	behindMs += ms
	const options = { db: server.db, handlers: {}, now: () => server.clock.now, log: pino({ level: 'silent' }) }
	await new Worker(options).releaseOverlong()
	await server.runJobs()
}

it.each([20 * 60, 24 * 60])('An interval goes on when the clock is set back by %i minutes', async (minutes) => {
	const sync = await newInbound({ schedule: { type: 'interval', minutes: 15 } })
	await setBack(minutes * minuteMs)
	expect(await sync.finish()).toMatchObject({ trigger: 'schedule', status: 'succeeded' })
	expect(await tenant.remit.syncs.get(sync.id)).toMatchObject({ nextRunAt: server.clock.now + 15 * minuteMs })
})

it('A run that is asked for after the clock was set back begins at once', async () => {
	const sync = await newInbound()
	await tenant.remit.companies.create({ name: 'Changed before' })
	server.clock.now -= 20 * minuteMs
	behindMs += 20 * minuteMs
	expect(await sync.run()).toMatchObject({ status: 'succeeded' })
})

it('A schedule of times of day goes by the new clock', async () => {
	const sync = await newInbound({ schedule: { type: 'cron', expression: '0 6 * * *', timeZone: 'UTC' } })
	const before = (await tenant.remit.syncs.get(sync.id)).nextRunAt as number
	await setBack(dayMs)
	const { nextRunAt, lastRun } = await tenant.remit.syncs.get(sync.id)
	expect([nextRunAt, lastRun]).toEqual([before - dayMs, null])
	server.clock.now = before - dayMs
	expect(await sync.finish()).toMatchObject({ trigger: 'schedule', status: 'succeeded' })
})

it('A schedule that is further away than an hour begins its run on time', async () => {
	const sync = await newInbound({ schedule: { type: 'interval', minutes: 44_640 } })
	const at = (await tenant.remit.syncs.get(sync.id)).nextRunAt as number
	for (; server.clock.now < at - 3_600_000; server.clock.now += 2.5 * dayMs) await server.runJobs()
	expect((await tenant.remit.syncs.runs.list(sync.id)).data).toEqual([])
	server.clock.now = at
	expect(await sync.finish()).toMatchObject({ trigger: 'schedule' })
})

it('A run that waits for its provider goes on', async () => {
	const sync = await newInbound()
	hubspot.meet([null, { kind: 'rate_limited', retryAfter: 7_200 }], ({ path }) => path.includes('/objects/'))
	await tenant.remit.syncs.run(sync.id)
	await server.runJobs()
	expect(await sync.lastRun()).toMatchObject({ status: 'waiting', error: { code: 'provider_limit' } })
	await setBack(dayMs)
	const run = await sync.lastRun()
	expect(run).toMatchObject({ status: 'succeeded' })
	expect(counts(run)).toEqual({ read: 150, created: 150 })
})

it('A sync that deletes reads everything again within a day', async () => {
	const sync = await newInbound({ deletePolicy: 'delete' })
	await sync.run()
	await setBack(dayMs)
	const { id } = await tenant.remit.syncs.run(sync.id)
	await server.runJobs()
	expect(counts(await tenant.remit.syncs.runs.get(sync.id, id))).toEqual({ read: 150, unchanged: 150 })
})
