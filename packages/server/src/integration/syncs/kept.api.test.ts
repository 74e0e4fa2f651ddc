// What runs store: not more than the organization may store in a day, and not for ever.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { connect, counts, fromHubSpot, type HubSpotServer, newSync, startWithHubSpot } from '../../../test/syncs.ts'
import type { FakeHubSpot } from '../../../test/vendors/hubspot.ts'

const dayMs = 86_400_000
let server: HubSpotServer
let hubspot: FakeHubSpot

beforeAll(async () => {
	server = await startWithHubSpot({ STORED_MB_PER_DAY: 1 })
	;({ hubspot } = server)
})
afterAll(() => server.close())

it('A run that has stored what its organization may store in a day goes on when the next one begins', async () => {
	const tenant = await server.newTenant()
	hubspot.seed('companies', 1_500, { at: server.clock.now - dayMs })
	const sync = await newSync(server, tenant, await connect(tenant, 'hubspot', hubspot), fromHubSpot)
	await tenant.remit.syncs.run(sync.id)
	await server.runJobs()
	const run = await sync.lastRun()
	expect(run).toMatchObject({ status: 'waiting', error: { code: 'storage_limit' } })
	expect(run.progress.created).toBeLessThan(1_500)
	expect(Math.abs((run.waitingUntil as number) - (Math.floor(server.clock.now / dayMs) + 1) * dayMs)).toBeLessThan(1_000)
	for (let days = 0; days < 5 && (await sync.lastRun()).finishedAt === null; days++) {
		server.clock.now += dayMs
		await server.runJobs()
	}
	expect(counts(await sync.lastRun())).toEqual({ read: 1_500, created: 1_500 })
})

it('Runs are kept for 90 days, the last one for ever, and what the provider said of a record for 30', async () => {
	const tenant = await server.newTenant()
	hubspot.companies.clear()
	hubspot.seed('companies', 3, { at: server.clock.now - dayMs })
	const [one] = hubspot.companies.list()
	hubspot.companies.change(one?.id as string, { name: '' })
	const sync = await newSync(server, tenant, await connect(tenant, 'hubspot', hubspot), fromHubSpot)
	const first = await sync.run()
	const { data } = await tenant.remit.syncs.runs.errors.list(sync.id, first.id)
	expect(data).toHaveLength(1)
	await sync.run()
	const linked = hubspot.companies.list()[1]?.id as string
	expect((await tenant.remit.syncs.links.get(sync.id, linked)).lastSeen).toMatchObject({ id: linked })
	server.clock.now += 31 * dayMs
	await server.runJobs()
	expect(await tenant.remit.syncs.links.get(sync.id, linked)).toMatchObject({ lastSeen: null })
	expect((await tenant.remit.syncs.runs.list(sync.id)).meta.total).toBe(2)
	server.clock.now += 60 * dayMs
	await server.runJobs()
	expect((await tenant.remit.syncs.runs.list(sync.id)).data.map(({ id }) => id)).toEqual([(await sync.lastRun()).id])
	await expect(tenant.remit.syncs.runs.get(sync.id, first.id)).rejects.toMatchObject({ status: 404, code: 'sync_run_not_found' })
})
