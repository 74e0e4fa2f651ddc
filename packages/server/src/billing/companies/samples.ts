// How the tests ask the operations of this folder.
import { made, type Samples } from '../../../test/sample.ts'

export const samples: Samples = {
	companies: {
		make: (tenant) => made(tenant, '/api/companies', { name: 'Acme' }),
		body: async () => ({ name: 'Acme Ltd' }),
		rejected: { invalid_vat_id: async () => ({ body: { name: 'Acme', vatId: 'DE1' } }) },
	},
}
