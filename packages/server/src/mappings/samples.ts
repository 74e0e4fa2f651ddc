// How the tests ask the operations of this folder.
import { peopleSync } from '../../test/people-api.ts'
import { made, type Samples } from '../../test/sample.ts'

const mapping = {
	name: 'HubSpot companies',
	source: { system: 'hubspot', object: 'companies' },
	target: { system: 'internal', object: 'company' },
	fields: [{ target: 'name', source: 'properties.name' }],
}

export const samples: Samples = {
	mappings: {
		make: (tenant) => made(tenant, '/mappings', mapping),
		body: async () => ({ ...mapping, name: 'HubSpot accounts' }),
		broken: async () => ({ body: { ...mapping, fields: [{ target: 'name', source: 'a..b' }] } }),
	},
	'mappings.defaults.list': {},
	'mappings.delete': {
		make: (tenant) => made(tenant, '/mappings', mapping),
		contradicting: async (tenant) => {
			const input = await peopleSync(tenant)
			await made(tenant, '/syncs', { ...input, start: false })
			return { id: input.mappingId }
		},
	},
	'mappings.preview': {
		make: (tenant) => made(tenant, '/mappings', mapping),
		body: async () => ({ records: [{ properties: { name: 'Acme' } }] }),
		broken: async () => ({ body: { records: [{}], fields: [{ target: 'name' }] } }),
		contradicting: async (tenant) => {
			const connectionId = await made(tenant, '/connections', {
				...{ provider: 'hubspot', name: 'HubSpot', authType: 'api_key', credentials: { apiKey: 'key-of-acme-0123456789' } },
			})
			await tenant.ask('PATCH', `/connections/${connectionId}`, { body: { status: 'disabled' } })
			return { body: { connectionId } }
		},
	},
}
