// Links are listed, and a wrong one can be removed.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { connect, counts, fromHubSpot, newSync, toHubSpot } from '../../../test/syncs.ts'
import { FakeHubSpot } from '../../../test/vendors/hubspot.ts'

let server: TestServer
let tenant: Tenant
let hubspot: FakeHubSpot
let connectionId: string
beforeAll(async () => {
	hubspot = await new FakeHubSpot().start()
	server = await startTestServer(hubspot.settings)
	hubspot.clock = () => server.clock.now
})
afterAll(async () => {
	await server.close()
	await hubspot.stop()
})
beforeEach(async () => {
	tenant = await server.newTenant()
	hubspot.meet([])
	hubspot.companies.clear()
	connectionId = await connect(tenant, 'hubspot', hubspot)
})

const seed = (count: number) => hubspot.seed('companies', count, { at: server.clock.now - 86_400_000 })
const isCreation = ({ method, path }: { method: string; path: string }) => method === 'POST' && path.endsWith('/companies')

it('Links are listed page by page, and found by the record of Remit', async () => {
	seed(5)
	const sync = await newSync(server, tenant, connectionId, fromHubSpot)
	await sync.run()
	const { links } = tenant.remit.syncs
	const first = await links.list(sync.id, { limit: 2 })
	expect(first.meta).toMatchObject({ total: 5, limit: 2, offset: 0, hasMore: true })
	expect((await links.list(sync.id, { limit: 2, cursor: first.meta.nextCursor as string })).meta.total).toBe(null)
	const found = []
	for await (const link of links.list(sync.id, { limit: 2 })) found.push(link)
	expect(found.map(({ externalId }) => externalId).toSorted()).toEqual(hubspot.companies.list().map(({ id }) => id))
	const { lastSeen, ...one } = await links.get(sync.id, found[0]?.externalId as string)
	expect([one, lastSeen]).toEqual([found[0], expect.objectContaining({ id: one.externalId })])
	expect(one).toMatchObject({ state: 'linked', object: 'companies' })
	expect((await links.list(sync.id, { recordId: one.recordId })).data).toEqual([one])
	expect((await links.list(sync.id, { recordId: 'cmp_none' })).meta.total).toBe(0)
	expect((await links.list(sync.id, { state: 'unclear' })).data).toEqual([])
})

it('A link that is removed is made anew by the match of the mapping, and the removal is in the history', async () => {
	seed(2)
	const [one] = hubspot.companies.list()
	const wrong = await tenant.remit.companies.create({ name: 'Wrong', domain: String(one?.data.domain) })
	const sync = await newSync(server, tenant, connectionId, fromHubSpot, { conflictPolicy: 'target_wins' })
	await sync.run()
	const externalId = one?.id as string
	const link = await tenant.remit.syncs.links.get(sync.id, externalId)
	expect(link.recordId).toBe(wrong.id)
	await tenant.remit.companies.update(wrong.id, { domain: 'wrong.example' })
	const right = await tenant.remit.companies.create({ name: 'Right', domain: String(one?.data.domain) })
	expect(await tenant.remit.syncs.links.delete(sync.id, externalId)).toEqual({ ok: true })
	await expect(tenant.remit.syncs.links.get(sync.id, externalId)).rejects.toMatchObject({ code: 'sync_link_not_found' })
	await expect(tenant.remit.syncs.links.delete(sync.id, externalId)).rejects.toMatchObject({ status: 404 })
	const { data } = await tenant.remit.syncs.history(sync.id)
	const before = { externalId, object: 'companies', recordId: wrong.id }
	expect(data[0]).toMatchObject({ action: 'unlinked', operation: 'syncs.links.delete', before })
	await sync.run('full')
	expect((await tenant.remit.syncs.links.get(sync.id, externalId)).recordId).toBe(right.id)
	expect((await tenant.remit.companies.get(wrong.id)).name).toBe('Wrong')
	await tenant.remit.syncs.links.delete(sync.id, externalId)
	await tenant.remit.companies.update(right.id, { domain: 'right.example' })
	expect(counts(await sync.run('full'))).toEqual({ read: 2, created: 1, unchanged: 1 })
})

it('No link is removed while a run of either way may write by it', async () => {
	seed(2)
	const inbound = await newSync(server, tenant, connectionId, fromHubSpot)
	const outbound = await newSync(server, tenant, connectionId, toHubSpot)
	await inbound.run()
	const [one] = hubspot.companies.list()
	const { id: runId } = await tenant.remit.syncs.run(outbound.id)
	for (const { id } of [inbound, outbound])
		await expect(tenant.remit.syncs.links.delete(id, one?.id as string)).rejects.toMatchObject({
			...{ status: 409, code: 'sync_already_running' },
			detail: expect.stringContaining(runId),
		})
	await outbound.finish()
	await tenant.remit.syncs.links.delete(outbound.id, one?.id as string)
})

it('A link of which nobody knows whether the provider has the record can be removed: then it goes out again', async () => {
	const { id: recordId } = await tenant.remit.companies.create({ name: 'No domain' })
	const sync = await newSync(server, tenant, connectionId, toHubSpot)
	hubspot.meet([{ kind: 'lost' }], isCreation)
	await tenant.remit.syncs.run(sync.id)
	await server.runJobs()
	await tenant.remit.syncs.cancel(sync.id)
	const { links } = tenant.remit.syncs
	const { data, meta } = await links.list(sync.id, { state: 'unclear' })
	expect([data, meta.total]).toMatchObject([[{ recordId, externalId: null, state: 'unclear' }], 1])
	expect(await links.get(sync.id, recordId)).toMatchObject({ state: 'unclear', lastSeen: null })
	for (const { id } of hubspot.companies.list()) hubspot.companies.remove(id)
	await links.delete(sync.id, recordId)
	expect(counts(await sync.run())).toEqual({ read: 1, created: 1 })
	expect((await links.list(sync.id)).data).toMatchObject([{ recordId, state: 'linked' }])
})
