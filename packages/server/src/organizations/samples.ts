// How the tests ask the operations of this folder.
import type { Samples } from '../../test/sample.ts'

export const samples: Samples = {
	organization: { body: async () => ({ name: 'Test Ltd' }), broken: async () => ({ body: { vatId: 'DE1' } }) },
}
