// How the tests ask the operations of this folder.
import { made, type Samples } from '../../test/sample.ts'

export const samples: Samples = {
	timeEntries: {
		make: (tenant) => tenant.newTimeEntry(),
		body: async (tenant) => ({ dealId: await tenant.newDeal(), durationSeconds: 3_600 }),
		broken: async () => ({ body: { dealId: 'dl_unknown' } }),
		contradicting: async (tenant) => {
			const dealId = await tenant.newDeal()
			const id = await tenant.newTimeEntry({ dealId })
			await made(tenant, '/api/invoices/from-time-entries', { dealId, timeEntryIds: [id] })
			return { id, body: { description: 'Afterwards' } }
		},
	},
}
