// How the tests ask the operations of this folder.
import { made, type Samples } from '../../../test/sample.ts'

export const samples: Samples = {
	contacts: {
		make: (tenant) => made(tenant, '/api/contacts', { name: 'Jana Vogel' }),
		body: async () => ({ name: 'Jana Vogel-Berg' }),
	},
}
