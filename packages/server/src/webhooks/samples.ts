// How the tests ask the operations of this folder.
import { vi } from 'vitest'
import type { Tenant } from '../../test/harness.ts'
import { made, type Samples } from '../../test/sample.ts'

/** An organization may have 50 endpoints, and the samples make more one after the other. */
async function newEndpoint(tenant: Tenant): Promise<string> {
	const { data, meta } = (await tenant.ask('GET', '/webhooks/endpoints?limit=1&offset=39')).body
	if (meta.total >= 40) await tenant.ask('DELETE', `/webhooks/endpoints/${data[0].id}`)
	return made(tenant, '/webhooks/endpoints', { url: 'https://receiver.example/hook', eventTypes: ['invoice.*'] })
}

const paused = async (tenant: Tenant) => {
	const id = await newEndpoint(tenant)
	await tenant.ask('PATCH', `/webhooks/endpoints/${id}`, { body: { status: 'paused' } })
	return { id }
}

const newDelivery = async (tenant: Tenant): Promise<string> =>
	(await tenant.ask('POST', `/webhooks/endpoints/${await newEndpoint(tenant)}/test`)).body.id

/** A delivery whose first attempt has failed: nobody listens where its endpoint is. */
async function failedDelivery(tenant: Tenant): Promise<string> {
	const id = await newDelivery(tenant)
	const status = async () => (await tenant.ask('GET', `/webhooks/deliveries/${id}`)).body.data.status
	await vi.waitUntil(async () => (await status()) === 'retrying', { timeout: 20_000 })
	return id
}

export const samples: Samples = {
	webhooks: {
		make: newEndpoint,
		body: async () => ({ url: 'https://receiver.example/hooks', eventTypes: ['*'] }),
		broken: async () => ({ body: { url: 'http://private.example/', eventTypes: ['*'] } }),
	},
	'webhooks.endpoints.stats': { make: newEndpoint },
	'webhooks.endpoints.rotateSecret': { make: newEndpoint, body: async () => ({ graceSeconds: 60 }) },
	'webhooks.endpoints.test': { make: newEndpoint, contradicting: paused },
	'webhooks.endpoints.redeliver': { make: newEndpoint, body: async () => ({ since: 1_700_000_000_000 }), contradicting: paused },
	'webhooks.deliveries.get': { make: newDelivery },
	'webhooks.deliveries.redeliver': {
		make: failedDelivery,
		contradicting: async (tenant) => {
			const id = await newDelivery(tenant)
			const { endpointId } = (await tenant.ask('GET', `/webhooks/deliveries/${id}`)).body.data
			await tenant.ask('PATCH', `/webhooks/endpoints/${endpointId}`, { body: { status: 'paused' } })
			return { id }
		},
	},
}
