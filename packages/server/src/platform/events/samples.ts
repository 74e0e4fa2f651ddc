// How the tests ask the operations of this folder.
import type { Samples } from '../../../test/sample.ts'

export const samples: Samples = {
	'webhooks.events.get': {
		make: async (tenant) => {
			await tenant.newTimeEntry()
			return (await tenant.ask('GET', '/webhooks/events?type=time_entry.created')).body.data[0].id
		},
	},
}
