// How the tests ask the operations of this folder.
import { peopleSync } from '../../../test/people-api.ts'
import { made, type Samples } from '../../../test/sample.ts'

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
		rejected: { invalid_mapping: async () => ({ body: { ...mapping, fields: [{ target: 'name', source: 'a..b' }] } }) },
	},
	'mappings.defaults.list': {},
	'mappings.delete': {
		make: (tenant) => made(tenant, '/mappings', mapping),
		rejected: {
			record_in_use: async (tenant) => {
				const input = await peopleSync(tenant)
				await made(tenant, '/syncs', { ...input, start: false })
				return { id: input.mappingId }
			},
		},
	},
	'mappings.preview': {
		make: (tenant) => made(tenant, '/mappings', mapping),
		body: async () => ({ records: [{ properties: { name: 'Acme' } }] }),
		rejected: {
			invalid_mapping: async () => ({ body: { records: [{}], fields: [{ target: 'name' }] } }),
			invalid_preview: async () => ({ body: {} }),
			// A preview has a connection or records, not both.
			unknown_connection: async () => ({ body: { connectionId: 'con_unknown' } }),
			connection_disabled: async (tenant) => {
				const connectionId = await made(tenant, '/connections', {
					...{ provider: 'hubspot', name: 'HubSpot', authType: 'api_key', credentials: { apiKey: 'key-of-acme-0123456789' } },
				})
				await tenant.ask('PATCH', `/connections/${connectionId}`, { body: { status: 'disabled' } })
				return { body: { connectionId } }
			},
		},
	},
}
