// The server as its own provider, so that nobody else is called: what is synced is the history of a company of this run.
import { setTimeout as sleep } from 'node:timers/promises'
import { company, name } from './recipe.ts'
import { NotMadeError, type ServerUnderTest } from './server-under-test.ts'

/** What the provider calls the entries of the history. */
export const object = 'entries'

/** A connection that works. */
export async function toItself(server: ServerUnderTest) {
	const domain = `${crypto.randomUUID()}.contract-verification.invalid`
	const companyId = await company(server, { domain })
	const path = `/api/companies/${companyId}/history`
	const connectionId = await server.make('connections.create', {
		...{ provider: 'http_json', name, authType: 'api_key', credentials: { apiKey: await server.readingKey() } },
		config: {
			...{ baseUrl: server.url, testPath: '/webhooks/event-types' },
			objects: [{ name: object, path, records: 'data', idField: 'id', pagination: { style: 'none' } }],
		},
	})
	const { status } = await server.dataOf<{ status: string }>('connections.test', { ids: [connectionId] })
	if (status !== 'active') throw new NotMadeError('the server does not reach its own address')
	return { connectionId, domain }
}

/** A sync that has not run. A run links the one entry of the history with the company, which it finds by its domain. */
export async function idleSync(server: ServerUnderTest, { says = name, settings = {} } = {}): Promise<string> {
	const { connectionId, domain } = await toItself(server)
	const mappingId = await server.make('mappings.create', {
		...{ name, source: { system: 'http_json', object }, target: { system: 'internal', object: 'company' } },
		fields: [
			{ target: 'domain', constant: domain },
			{ target: 'name', constant: says },
		],
		...{ match: { keys: ['domain'], onMultiple: 'conflict' }, status: 'active' },
	})
	return server.make('syncs.create', { name, connectionId, mappingId, direction: 'inbound', start: false, ...settings })
}

const runMs = 20_000

/** A sync, and its run, which is over. */
export async function ran(
	server: ServerUnderTest,
	options?: Parameters<typeof idleSync>[1],
): Promise<[sync: string, run: string]> {
	const id = await idleSync(server, options)
	const run = server.own((await server.dataOf<{ id: string }>('syncs.run', { ids: [id] })).id)
	for (const until = Date.now() + runMs; Date.now() < until; await sleep(100)) {
		const { finishedAt } = await server.dataOf<{ finishedAt: number | null }>('syncs.runs.get', { ids: [id, run] })
		if (finishedAt !== null) return [id, run]
	}
	throw new NotMadeError(`no run of a sync ends within ${runMs / 1000} seconds`)
}

/** The first of a list about the sync. */
async function first<T>(server: ServerUnderTest, operation: string, id: string): Promise<T> {
	const [found] = await server.dataOf<T[]>(operation, { ids: [id] })
	if (!found) throw new NotMadeError(`${operation} has nothing after a run`)
	return found
}

/** A sync, and what one of its links is by. */
export async function linked(server: ServerUnderTest): Promise<[sync: string, externalId: string]> {
	const [id] = await ran(server)
	const { externalId } = await first<{ externalId: string }>(server, 'syncs.links.list', id)
	return [id, server.own(externalId)]
}

/** A sync, and a conflict that somebody has to decide. */
export async function inConflict(server: ServerUnderTest): Promise<[sync: string, error: string]> {
	const [id] = await ran(server, { says: `${name} II`, settings: { conflictPolicy: 'manual' } })
	const error = await first<{ id: string }>(server, 'syncs.errors.list', id)
	return [id, server.own(error.id)]
}
