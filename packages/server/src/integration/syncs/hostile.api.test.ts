// Providers, callers and accidents that mean no good to a run.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { newPeopleSync } from '../../../test/people-api.ts'
import { FakeProvider } from '../../../test/provider.ts'
import { connect, counts, fromHubSpot, newSync, toHubSpot } from '../../../test/syncs.ts'
import { FakeHubSpot } from '../../../test/vendors/hubspot.ts'
import type { SyncCreate, SyncRun } from '../../generated/contract.ts'
import { scheduleJob } from '../../platform/work/jobs-store.ts'
import { jobKinds } from '../../platform/work/kinds.ts'

let server: TestServer
let tenant: Tenant
let hubspot: FakeHubSpot
let provider: FakeProvider
beforeAll(async () => {
	hubspot = await new FakeHubSpot().start()
	provider = await new FakeProvider().start()
	server = await startTestServer(hubspot.settings)
	hubspot.clock = () => server.clock.now
})
afterAll(async () => {
	await server.close()
	await hubspot.stop()
	await provider.stop()
})
beforeEach(async () => {
	tenant = await server.newTenant()
	hubspot.meet([])
	hubspot.companies.clear()
})

const people = (...ids: unknown[]) => ids.map((id) => ({ id, name: `P${id}` }))
const names = async () => (await tenant.remit.companies.list({ limit: 100 })).data.map(({ name }) => name).sort()
const finished = async (id: string): Promise<SyncRun> => {
	for (;;) {
		await server.runJobs()
		const run = (await tenant.remit.syncs.runs.list(id, { limit: 1 })).data[0] as SyncRun
		if (run.finishedAt !== null || (run.status === 'waiting' && run.waitingUntil === null)) return run
		server.clock.now = Math.max(server.clock.now, run.waitingUntil ?? 0)
	}
}
const runOnce = async (id: string, mode?: 'full' | 'failed') => {
	server.clock.now += 1
	await tenant.remit.syncs.run(id, mode && { mode })
	return finished(id)
}
const syncOf = async (list: unknown, settings: Partial<SyncCreate> = {}) => {
	provider.answers({})
	const { id } = await newPeopleSync(tenant, provider.url, settings)
	provider.answer = (_, res) => res.end(typeof list === 'string' ? list : JSON.stringify(list))
	return id
}

it.each([
	['an id twice', people(1, 2, 2, 3), { created: 3, unchanged: 1 }],
	['no id', [...people(1, 2), { name: 'Nobody' }, ...people(3)], { created: 3, failed: 1 }],
	['an id too long for an index', people(1, 'x'.repeat(9_000), 2), { created: 2, failed: 1 }],
	['an id with NUL', people(1, 'a\0b', 2), { created: 2, failed: 1 }],
	['an id that is half a character', '[{"id":1,"name":"P1"},{"id":"a\\ud800","name":"P"}]', { created: 1, failed: 1 }],
	['the name of a prototype as id', people('__proto__', 'constructor'), { created: 2 }],
	[
		'JSON too deep',
		`[{"id":1,"name":"P1"},{"id":2,"name":"P2","x":${'['.repeat(20_000)}${']'.repeat(20_000)}}]`,
		{ created: 1, failed: 1 },
	],
])('A record with %s is accounted for, and the others are written', async (_, list, counted) => {
	expect(counts(await runOnce(await syncOf(list)))).toMatchObject(counted)
})

it('A page of 150,000 records is read, and the first bad one ends a run that stops at errors', async () => {
	const list = `[${Array.from({ length: 150_000 }, (_, id) => `{"id":${id}}`).join()}]`
	expect(await runOnce(await syncOf(list, { errorPolicy: 'stop' }))).toMatchObject({
		status: 'failed',
		error: { code: 'record_failed' },
	})
})

it('What failed is found again among all records, where none can be read alone', async () => {
	const id = await syncOf([...people(1, 2), { id: 9, name: '' }])
	expect(counts(await runOnce(id))).toMatchObject({ created: 2, failed: 1 })
	provider.answers(people(1, 2, 9))
	expect(counts(await runOnce(id, 'failed'))).toEqual({ read: 3, created: 1, unchanged: 2 })
})

it('A provider that asks for a repetition at once is asked a second later', async () => {
	const id = await syncOf([])
	provider.answer = (_, res) => res.writeHead(429, { 'retry-after': '0' }).end('{}')
	await tenant.remit.syncs.run(id)
	await server.runJobs()
	const [run] = (await tenant.remit.syncs.runs.list(id)).data
	expect(run?.waitingUntil).toBeGreaterThanOrEqual(server.clock.now + 1_000)
})

it('A run whose job comes too early waits on, and is not forgotten', async () => {
	const id = await syncOf(people(1))
	provider.answer = (_, res) => res.writeHead(429, { 'retry-after': '3600' }).end('{}')
	const { id: runId } = await tenant.remit.syncs.run(id)
	await server.runJobs()
	await server.db.transaction((tx) =>
		scheduleJob(tx, { organizationId: tenant.organizationId, kind: jobKinds.syncRun, resourceId: runId, dueAt: 0 }),
	)
	await server.runJobs()
	provider.answers(people(1))
	expect(await finished(id)).toMatchObject({ id: runId, status: 'succeeded' })
})

const isPage = ({ path }: { path: string }) => path.includes('/objects/')

it('A change of a sync is for its next run', async () => {
	hubspot.seed('companies', 150, { at: server.clock.now - 86_400_000 })
	const sync = await newSync(server, tenant, await connect(tenant, 'hubspot', hubspot), fromHubSpot)
	await sync.run()
	const other = await tenant.remit.mappings.create({
		...fromHubSpot,
		match: null,
		fields: [{ target: 'name', source: 'properties.domain', required: true }],
	})
	hubspot.meet([null, { kind: 'rate_limited', retryAfter: 60 }], isPage)
	await tenant.remit.syncs.run(sync.id, { mode: 'full' })
	await server.runJobs()
	expect(await sync.lastRun()).toMatchObject({ status: 'waiting', progress: { read: 100 } })
	await tenant.remit.syncs.update(sync.id, { deletePolicy: 'delete', mappingId: other.id })
	expect(counts(await sync.finish())).toEqual({ read: 150, unchanged: 150 })
	expect((await names()).some((name) => name.includes('.'))).toBe(false)
})

it('What was linked while a full run reads is not lost for it', async () => {
	hubspot.seed('companies', 150, { at: server.clock.now - 86_400_000 })
	const connectionId = await connect(tenant, 'hubspot', hubspot)
	const inbound = await newSync(server, tenant, connectionId, fromHubSpot, { deletePolicy: 'delete', mode: 'full' })
	const outbound = await newSync(server, tenant, connectionId, toHubSpot)
	hubspot.meet([null, { kind: 'rate_limited', retryAfter: 60 }], isPage)
	await tenant.remit.syncs.run(inbound.id)
	await server.runJobs()
	server.clock.now += 1_000
	await tenant.remit.companies.create({ name: 'Mine', domain: 'mine.example' })
	await outbound.run()
	expect(counts(await inbound.finish())).not.toHaveProperty('deleted')
	expect((await tenant.remit.companies.list({ search: 'Mine' })).meta.total).toBe(1)
})

it.each([
	['manual', ['Edited'], { failed: 1 }],
	['target_wins', ['Edited'], { skipped: 1 }],
	['source_wins', [], { deleted: 1 }],
] as const)('A record that was deleted there and has changed here: %s', async (conflictPolicy, left, counted) => {
	hubspot.seed('companies', 1, { at: server.clock.now - 86_400_000 })
	hubspot.companies.put({ name: 'Other' })
	const settings = { deletePolicy: 'delete', conflictPolicy } as const
	const sync = await newSync(server, tenant, await connect(tenant, 'hubspot', hubspot), fromHubSpot, settings)
	await sync.run()
	const [gone] = hubspot.companies.list()
	const { recordId } = await tenant.remit.syncs.links.get(sync.id, gone?.id as string)
	await tenant.remit.companies.update(recordId, { name: 'Edited' })
	hubspot.companies.remove(gone?.id as string)
	expect(counts(await sync.run('full'))).toMatchObject(counted)
	expect((await names()).filter((name) => name === 'Edited')).toEqual(left)
})

it('Deletions that a list of changes does not have are found within a day', async () => {
	hubspot.seed('companies', 20, { at: server.clock.now - 86_400_000 })
	const sync = await newSync(server, tenant, await connect(tenant, 'hubspot', hubspot), fromHubSpot, { deletePolicy: 'delete' })
	await sync.run()
	hubspot.companies.remove(hubspot.companies.list()[0]?.id as string)
	expect(counts(await sync.run())).not.toHaveProperty('deleted')
	server.clock.now += 86_400_000
	expect(counts(await sync.run())).toMatchObject({ deleted: 1 })
})

it('What was created without an answer is known when it comes back', async () => {
	await tenant.remit.companies.create({ name: 'No domain' })
	const sync = await newSync(server, tenant, await connect(tenant, 'hubspot', hubspot), fromHubSpot, { reverse: toHubSpot })
	hubspot.meet([{ kind: 'lost' }], ({ method, path }) => method === 'POST' && path.endsWith('/companies'))
	await sync.run()
	server.clock.now += 600_000
	await sync.run()
	await sync.run('full')
	expect([await names(), hubspot.companies.list().length]).toEqual([['No domain'], 1])
})

it('Two syncs of the same way that are made at once are one', async () => {
	const connectionId = await connect(tenant, 'hubspot', hubspot)
	const { id: mappingId } = await tenant.remit.mappings.create(fromHubSpot)
	const input = { name: 'S', connectionId, mappingId, direction: 'inbound', start: false }
	const answers = await Promise.all(Array.from({ length: 6 }, () => tenant.ask('POST', '/syncs', { body: input })))
	expect(answers.map(({ status }) => status).sort()).toEqual([201, 422, 422, 422, 422, 422])
})
