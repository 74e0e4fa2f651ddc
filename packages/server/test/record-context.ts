// Connections of a tenant, and what reads and writes records through them.

import type { ConnectionCreate } from '@remit/sdk'
import { readConfig } from '../src/config.ts'
import type { ExternalRecord, ObjectKey, PageStart, RecordContext } from '../src/integration/connections/records/records.ts'
import { ProviderFailed, readPage } from '../src/integration/connections/records/records.ts'
import { introductions } from '../src/introductions.ts'
import { openServices } from '../src/platform/outside/services.ts'
import { startTestServer, type Tenant, type TestServer } from './harness.ts'

export interface RecordServer {
	readonly server: TestServer
	readonly context: RecordContext
	newConnection(tenant: Tenant, input: Partial<ConnectionCreate> & Pick<ConnectionCreate, 'provider'>): Promise<string>
	close(): Promise<void>
}

export async function startRecordServer(settings: Parameters<typeof startTestServer>[0] = {}): Promise<RecordServer> {
	const server = await startTestServer(settings)
	const config = { ...readConfig({ EGRESS_ALLOW_CIDRS: '127.0.0.0/8', NODE_ENV: 'test' }), ...server.settings }
	const lookup = async (name: string) => [{ address: name === 'private.example' ? '10.0.0.7' : '127.0.0.1', family: 4 as const }]
	const services = await openServices(config, { baseUrl: () => server.url, lookup, ...introductions })
	const context = { db: server.db, services, now: () => server.clock.now, signal: new AbortController().signal }
	return {
		server,
		context,
		async newConnection({ remit }, input) {
			const { id } = await remit.connections.create({ name: input.provider, authType: 'api_key', ...input })
			return id
		},
		async close() {
			await services.close()
			await server.close()
		},
	}
}

/** All pages to the end, and how many there were. */
export async function readAll(
	context: RecordContext,
	key: ObjectKey,
	{ since = null, fields = [], between = async () => {} }: Partial<PageStart> & { between?: (page: number) => unknown } = {},
): Promise<{ records: ExternalRecord[]; pages: number; bytes: number; total: number | null }> {
	const records: ExternalRecord[] = []
	const sums = { pages: 0, bytes: 0, total: null as number | null }
	for (let cursor: string | null = null; sums.pages === 0 || cursor !== null; ) {
		const page = await readPage(context, key, { cursor, since, fields })
		records.push(...page.records)
		sums.total ??= page.total
		sums.pages++
		sums.bytes += page.bytes
		cursor = page.next
		await between(sums.pages)
	}
	return { records, ...sums }
}

export const idsOf = (records: readonly ExternalRecord[]) => [...new Set(records.map(({ id }) => id))].sort()

/** The kind, code and words of the failure that a call ends with. */
export async function failureOf(call: Promise<unknown>): Promise<[kind: string, code: string, message: string]> {
	const error = await call.then(
		() => new Error('it did not fail'),
		(thrown) => thrown,
	)
	if (!(error instanceof ProviderFailed)) throw error
	return [error.kind, error.code, error.message]
}
