// Records of a provider become records of Remit, each accounted for.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Tenant } from '../../../test/harness.ts'
import {
	connect,
	counts,
	fromHubSpot,
	type HubSpotServer,
	newSync,
	type Settings,
	startWithHubSpot,
	type TestSync,
} from '../../../test/syncs.ts'
import type { FakeHubSpot } from '../../../test/vendors/hubspot.ts'

let server: HubSpotServer
let tenant: Tenant
let hubspot: FakeHubSpot

beforeAll(async () => {
	server = await startWithHubSpot()
	;({ hubspot } = server)
})
afterAll(() => server.close())
beforeEach(async () => {
	tenant = await server.newTenant()
	hubspot.companies.clear()
	hubspot.log.length = 0
})

const newInbound = async (settings: Settings = {}): Promise<TestSync> =>
	newSync(server, tenant, await connect(tenant, 'hubspot', hubspot), fromHubSpot, settings)

/** Records of which each changed a minute after the one before, all long ago. */
const seed = (count: number) => {
	for (let n = 0; n < count; n++) hubspot.seed('companies', 1, { at: server.clock.now - 90_000_000 + n * 60_000 })
}

const names = async () => (await tenant.remit.companies.list({ limit: 100 })).data.map(({ name }) => name).sort()

it('Every record is created once, and a second run changes nothing and reads what changed alone', async () => {
	seed(250)
	const sync = await newInbound()
	const first = await sync.run()
	expect(first).toMatchObject({ status: 'succeeded', error: null, progress: { pages: 3 } })
	expect(counts(first)).toEqual({ read: 250, created: 250 })
	expect((await tenant.remit.companies.list()).meta.total).toBe(250)
	const second = await sync.run()
	expect(counts(second).created).toBeUndefined()
	expect(second.progress.bytes).toBeLessThan(first.progress.bytes / 20)
	server.clock.now += 600_000
	const [one] = hubspot.companies.list()
	hubspot.companies.change(one?.id as string, { name: 'Renamed' })
	const third = await sync.run()
	expect(counts(third)).toMatchObject({ updated: 1 })
	expect((await tenant.remit.companies.list({ search: 'Renamed' })).meta.total).toBe(1)
	const events = await tenant.remit.webhooks.events.list({ type: 'company.updated' })
	expect(events.data.map(({ actor }) => actor)).toEqual([{ type: 'sync', id: third.id }])
})

it('What the provider lists late, with a time before the newest that it had listed, is read by the next run', async () => {
	hubspot.seed('companies', 1, { at: server.clock.now })
	const sync = await newInbound()
	expect(counts(await sync.run())).toEqual({ read: 1, created: 1 })
	hubspot.seed('companies', 1, { at: server.clock.now - 240_000 })
	expect(counts(await sync.run())).toMatchObject({ created: 1 })
})

it('A record that cannot be written is an error of its run, and is written when it was mended', async () => {
	seed(30)
	const [first, second] = hubspot.companies.list()
	hubspot.companies.change(first?.id as string, { name: '' })
	hubspot.companies.change(second?.id as string, { phone: 'x'.repeat(2_000) })
	const sync = await newInbound()
	const run = await sync.run()
	expect(run).toMatchObject({ status: 'partially_succeeded' })
	expect(counts(run)).toEqual({ read: 30, created: 28, failed: 2 })
	const { data } = await tenant.remit.syncs.runs.errors.list(sync.id, run.id)
	expect(data.map(({ externalId, errors }) => [externalId, errors[0]?.field, errors[0]?.code])).toEqual([
		[first?.id, 'name', expect.any(String)],
		[second?.id, 'phone', 'maxLength'],
	])
	hubspot.companies.change(first?.id as string, { name: 'Mended' })
	const again = await sync.run('failed')
	expect(counts(again)).toEqual({ read: 2, created: 1, failed: 1 })
	const errors = await tenant.remit.syncs.runs.errors.list(sync.id, run.id)
	expect(errors.data.map(({ resolvedAt }) => resolvedAt)).toEqual([server.clock.now, null])
	expect((await tenant.remit.companies.list()).meta.total).toBe(29)
})

it('A record that is there already is linked by its match, and not created again', async () => {
	seed(3)
	const [one] = hubspot.companies.list()
	const domain = String(one?.data.domain)
	const { id } = await tenant.remit.companies.create({ name: 'Known', domain })
	const sync = await newInbound()
	expect(counts(await sync.run())).toEqual({ read: 3, created: 2, updated: 1 })
	expect(await tenant.remit.syncs.links.get(sync.id, one?.id as string)).toMatchObject({
		recordId: id,
		lastSeen: { id: one?.id },
	})
	const candidates = []
	for (const name of ['Twin A', 'Twin B'])
		candidates.push((await tenant.remit.companies.create({ name, domain: 'twin.example' })).id)
	hubspot.companies.put({ name: 'Twin', domain: 'twin.example' })
	const run = await sync.run()
	expect(counts(run)).toMatchObject({ failed: 1 })
	const { data } = await tenant.remit.syncs.runs.errors.list(sync.id, run.id)
	expect(data[0]?.errors).toEqual([
		{ field: '', code: 'several_matches', reason: 'Several records match it.', candidates: expect.arrayContaining(candidates) },
	])
})

it.each([
	['source_wins', 'HubSpot', { updated: 1 }],
	['target_wins', 'Remit', { skipped: 1 }],
	['newest_wins', 'Remit', { skipped: 1 }],
	['manual', 'Remit', { failed: 1 }],
] as const)('When both sides changed, %s leaves the name of %s', async (conflictPolicy, winner, counted) => {
	seed(1)
	const sync = await newInbound({ conflictPolicy })
	await sync.run()
	const [company] = (await tenant.remit.companies.list()).data
	server.clock.now += 600_000
	hubspot.companies.change(hubspot.companies.list()[0]?.id as string, { name: 'HubSpot' })
	server.clock.now += 600_000
	await tenant.remit.companies.update(company?.id as string, { name: 'Remit' })
	expect(counts(await sync.run())).toMatchObject(counted)
	expect(await names()).toEqual([winner])
	expect(counts(await sync.run())).not.toHaveProperty('updated')
})

it('Deleted records are deleted after a full run, and never many without a word', async () => {
	seed(20)
	const sync = await newInbound({ deletePolicy: 'delete' })
	await sync.run()
	const ids = hubspot.companies.list().map(({ id }) => id)
	hubspot.companies.remove(ids[0] as string)
	expect(counts(await sync.run('full'))).toMatchObject({ deleted: 1, unchanged: 19 })
	expect((await names()).length).toBe(19)
	for (const id of ids.slice(1, 13)) hubspot.companies.remove(id)
	const run = await sync.run('full')
	expect(run).toMatchObject({ status: 'waiting', error: { code: 'too_many_deletions' }, waitingUntil: null })
	expect((await names()).length).toBe(19)
	const events = await tenant.remit.webhooks.events.list({ type: 'sync.run.confirmation_required' })
	expect(events.data).toHaveLength(1)
	await expect(tenant.remit.syncs.run(sync.id)).rejects.toMatchObject({ status: 409, code: 'sync_already_running' })
	await tenant.remit.syncs.runs.confirm(sync.id, run.id)
	expect(counts(await sync.finish())).toMatchObject({ deleted: 12 })
	expect((await names()).length).toBe(7)
	await expect(tenant.remit.syncs.runs.confirm(sync.id, run.id)).rejects.toMatchObject({ code: 'nothing_to_confirm' })
})

it('A provider that suddenly lists nothing deletes nothing', async () => {
	seed(5)
	const sync = await newInbound({ deletePolicy: 'delete' })
	await sync.run()
	hubspot.companies.clear()
	expect(await sync.run('full')).toMatchObject({ status: 'waiting', error: { code: 'too_many_deletions' } })
	expect((await names()).length).toBe(5)
	await tenant.remit.syncs.cancel(sync.id)
	expect(await sync.lastRun()).toMatchObject({ status: 'cancelled' })
	await expect(tenant.remit.syncs.cancel(sync.id)).rejects.toMatchObject({ status: 409, code: 'no_active_run' })
})

it('A field that the provider no longer has stops the sync before anything is written', async () => {
	seed(3)
	const sync = await newInbound()
	await sync.run()
	const at = hubspot.properties.findIndex(({ name }) => name === 'phone')
	const [phone] = hubspot.properties.splice(at, 1)
	hubspot.companies.put({ name: 'Late' })
	const run = await sync.run()
	hubspot.properties.splice(at, 0, phone as (typeof hubspot.properties)[number])
	expect(run).toMatchObject({ status: 'failed', error: { code: 'schema_changed' }, progress: { read: 0 } })
	const { mappingId, status, statusReason } = await tenant.remit.syncs.get(sync.id)
	expect([status, statusReason]).toEqual(['blocked', run.error?.detail])
	const mapping = await tenant.remit.mappings.get(mappingId)
	expect(mapping).toMatchObject({ status: 'invalid', validation: { valid: false, issues: [{ pointer: '/fields/2/source' }] } })
	await expect(tenant.remit.syncs.run(sync.id)).rejects.toMatchObject({ status: 409, code: 'sync_blocked' })
	await tenant.remit.mappings.update(mappingId, { status: 'active' })
	expect(await sync.run()).toMatchObject({ status: 'succeeded', progress: { created: 1 } })
})
