// How the tests ask the operations of this folder.
import type { Tenant } from '../../../test/harness.ts'
import { made, rejectedUrls, type Samples } from '../../../test/sample.ts'

const credentials = { apiKey: 'key-of-acme-0123456789' }
const connection = {
	provider: 'http_json',
	name: 'Acme',
	authType: 'api_key',
	credentials,
	config: {
		baseUrl: 'http://api.example:1',
		objects: [{ name: 'customers', path: '/customers', idField: 'id', pagination: { style: 'none' } }],
	},
}

const newConnection = (tenant: Tenant) => made(tenant, '/connections', connection)

const newXero = (tenant: Tenant) => made(tenant, '/connections', { provider: 'xero', name: 'Xero', authType: 'oauth2' })

/** Of a provider at which the server has no client. */
const unconfigured = async (tenant: Tenant) => ({
	id: await made(tenant, '/connections', { provider: 'hubspot', name: 'HubSpot', authType: 'oauth2' }),
})

async function disabled(tenant: Tenant, id: string) {
	await tenant.ask('PATCH', `/connections/${id}`, { body: { status: 'disabled' } })
	return { id }
}

export const samples: Samples = {
	connections: {
		make: newConnection,
		body: async () => ({ name: 'Acme, EU', credentials }),
		rejected: {
			...rejectedUrls((baseUrl) => ({ config: { baseUrl } })),
			invalid_connection: async () => ({ body: { credentials: { username: 'ada' } } }),
		},
	},
	'connections.create': {
		body: async () => connection,
		rejected: {
			...rejectedUrls((baseUrl) => ({ ...connection, config: { ...connection.config, baseUrl } })),
			unknown_provider: async () => ({ body: { ...connection, provider: 'nobody' } }),
			invalid_connection: async () => ({ body: { ...connection, credentials: { username: 'ada' } } }),
		},
	},
	'connections.list': { make: newConnection },
	'connections.providers.list': {},
	'connections.authorize': {
		make: newXero,
		body: async () => ({ returnUrl: 'https://app.example/settings' }),
		rejected: {
			invalid_connection: async (tenant) => ({ id: await newConnection(tenant) }),
			provider_not_configured: unconfigured,
			connection_disabled: async (tenant) => disabled(tenant, await newXero(tenant)),
		},
	},
	'connections.link': {
		make: async (tenant) => {
			await tenant.ask('PATCH', '/api/organization', { body: { connectReturnOrigins: ['https://app.example'] } })
			return newConnection(tenant)
		},
		body: async () => ({ returnUrl: 'https://app.example/settings' }),
		rejected: {
			return_url_not_allowed: async () => ({ body: { returnUrl: 'https://elsewhere.example/' } }),
			invalid_connection: async (tenant) => ({
				id: await made(tenant, '/connections', {
					...{ provider: 'xero', name: 'Xero', authType: 'client_credentials' },
					credentials: { clientId: 'acme', clientSecret: credentials.apiKey },
				}),
			}),
			provider_not_configured: unconfigured,
			connection_disabled: async (tenant) => disabled(tenant, await newConnection(tenant)),
		},
	},
	'connections.objects.schema': {
		make: async (tenant) => [await newConnection(tenant), 'customers'],
		rejected: {
			connection_disabled: async (tenant) => ({ id: [(await disabled(tenant, await newConnection(tenant))).id, 'customers'] }),
		},
	},
	'connections.test': {
		make: newConnection,
		rejected: { connection_disabled: async (tenant) => disabled(tenant, await newConnection(tenant)) },
	},
}
