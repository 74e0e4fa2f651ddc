// A caller follows a run with the SDK.
import { SyncRunFailedError } from '@remit/sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Tenant } from '../../../test/harness.ts'
import { connect, fromHubSpot, type HubSpotServer, newSync, startWithHubSpot } from '../../../test/syncs.ts'
import type { FakeHubSpot } from '../../../test/vendors/hubspot.ts'

let server: HubSpotServer
let tenant: Tenant
let hubspot: FakeHubSpot

beforeAll(async () => {
	server = await startWithHubSpot()
	;({ hubspot } = server)
	tenant = await server.newTenant()
	for (let n = 0; n < 30; n++) hubspot.seed('companies', 1, { at: server.clock.now - 90_000_000 + n * 60_000 })
})
afterAll(() => server.close())

const soon = { pollInterval: 5 }

it('From its beginning to its end, and later again by its id', async () => {
	const { remit } = tenant
	const { id } = await newSync(server, tenant, await connect(tenant, 'hubspot', hubspot), fromHubSpot)
	const seen: string[] = []
	for await (const { status, progress } of remit.syncs.run(id).progress(soon)) {
		seen.push(`${status} ${progress.created}`)
		if (seen.length === 1) await server.runJobs()
	}
	expect(seen.at(0)).toBe('queued 0')
	expect(seen.at(-1)).toBe('succeeded 30')
	const runId = (await remit.syncs.get(id)).lastRun?.id as string
	expect(await remit.syncs.runs.get(id, runId).done()).toMatchObject({ id: runId, status: 'succeeded' })
	const second = remit.syncs.run(id)
	await second
	await remit.syncs.cancel(id)
	await expect(second.done(soon)).rejects.toThrow(SyncRunFailedError)
})
