// Whatever a provider does amid a run, the end is that of a run without a fault.
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Tenant } from '../../../test/harness.ts'
import {
	connect,
	fromHubSpot,
	type HubSpotServer,
	newSync,
	startWithHubSpot,
	type TestSync,
	toHubSpot,
} from '../../../test/syncs.ts'
import { type FaultPlan, faultPlans } from '../../../test/vendors/faults.ts'
import type { FakeHubSpot } from '../../../test/vendors/hubspot.ts'

const dayMs = 86_400_000
const numRuns = 6 * Number(process.env.FUZZ_FACTOR ?? 1)

let server: HubSpotServer
let hubspot: FakeHubSpot
beforeAll(async () => {
	server = await startWithHubSpot()
	;({ hubspot } = server)
})
afterAll(() => server.close())

const isOfRecords = ({ path }: { path: string }) => path.includes('/objects/')

/** Runs a sync until a run succeeds: a provider that fails eight times in a row ends one, or leaves a record that goes out as an error. */
async function untilDone(sync: TestSync, mode?: 'full'): Promise<void> {
	for (let times = 0; times < 20; times++) {
		const run = await sync.run(mode)
		if (run.status === 'succeeded') return
		if (run.status === 'partially_succeeded') expect(run.progress.pages).toBe(0)
		else expect(run).toMatchObject({ status: 'failed', error: { code: 'provider_failed' } })
	}
	throw new Error('no run succeeds')
}

const stored = async ({ remit }: Tenant) => {
	const found: string[] = []
	for await (const { name, domain, phone, billingCity } of remit.companies.list({ limit: 100 }))
		found.push(JSON.stringify({ name, domain, phone, billingCity }))
	return found.sort()
}

const there = () =>
	hubspot.companies
		.list()
		.flatMap(({ isRemoved, data: { name, domain, phone, city } }) =>
			isRemoved ? [] : JSON.stringify({ name, domain, phone, billingCity: city }),
		)
		.sort()

const newTenant = async () => {
	const tenant = await server.newTenant()
	hubspot.meet([])
	return { tenant, connectionId: await connect(tenant, 'hubspot', hubspot) }
}

/** A year of small changes between two runs. */
function change(seed: number): void {
	const all = hubspot.companies.list()
	for (const [n, { id }] of all.entries())
		if ((n + seed) % 7 === 0) hubspot.companies.change(id, { name: `Changed ${n} ${seed}` })
	hubspot.seed('companies', 5)
}

it('Inbound: the companies are those of the provider, each once, after any faults', async () => {
	await fc.assert(
		fc.asyncProperty(faultPlans({ length: 30, percent: 40 }), faultPlans({ length: 20, percent: 40 }), async (first, second) => {
			const { tenant, connectionId } = await newTenant()
			hubspot.companies.clear()
			for (let n = 0; n < 230; n++) hubspot.seed('companies', 1, { at: server.clock.now - dayMs + n * 60_000 })
			const sync = await newSync(server, tenant, connectionId, fromHubSpot)
			hubspot.meet(first, isOfRecords)
			await untilDone(sync)
			expect(await stored(tenant)).toEqual(there())
			server.clock.now += dayMs
			change(first.length)
			hubspot.meet(second, isOfRecords)
			await untilDone(sync)
			expect(await stored(tenant)).toEqual(there())
		}),
		{ numRuns, interruptAfterTimeLimit: 25_000 },
	)
})

it('Outbound: the provider has the companies, each once, after any faults', async () => {
	await fc.assert(
		fc.asyncProperty(faultPlans({ length: 60, percent: 30 }), async (plan: FaultPlan) => {
			const { tenant, connectionId } = await newTenant()
			hubspot.companies.clear()
			for (let n = 0; n < 12; n++)
				await tenant.remit.companies.create({ name: `Company ${n}`, domain: `c${n}.example`, phone: '1', billingCity: 'Bonn' })
			const sync = await newSync(server, tenant, connectionId, toHubSpot)
			hubspot.meet(plan, isOfRecords)
			await untilDone(sync)
			hubspot.meet([])
			await untilDone(sync, 'full')
			expect(there()).toEqual(await stored(tenant))
		}),
		{ numRuns, interruptAfterTimeLimit: 25_000 },
	)
})
