// How the tests ask the operations of this folder.
import { randomUUID } from 'node:crypto'
import type { Samples } from '../../test/sample.ts'

export const samples: Samples = {
	// Another name each time, since a write of what is there already is no change.
	organization: {
		body: async () => ({ name: `Test ${randomUUID()}` }),
		broken: async () => ({ body: { vatId: 'DE1' } }),
	},
}
