// The API of a provider for samples: each connection to it has a list of its own, by the path of its base URL.
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { SyncCreate } from '../src/generated/contract.ts'
import type { Tenant } from './harness.ts'
import { secret } from './leaks.ts'
import { made } from './sample.ts'

let started: Promise<Server> | undefined
let count = 0
const reads = new Map<string, number>()

async function start(): Promise<Server> {
	const server = createServer((req, res) => {
		const [, kind = '', list = ''] = (req.url ?? '').split('/')
		if (!req.url?.includes('/people')) return void res.end('{}')
		const name = `${kind} ${list}`
		reads.set(name, (reads.get(name) ?? 0) + 1)
		if (kind === 'busy' || (kind === 'tiring' && (reads.get(name) ?? 0) > 1))
			return void res.writeHead(429, { 'retry-after': '3600' }).end('{}')
		const isEmpty = kind === 'emptied' && (reads.get(name) ?? 0) > 1
		res.end(JSON.stringify(isEmpty ? [] : [{ id: 1, name: 'Ada' }]))
	})
	server.listen(0, '127.0.0.1')
	await once(server, 'listening')
	return server.unref()
}

/** Lists one person; one of `emptied` lists nobody from the second time on, one of `busy` never answers with its list, one of `tiring` once. */
export type Kind = 'listing' | 'emptied' | 'busy' | 'tiring'

const mapping = {
	name: 'People',
	source: { system: 'http_json', object: 'people' },
	target: { system: 'internal', object: 'company' },
	fields: [{ target: 'name', source: 'name', required: true }],
	status: 'active',
}

/** What a sync of a new connection to a server is created with. */
async function peopleAt(tenant: Tenant, baseUrl: string, more: object = {}) {
	const objects = [{ name: 'people', path: '/people', idField: 'id', pagination: { style: 'none' } }]
	const connectionId = await made(tenant, '/connections', {
		...{ provider: 'http_json', name: 'People', authType: 'api_key', credentials: { apiKey: secret('key-of-acme-0123456789') } },
		config: { baseUrl, objects },
	})
	await tenant.ask('POST', `/connections/${connectionId}/test`)
	const mappingId = await made(tenant, '/mappings', { ...mapping, ...more })
	return { name: 'People', connectionId, mappingId, direction: 'inbound' as const }
}

/** What a sync of a new connection is created with. */
export async function peopleSync(tenant: Tenant, kind: Kind = 'listing', mapping: object = {}) {
	started ??= start()
	const { port } = (await started).address() as AddressInfo
	return peopleAt(tenant, `http://api.example:${port}/${kind}/${++count}`, mapping)
}

/** A sync of companies from a server that lists people at `/people`; it has not run. */
export async function newPeopleSync(tenant: Tenant, url: string, settings: Partial<SyncCreate> = {}) {
	const input = { ...(await peopleAt(tenant, url)), ...settings, start: false }
	return { id: (await tenant.remit.syncs.create(input)).id, connectionId: input.connectionId }
}
