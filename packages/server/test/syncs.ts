// Syncs with a stand-in of a vendor, for tests.
import { expect } from 'vitest'
import type { Config } from '../src/config.ts'
import type { MappingCreate, SyncCreate, SyncRun } from '../src/generated/contract.ts'
import { startTestServer, type Tenant, type TestServer } from './harness.ts'
import { FakeHubSpot } from './vendors/hubspot.ts'
import type { Vendor } from './vendors/vendor.ts'
import type { FakeXero } from './vendors/xero.ts'

export const fromHubSpot: MappingCreate = {
	name: 'From HubSpot',
	source: { system: 'hubspot', object: 'companies' },
	target: { system: 'internal', object: 'company' },
	fields: [
		{ target: 'name', source: 'properties.name', required: true },
		{ target: 'domain', source: 'properties.domain' },
		{ target: 'phone', source: 'properties.phone' },
		{ target: 'billingCity', source: 'properties.city' },
	],
	match: { keys: ['domain'], onMultiple: 'conflict' },
	status: 'active',
}

export const toHubSpot: MappingCreate = {
	name: 'To HubSpot',
	source: { system: 'internal', object: 'company' },
	target: { system: 'hubspot', object: 'companies' },
	fields: [
		{ target: 'properties.name', source: 'name' },
		{ target: 'properties.domain', source: 'domain' },
		{ target: 'properties.phone', source: 'phone' },
		{ target: 'properties.city', source: 'billingCity' },
	],
	match: { keys: ['properties.domain'], onMultiple: 'first' },
	status: 'active',
}

/** A server, and the HubSpot that its connections lead to: it goes by the server's clock, and ends with the server. */
export interface HubSpotServer extends TestServer {
	readonly hubspot: FakeHubSpot
}

export async function startWithHubSpot(settings: Partial<Config> = {}): Promise<HubSpotServer> {
	const hubspot = await new FakeHubSpot().start()
	const server = await startTestServer({ ...hubspot.settings, ...settings })
	hubspot.clock = () => server.clock.now
	const close = async () => {
		await server.close()
		await hubspot.stop()
	}
	return { ...server, hubspot, close }
}

/** An active connection with a key. */
export async function connect({ remit }: Tenant, provider: string, vendor: Pick<Vendor, 'token'>): Promise<string> {
	const credentials = { apiKey: vendor.token }
	const { id } = await remit.connections.create({ provider, name: provider, authType: 'api_key', credentials })
	expect(await remit.connections.test(id)).toMatchObject({ status: 'active' })
	return id
}

/** An active connection to Xero. */
export async function connectXero({ remit }: Tenant, { tokens }: FakeXero): Promise<string> {
	const { id: clientId, secret: clientSecret } = tokens.client
	const credentials = { clientId, clientSecret }
	const { id } = await remit.connections.create({ provider: 'xero', name: 'Xero', authType: 'client_credentials', credentials })
	expect(await remit.connections.test(id)).toMatchObject({ status: 'active' })
	return id
}

export type Settings = Partial<Omit<SyncCreate, 'mappingId' | 'reverseMappingId' | 'connectionId'>>

export interface TestSync {
	readonly id: string
	readonly connectionId: string
	/** Runs it, and everything that is due, until the run has come to its end. */
	run(mode?: 'incremental' | 'full' | 'failed'): Promise<SyncRun>
	/** Goes on with the run that is under way, moving the clock where it waits. */
	finish(): Promise<SyncRun>
	lastRun(): Promise<SyncRun>
}

/** A sync that has not run yet. */
export async function newSync(
	server: TestServer,
	tenant: Tenant,
	connectionId: string,
	mapping: MappingCreate,
	{ reverse, ...settings }: Settings & { reverse?: MappingCreate } = {},
): Promise<TestSync> {
	const { remit } = tenant
	const { id: mappingId } = await remit.mappings.create(mapping)
	const reverseMappingId = reverse && (await remit.mappings.create(reverse)).id
	const { id } = await remit.syncs.create({
		name: 'Test',
		connectionId,
		mappingId,
		direction: mapping.target.system === 'internal' ? (reverse ? 'bidirectional' : 'inbound') : 'outbound',
		start: false,
		...(reverseMappingId !== undefined && { reverseMappingId }),
		...settings,
	})
	const lastRun = async (): Promise<SyncRun> => {
		const [last] = (await remit.syncs.runs.list(id, { limit: 1 })).data
		return last as SyncRun
	}
	const finish = async (): Promise<SyncRun> => {
		for (let times = 0; times < 1_000; times++) {
			await server.runJobs()
			const run = await lastRun()
			if (run.finishedAt !== null || (run.status === 'waiting' && run.waitingUntil === null)) return run
			server.clock.now = Math.max(server.clock.now, run.waitingUntil ?? 0)
		}
		throw new Error('the run does not come to its end')
	}
	return {
		id,
		connectionId,
		lastRun,
		finish,
		async run(mode) {
			// What was linked while a run goes on is no business of its deletions.
			server.clock.now += 1
			await remit.syncs.run(id, mode && { mode })
			return finish()
		},
	}
}

/** What a run has counted, without what is 0. */
export const counts = ({ progress: { pages: _, bytes: __, total: ___, ...counted } }: SyncRun) =>
	Object.fromEntries(Object.entries(counted).filter(([, count]) => count !== 0))
