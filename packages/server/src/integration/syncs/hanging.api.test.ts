// Providers that take calls and never answer them, and what the runs of others notice of that.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { newPeopleSync } from '../../../test/people-api.ts'
import { FakeProvider } from '../../../test/provider.ts'
import { counts } from '../../../test/syncs.ts'

/** More of them, and of their organizations, than there are places for runs or for calls that are quick. */
const hangingOrganizations = 20
const syncsOfEach = 2

let server: TestServer
let hanging: FakeProvider
let healthy: FakeProvider
beforeAll(async () => {
	hanging = await new FakeProvider().start()
	healthy = await new FakeProvider().start()
	server = await startTestServer()
})
afterAll(async () => {
	await server.close()
	await hanging.stop()
	await healthy.stop()
})

const begin = async (tenant: Tenant, url: string) => {
	const { id } = await newPeopleSync(tenant, url)
	return { id, run: () => tenant.remit.syncs.run(id), last: async () => (await tenant.remit.syncs.runs.list(id)).data[0] }
}

it('A run begins and ends at once, however many providers of other organizations hang', { timeout: 60_000 }, async () => {
	const stuck: Awaited<ReturnType<typeof begin>>[] = []
	for (let n = 0; n < hangingOrganizations; n++) {
		const tenant = await server.newTenant()
		for (let of = 0; of < syncsOfEach; of++) stuck.push(await begin(tenant, hanging.url))
	}
	const sync = await begin(await server.newTenant(), healthy.url)
	const people = Array.from({ length: 200 }, (_, id) => ({ id, name: `P${id}` }))
	healthy.answers(people)
	hanging.requests.length = 0
	hanging.answer = () => {}
	for (const { run } of stuck) await run()
	await expect.poll(() => hanging.requests.length, { timeout: 10_000 }).toBeGreaterThan(3)
	const began = performance.now()
	await sync.run()
	await expect.poll(async () => (await sync.last())?.finishedAt ?? null, { timeout: 50_000 }).not.toBeNull()
	const tookMs = performance.now() - began
	expect(counts((await sync.last()) as never)).toEqual({ read: 200, created: 200 })
	expect(tookMs).toBeLessThan(8_000)
	// All of them wait for their provider, and none for another one.
	await expect.poll(() => hanging.requests.length, { timeout: 10_000 }).toBe(stuck.length)
	expect((await Promise.all(stuck.map(({ last }) => last()))).map((run) => run?.status)).toEqual(stuck.map(() => 'running'))
})
