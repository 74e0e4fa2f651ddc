// How `remit contract verify` asks for connections, mappings, syncs and webhooks.
import { idleSync, inConflict, linked, object, ran, toItself } from './own-provider.ts'
import { company, name, type Recipes, rejected } from './recipe.ts'
import type { ServerUnderTest } from './server-under-test.ts'

const credentials = { apiKey: 'key-of-contract-verification' }
const connection = (server: ServerUnderTest) =>
	server.make('connections.create', { provider: 'hubspot', name, authType: 'api_key', credentials })
const mapping = {
	name,
	source: { system: 'hubspot', object: 'companies' },
	target: { system: 'internal', object: 'company' },
	fields: [{ target: 'name', source: 'properties.name' }],
}
const newMapping = (server: ServerUnderTest) => server.make('mappings.create', { ...mapping, status: 'active' })
const syncBody = async (server: ServerUnderTest) => ({
	name,
	connectionId: await connection(server),
	mappingId: await newMapping(server),
	direction: 'inbound',
	start: false,
})
const sync = async (server: ServerUnderTest) => server.make('syncs.create', await syncBody(server))
/** The server is its own receiver, so that nobody else gets what this run does. */
const endpointBody = ({ url }: ServerUnderTest) => ({ url: `${url}/health`, eventTypes: ['company.deleted'] })
const endpoint = (server: ServerUnderTest) => server.make('webhooks.endpoints.create', endpointBody(server))
const pausedEndpoint = async (server: ServerUnderTest) => {
	const id = await endpoint(server)
	await server.ask('webhooks.endpoints.update', { ids: [id], body: { status: 'paused' } })
	return id
}
const delivery = async (server: ServerUnderTest) => {
	const { body } = await server.ask('webhooks.endpoints.test', { ids: [await endpoint(server)] })
	return server.own((body as { id: string }).id)
}
const disabled = async (server: ServerUnderTest) => {
	const id = await connection(server)
	await server.ask('connections.update', { ids: [id], body: { status: 'disabled' } })
	return id
}
const needsActiveRun = 'needs a run that is under way'

export const integrationRecipes: Recipes = {
	connections: {
		make: connection,
		body: async () => ({ name: `${name} II` }),
		errors: [
			rejected('invalid_connection', { credentials: { username: 'ada' } }),
			{ status: 409, code: 'connection_disabled', ids: disabled },
		],
	},
	'connections.create': {
		body: async () => ({ provider: 'hubspot', name, authType: 'api_key', credentials }),
		errors: [rejected('unknown_provider', { provider: 'nobody', name, authType: 'api_key', credentials })],
	},
	'connections.authorize': {
		skip: 'needs a client of the server at a provider',
		errors: [{ status: 422, code: 'invalid_connection', ids: connection }],
	},
	'connections.link': { make: connection, errors: [{ status: 409, code: 'connection_disabled', ids: disabled }] },
	'connections.objects.schema': {
		make: async (server) => [(await toItself(server)).connectionId, object],
		errors: [{ status: 409, code: 'connection_disabled', ids: async (server) => [await disabled(server), 'companies'] }],
	},
	'connections.test': {
		make: async (server) => (await toItself(server)).connectionId,
		errors: [{ status: 409, code: 'connection_disabled', ids: disabled }],
	},
	'mappings.defaults': {},
	mappings: {
		make: newMapping,
		body: async () => ({ ...mapping, name: `${name} II` }),
		errors: [
			rejected('invalid_mapping', { ...mapping, fields: [{ target: 'name', source: 'a..b' }] }),
			{ status: 409, code: 'record_in_use', ids: async (server) => mappingInUse(server) },
		],
	},
	'mappings.preview': { make: newMapping, body: async () => ({ records: [{ properties: { name } }] }) },
	syncs: {
		make: sync,
		body: async () => ({ name: `${name} II` }),
		errors: [rejected('invalid_sync', { schedule: { type: 'cron', expression: '0 0 31 2 *' } })],
	},
	'syncs.create': { body: syncBody },
	'syncs.run': { make: (server) => idleSync(server), errors: [{ status: 409, code: 'sync_paused', ids: pausedSync }] },
	'syncs.resume': { make: pausedSync },
	'syncs.cancel': { skip: needsActiveRun, errors: [{ status: 409, code: 'no_active_run', ids: sync }] },
	'syncs.errors.list': { make: async (server) => (await inConflict(server))[0] },
	'syncs.errors': { make: inConflict },
	'syncs.errors.resolve': {
		make: inConflict,
		body: async () => ({ use: 'target' }),
		errors: [{ status: 409, code: 'conflict_changed', body: { use: 'target', version: 'another' } }],
	},
	'syncs.links.list': { make: async (server) => (await linked(server))[0] },
	'syncs.links': { make: linked },
	'syncs.links.create': {
		make: (server) => idleSync(server),
		body: async (server) => ({ externalId: '1', recordId: await company(server) }),
		errors: [rejected('invalid_sync_link', { externalId: '1', recordId: 'cmp_unknown' })],
	},
	'syncs.runs.list': { make: async (server) => (await ran(server))[0] },
	'syncs.runs': { make: (server) => ran(server) },
	'syncs.runs.confirm': {
		skip: 'needs a run that would delete many records',
		errors: [{ status: 409, code: 'nothing_to_confirm', ids: (server) => ran(server) }],
	},
	'webhooks.eventTypes': {},
	'webhooks.events': {
		make: async (server) => {
			await company(server)
			const { body } = await server.ask('webhooks.events.list', { query: '?type=company.created' })
			return (body as { data: { id: string }[] }).data[0]?.id ?? ''
		},
	},
	'webhooks.endpoints': {
		make: endpoint,
		body: async (server) => endpointBody(server),
		errors: [{ status: 409, code: 'webhook_endpoint_not_active', ids: pausedEndpoint }],
	},
	'webhooks.endpoints.redeliver': {
		make: endpoint,
		body: async () => ({ since: Date.now() }),
		errors: [{ status: 409, code: 'webhook_endpoint_not_active', ids: pausedEndpoint, body: { since: 1_700_000_000_000 } }],
	},
	'webhooks.endpoints.rotateSecret': { make: endpoint, body: async () => ({ graceSeconds: 60 }) },
	'webhooks.deliveries.redeliver': { skip: 'needs a delivery that failed' },
	'webhooks.deliveries': { make: delivery },
}

async function pausedSync(server: ServerUnderTest): Promise<string> {
	const id = await sync(server)
	await server.ask('syncs.pause', { ids: [id] })
	return id
}

async function mappingInUse(server: ServerUnderTest): Promise<string> {
	const body = await syncBody(server)
	await server.make('syncs.create', body)
	return body.mappingId
}
