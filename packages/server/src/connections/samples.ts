// How the tests ask the operations of this folder.
import type { Tenant } from '../../test/harness.ts'
import { made, type Samples } from '../../test/sample.ts'

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

const disabled = async (tenant: Tenant) => {
	const id = await newConnection(tenant)
	await tenant.ask('PATCH', `/connections/${id}`, { body: { status: 'disabled' } })
	return { id }
}

export const samples: Samples = {
	connections: {
		make: newConnection,
		body: async () => ({ name: 'Acme, EU', credentials }),
		broken: async () => ({ body: { credentials: { username: 'ada' } } }),
	},
	'connections.create': {
		body: async () => connection,
		broken: async () => ({ body: { ...connection, provider: 'nobody' } }),
	},
	'connections.list': { make: newConnection },
	'connections.providers.list': {},
	'connections.authorize': {
		make: (tenant) => made(tenant, '/connections', { provider: 'xero', name: 'Xero', authType: 'oauth2' }),
		body: async () => ({ returnUrl: 'https://app.example/settings' }),
		broken: async (tenant) => ({ id: await newConnection(tenant) }),
		contradicting: async (tenant) => ({
			id: await made(tenant, '/connections', { provider: 'hubspot', name: 'HubSpot', authType: 'oauth2' }),
		}),
	},
	'connections.link': {
		make: async (tenant) => {
			await tenant.ask('PATCH', '/api/organization', { body: { connectReturnOrigins: ['https://app.example'] } })
			return newConnection(tenant)
		},
		body: async () => ({ returnUrl: 'https://app.example/settings' }),
		broken: async () => ({ body: { returnUrl: 'https://elsewhere.example/' } }),
		contradicting: disabled,
	},
	'connections.objects.schema': {
		make: async (tenant) => [await newConnection(tenant), 'customers'],
		contradicting: async (tenant) => ({ id: [(await disabled(tenant)).id, 'customers'] }),
	},
	'connections.test': { make: newConnection, contradicting: disabled },
}
