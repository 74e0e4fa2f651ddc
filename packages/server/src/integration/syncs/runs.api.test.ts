// Runs begin when they are due, wait for the provider, go on where they were, and end.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Tenant } from '../../../test/harness.ts'
import { connect, counts, fromHubSpot, type HubSpotServer, newSync, startWithHubSpot, toHubSpot } from '../../../test/syncs.ts'
import { always } from '../../../test/vendors/faults.ts'
import type { FakeHubSpot } from '../../../test/vendors/hubspot.ts'

let server: HubSpotServer
let tenant: Tenant
let hubspot: FakeHubSpot
let connectionId: string

beforeAll(async () => {
	server = await startWithHubSpot()
	;({ hubspot } = server)
})
afterAll(() => server.close())
beforeEach(async () => {
	tenant = await server.newTenant()
	hubspot.meet([])
	hubspot.companies.clear()
	hubspot.seed('companies', 150, { at: server.clock.now - 3_600_000 })
	connectionId = await connect(tenant, 'hubspot', hubspot)
})

const total = async () => (await tenant.remit.companies.list({ limit: 1 })).meta.total
const isPage = ({ path }: { path: string }) => path.includes('/objects/')

it('A run waits as long as the provider asks, and goes on where it was', async () => {
	const sync = await newSync(server, tenant, connectionId, fromHubSpot)
	hubspot.meet([null, { kind: 'rate_limited', retryAfter: 1_800 }], isPage)
	await tenant.remit.syncs.run(sync.id)
	await server.runJobs()
	const run = await sync.lastRun()
	expect(run).toMatchObject({ status: 'waiting', error: { code: 'provider_limit' }, progress: { read: 100 } })
	expect(run.waitingUntil).toBeGreaterThanOrEqual(server.clock.now + 1_800_000)
	expect(await tenant.remit.syncs.get(sync.id)).toMatchObject({ status: 'running', lastRun: { id: run.id, status: 'waiting' } })
	expect(counts(await sync.finish())).toEqual({ read: 150, created: 150 })
})

it('A pause of a day ends after an hour, or when the sync is paused and resumed', async () => {
	const sync = await newSync(server, tenant, connectionId, fromHubSpot)
	const tooMany = { kind: 'rate_limited', retryAfter: 86_400 } as const
	hubspot.meet([null, tooMany, tooMany], isPage)
	await tenant.remit.syncs.run(sync.id)
	for (let times = 0; times < 2; times++) {
		await server.runJobs()
		const { status, waitingUntil } = await sync.lastRun()
		expect([status, (waitingUntil ?? 0) - server.clock.now <= 3_600_000]).toEqual(['waiting', true])
		if (times === 0) server.clock.now = waitingUntil ?? 0
	}
	await tenant.remit.syncs.pause(sync.id)
	await tenant.remit.syncs.resume(sync.id)
	await server.runJobs()
	expect(await sync.lastRun()).toMatchObject({ status: 'succeeded', progress: { read: 150 } })
})

it('A provider that fails eight times ends the run, and the next one brings everything', async () => {
	const sync = await newSync(server, tenant, connectionId, fromHubSpot)
	hubspot.meet(always({ kind: 'html' }), isPage)
	expect(await sync.run()).toMatchObject({ status: 'failed', error: { code: 'provider_failed' } })
	hubspot.meet([])
	expect(counts(await sync.run())).toEqual({ read: 150, created: 150 })
})

it('A paused sync begins nothing and goes on with nothing, until it is resumed', async () => {
	const sync = await newSync(server, tenant, connectionId, fromHubSpot)
	await tenant.remit.syncs.run(sync.id)
	expect(await tenant.remit.syncs.pause(sync.id)).toMatchObject({
		...{ status: 'paused', nextRunAt: null, lastRun: { status: 'waiting' } },
	})
	await server.runJobs()
	expect(await sync.lastRun()).toMatchObject({ status: 'waiting', error: { code: 'paused' }, progress: { read: 0 } })
	await expect(tenant.remit.syncs.run(sync.id)).rejects.toMatchObject({ status: 409, code: 'sync_paused' })
	expect((await tenant.remit.syncs.get(sync.id)).lastRun).toMatchObject({ status: 'waiting' })
	expect(await tenant.remit.syncs.resume(sync.id)).toMatchObject({ status: 'running', lastRun: { status: 'queued' } })
	expect(counts(await sync.finish())).toEqual({ read: 150, created: 150 })
	expect(await tenant.remit.syncs.get(sync.id)).toMatchObject({ status: 'idle' })
})

it('A run that is cancelled writes nothing more', async () => {
	const sync = await newSync(server, tenant, connectionId, fromHubSpot)
	hubspot.meet([null, { kind: 'error', status: 503 }], isPage)
	await tenant.remit.syncs.run(sync.id)
	await server.runJobs()
	expect(await tenant.remit.syncs.cancel(sync.id)).toMatchObject({ status: 'cancelled', finishedAt: server.clock.now })
	server.clock.now += 600_000
	await server.runJobs()
	expect([await total(), (await sync.lastRun()).status]).toEqual([100, 'cancelled'])
	const { data } = await tenant.remit.webhooks.events.list({ type: 'sync.run.*' })
	expect(data.map(({ type }) => type)).toEqual(['sync.run.started', 'sync.run.cancelled'])
})

it('Runs begin by the schedule, one at a time', async () => {
	const schedule = { type: 'interval', minutes: 15 } as const
	const sync = await newSync(server, tenant, connectionId, fromHubSpot, { schedule })
	const first = server.clock.now + 900_000
	expect(await tenant.remit.syncs.get(sync.id)).toMatchObject({ nextRunAt: first, lastRun: null })
	server.clock.now = first
	expect(await sync.finish()).toMatchObject({ trigger: 'schedule', status: 'succeeded' })
	expect(await tenant.remit.syncs.get(sync.id)).toMatchObject({ nextRunAt: first + 900_000 })
	const hourInBerlin = (time: number) => new Date(time).toLocaleTimeString('de', { timeZone: 'Europe/Berlin', hour: '2-digit' })
	const hour = (Number.parseInt(hourInBerlin(server.clock.now), 10) + 12) % 24
	const inTwelveHours = { type: 'cron', expression: `0 ${hour} * * *`, timeZone: 'Europe/Berlin' } as const
	await tenant.remit.syncs.update(sync.id, { schedule: inTwelveHours })
	const { nextRunAt } = await tenant.remit.syncs.get(sync.id)
	expect(new Date(nextRunAt as number).toLocaleTimeString('de', { timeZone: 'Europe/Berlin' })).toBe(
		`${String(hour).padStart(2, '0')}:00:00`,
	)
	server.clock.now += 900_000
	await server.runJobs()
	expect((await tenant.remit.syncs.runs.list(sync.id)).meta.total).toBe(1)
	await tenant.remit.syncs.update(sync.id, { schedule: { type: 'manual' } })
	expect(await tenant.remit.syncs.get(sync.id)).toMatchObject({ nextRunAt: null })
})

it.each([
	[{ type: 'cron', expression: '0 0 31 2 *' }, '/schedule/expression'],
	[{ type: 'cron', expression: '61 * * * *' }, '/schedule/expression'],
	[{ type: 'cron', expression: '* * * * * *' }, '/schedule/expression'],
	[{ type: 'cron' }, '/schedule/expression'],
	[{ type: 'interval' }, '/schedule/minutes'],
	[{ type: 'manual', minutes: 5 }, '/schedule/minutes'],
	[{ type: 'interval', minutes: 5, timeZone: 'Europe/Berlin' }, '/schedule/timeZone'],
] as const)('A schedule %j is rejected', async (schedule, pointer) => {
	const error = { status: 422, code: 'invalid_sync', errors: [{ pointer }] }
	await expect(newSync(server, tenant, connectionId, fromHubSpot, { schedule })).rejects.toMatchObject(error)
})

it('A sync that contradicts its mapping or its connection is rejected, and a mapping in use stays', async () => {
	const { remit } = tenant
	const draft = await remit.mappings.create({ ...fromHubSpot, status: 'draft' })
	const outward = await remit.mappings.create(toHubSpot)
	const inward = await remit.mappings.create(fromHubSpot)
	const other = await remit.mappings.create({ ...fromHubSpot, source: { system: 'xero', object: 'contacts' } })
	const tried = (mappingId: string, more = {}) =>
		remit.syncs.create({ name: 'S', connectionId, mappingId, direction: 'inbound', start: false, ...more })
	const rejected = async (pointer: string, mappingId: string, more = {}) =>
		expect(tried(mappingId, more)).rejects.toMatchObject({ status: 422, code: 'invalid_sync', errors: [{ pointer }] })
	await rejected('/mappingId', draft.id)
	await rejected('/mappingId', outward.id)
	await rejected('/mappingId', other.id)
	await rejected('/reverseMappingId', inward.id, { direction: 'bidirectional' })
	await rejected('/reverseMappingId', inward.id, { reverseMappingId: outward.id })
	await expect(tried('map_none')).rejects.toMatchObject({ code: 'unknown_mapping', errors: [{ pointer: '/mappingId' }] })
	await expect(tried(inward.id, { connectionId: 'con_none' })).rejects.toMatchObject({ code: 'unknown_connection' })
	const { id } = await tried(inward.id)
	await rejected('/connectionId', inward.id)
	await expect(remit.mappings.delete(inward.id)).rejects.toMatchObject({ status: 409, code: 'record_in_use' })
	await remit.syncs.delete(id)
	await remit.mappings.delete(inward.id)
})

it('A connection that cannot be used blocks its syncs, and one that is deleted ends their run', async () => {
	const sync = await newSync(server, tenant, connectionId, fromHubSpot, { schedule: { type: 'interval', minutes: 5 } })
	hubspot.meet([null, { kind: 'error', status: 503 }], isPage)
	await tenant.remit.syncs.run(sync.id)
	await server.runJobs()
	hubspot.tokens.forbid(hubspot.token)
	hubspot.meet([])
	expect(await sync.finish()).toMatchObject({ status: 'failed', error: { code: 'connection_needs_reauth' } })
	hubspot.tokens.allow(hubspot.token)
	expect(await tenant.remit.syncs.get(sync.id)).toMatchObject({ status: 'blocked' })
	expect(await tenant.remit.connections.get(connectionId)).toMatchObject({ status: 'needs_reauth' })
	await expect(tenant.remit.syncs.run(sync.id)).rejects.toMatchObject({ status: 409, code: 'sync_blocked' })
	server.clock.now += 300_000
	await server.runJobs()
	const blocked = await tenant.remit.webhooks.events.list({ type: 'sync.blocked' })
	expect(blocked.data.length).toBeGreaterThan(0)
	await tenant.remit.connections.test(connectionId)
	server.clock.now += 300_000
	expect(counts(await sync.finish())).toMatchObject({ read: 150 })
	hubspot.meet([{ kind: 'error', status: 503 }], isPage)
	await tenant.remit.syncs.run(sync.id, { mode: 'full' })
	await server.runJobs()
	await tenant.remit.connections.delete(connectionId)
	expect(await sync.finish()).toMatchObject({ status: 'failed', error: { code: 'connection_not_active' } })
	expect(await tenant.remit.syncs.get(sync.id)).toMatchObject({ status: 'blocked' })
})

it('A connection that is disabled or deleted amid a run ends it as one that is not active', async () => {
	for (const isDeleted of [false, true]) {
		const id = await connect(tenant, 'hubspot', hubspot)
		const sync = await newSync(server, tenant, id, fromHubSpot)
		let asked = 0
		hubspot.meet([{ kind: 'slow', ms: 1_000 }], (request) => isPage(request) && ++asked > 0)
		await tenant.remit.syncs.run(sync.id)
		const ended = sync.finish()
		await expect.poll(() => asked).toBe(1)
		await (isDeleted ? tenant.remit.connections.delete(id) : tenant.remit.connections.update(id, { status: 'disabled' }))
		expect(await ended).toMatchObject({ status: 'failed', error: { code: 'connection_not_active' } })
		expect(await tenant.remit.syncs.get(sync.id)).toMatchObject({ status: 'blocked' })
	}
})

it('A connection that opens another account ends its syncs: the links are about other records', async () => {
	const sync = await newSync(server, tenant, connectionId, fromHubSpot)
	await sync.run()
	const { portalId } = hubspot
	try {
		Object.assign(hubspot, { portalId: 77 })
		await tenant.remit.connections.test(connectionId)
		expect(await sync.run()).toMatchObject({ status: 'failed', error: { code: 'account_changed' }, progress: { read: 0 } })
	} finally {
		Object.assign(hubspot, { portalId })
	}
})
