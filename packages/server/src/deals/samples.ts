// How the tests ask the operations of this folder.
import { made, type Samples } from '../../test/sample.ts'

const stage = (key: string) => ({ key, label: 'Active', type: 'won' })

export const samples: Samples = {
	deals: {
		make: (tenant) => tenant.newDeal(),
		body: async () => ({ name: 'Relaunch' }),
		broken: async () => ({ body: { name: 'Relaunch', stage: 'unknown' } }),
	},
	pipelines: {
		make: (tenant) => made(tenant, '/api/pipelines', { name: 'Retainers', stages: [stage('active')] }),
		body: async () => ({ name: 'Yearly retainers', stages: [stage('active')] }),
		broken: async () => ({ body: { name: 'Retainers', stages: [stage('active'), stage('active')] } }),
		contradicting: async (tenant) => {
			const deal = await tenant.ask('GET', `/api/deals/${await tenant.newDeal()}`)
			return { id: deal.body.data.pipelineId, body: { stages: [stage('other')] } }
		},
	},
}
