// How the tests ask the operations of this folder.
import { made, type Samples } from '../../../test/sample.ts'

export const samples: Samples = {
	timeEntries: {
		make: (tenant) => tenant.newTimeEntry(),
		body: async (tenant) => ({ dealId: await tenant.newDeal(), durationSeconds: 3_600 }),
		rejected: {
			time_entry_invoiced: async (tenant) => {
				const dealId = await tenant.newDeal()
				const id = await tenant.newTimeEntry({ dealId })
				await made(tenant, '/api/invoices/from-time-entries', { dealId, timeEntryIds: [id] })
				return { id, body: { description: 'Afterwards' } }
			},
			invalid_time_entry: async (tenant) => ({
				body: { dealId: await tenant.newDeal(), startedAt: '2026-02-02T10:00:00Z', endedAt: '2026-02-02T09:00:00Z' },
			}),
			timer_running: async (tenant) => {
				const running = { dealId: await tenant.newDeal(), userId: 'ada', endedAt: null }
				await made(tenant, '/api/time-entries', running)
				return { body: running }
			},
		},
	},
}
