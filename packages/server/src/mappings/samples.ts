// How the tests ask the operations of this folder.
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
	'mappings.preview': {
		make: (tenant) => made(tenant, '/mappings', mapping),
		body: async () => ({ records: [{ properties: { name: 'Acme' } }] }),
		broken: async () => ({ body: { records: [{}], fields: [{ target: 'name' }] } }),
	},
}
