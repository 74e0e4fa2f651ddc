// How the tests ask the operations of this folder.
import type { Tenant } from '../../../test/harness.ts'
import { made, type Samples } from '../../../test/sample.ts'

const stage = (key: string) => ({ key, label: 'Active', type: 'won' })

const inUse = async (tenant: Tenant): Promise<string> =>
	(await tenant.ask('GET', `/api/deals/${await tenant.newDeal()}`)).body.data.pipelineId

export const samples: Samples = {
	deals: {
		make: (tenant) => tenant.newDeal(),
		body: async () => ({ name: 'Relaunch' }),
		rejected: {
			unknown_stage: async () => ({ body: { name: 'Relaunch', stage: 'unknown' } }),
			deal_has_time: async (tenant) => {
				const id = await tenant.newDeal()
				await tenant.newTimeEntry({ dealId: id })
				return { id }
			},
		},
	},
	pipelines: {
		make: (tenant) => made(tenant, '/api/pipelines', { name: 'Retainers', stages: [stage('active')] }),
		body: async () => ({ name: 'Yearly retainers', stages: [stage('active')] }),
		rejected: {
			invalid_stages: async () => ({ body: { name: 'Retainers', stages: [stage('active'), stage('active')] } }),
			stage_in_use: async (tenant) => ({ id: await inUse(tenant), body: { stages: [stage('other')] } }),
			record_in_use: async (tenant) => ({ id: await inUse(tenant) }),
		},
	},
}
