// What an operator sees of runs that fail or wait: the log, the metrics and `remit jobs list`.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Tenant } from '../../../test/harness.ts'
import { Remit } from '../../../test/remit.ts'
import { connect, fromHubSpot, type HubSpotServer, newSync, startWithHubSpot } from '../../../test/syncs.ts'
import { always } from '../../../test/vendors/faults.ts'
import type { FakeHubSpot } from '../../../test/vendors/hubspot.ts'

const folder = mkdtempSync(join(tmpdir(), 'remit-outcomes-'))
let server: HubSpotServer
let hubspot: FakeHubSpot
let tenant: Tenant
beforeAll(async () => {
	server = await startWithHubSpot({ METRICS_PORT: 0 })
	;({ hubspot } = server)
	tenant = await server.newTenant()
	hubspot.seed('companies', 5, { at: server.clock.now - 3_600_000 })
})
afterAll(async () => {
	await server.close()
	rmSync(folder, { recursive: true })
})

const isPage = ({ path }: { path: string }) => path.includes('/objects/')

/** The log's lines about a sync. */
const told = (syncId: string) =>
	server.logged.flatMap((line) => {
		const { level, organizationId, syncId: of, runId, outcome, error } = JSON.parse(line)
		return of === syncId ? [{ level, organizationId, runId, outcome, error }] : []
	})

async function counted(outcome: string, error: string): Promise<number> {
	const text = await (await fetch(server.metricsUrl as string)).text()
	const line = text.split('\n').find((one) => one.startsWith(`remit_sync_runs_total{outcome="${outcome}",error="${error}"}`))
	return Number(line?.split(' ').at(-1) ?? 0)
}

it('A provider that fails is told once while the run tries again, and once when it gives up', async () => {
	const sync = await newSync(server, tenant, await connect(tenant, 'hubspot', hubspot), fromHubSpot)
	hubspot.meet(always({ kind: 'error', status: 503 }), isPage)
	const { id: runId, organizationId } = await sync.run()
	hubspot.meet([])
	const line = { level: 40, organizationId, runId, error: 'provider_failed' }
	expect(told(sync.id)).toEqual([
		{ ...line, outcome: 'waiting' },
		{ ...line, outcome: 'failed' },
	])
	expect([await counted('waiting', 'provider_failed'), await counted('failed', 'provider_failed')]).toEqual([1, 1])
	await sync.run()
	expect(told(sync.id)).toHaveLength(2)
	expect(await counted('succeeded', '')).toBe(1)
})

it('A run that blocks its sync is told as that, without any credentials', async () => {
	const sync = await newSync(server, tenant, await connect(tenant, 'hubspot', hubspot), fromHubSpot)
	hubspot.tokens.forbid(hubspot.token)
	const { id: runId, organizationId } = await sync.run()
	hubspot.tokens.allow(hubspot.token)
	expect(told(sync.id)).toEqual([{ level: 40, organizationId, runId, outcome: 'blocked', error: 'connection_needs_reauth' }])
	expect(await counted('blocked', 'connection_needs_reauth')).toBe(1)
	expect(server.logged.join('')).not.toContain(hubspot.token)
})

it('`remit jobs list` names what a run waits for', async () => {
	const sync = await newSync(server, tenant, await connect(tenant, 'hubspot', hubspot), fromHubSpot)
	hubspot.meet([{ kind: 'rate_limited', retryAfter: 7_200 }], isPage)
	const { id } = await tenant.remit.syncs.run(sync.id)
	await server.runJobs()
	const settings = Object.fromEntries(Object.entries(server.settings).filter(([, value]) => typeof value === 'string'))
	const remit = new Remit(settings as Record<string, string>, folder)
	const run = {
		status: 'waiting',
		error: { code: 'provider_limit', detail: expect.stringContaining('The provider answered 429 to GET ') },
	}
	expect(await remit.json(['jobs', 'list', '--kind', 'syncRun'])).toMatchObject([{ resourceId: id, run }])
	expect((await remit.run(['jobs', 'list', '--kind', 'syncRun'])).stdout).toMatch(/ waiting: provider_limit\n$/)
	await sync.finish()
})
