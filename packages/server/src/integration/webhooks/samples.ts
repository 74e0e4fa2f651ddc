// How the tests ask the operations of this folder.
import { vi } from 'vitest'
import type { Tenant } from '../../../test/harness.ts'
import { made, rejectedUrls, type Samples } from '../../../test/sample.ts'

const endpoint = { url: 'https://receiver.example/hook', eventTypes: ['invoice.*'] }

/** An organization may have 50 endpoints, and the samples make more one after the other. */
async function newEndpoint(tenant: Tenant): Promise<string> {
	const { data, meta } = (await tenant.ask('GET', '/webhooks/endpoints?limit=1&offset=39')).body
	if (meta.total >= 40) await tenant.ask('DELETE', `/webhooks/endpoints/${data[0].id}`)
	return made(tenant, '/webhooks/endpoints', endpoint)
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
		rejected: {
			...rejectedUrls((url) => ({ url, eventTypes: ['*'] })),
			event_type_out_of_reach: async (tenant) => {
				const { key } = await tenant.newKey(['read', 'write'], { resources: ['invoice'] })
				const { id } = (await tenant.ask('POST', '/webhooks/endpoints', { key, body: endpoint })).body
				return { id, key, body: { ...endpoint, eventTypes: ['company.*'] } }
			},
			too_many_endpoints: async (tenant) => {
				await Promise.all(Array.from({ length: 50 }, () => made(tenant, '/webhooks/endpoints', endpoint)))
				return {}
			},
		},
	},
	'webhooks.endpoints.stats': { make: newEndpoint },
	'webhooks.endpoints.rotateSecret': { make: newEndpoint, body: async () => ({ graceSeconds: 60 }) },
	'webhooks.endpoints.test': { make: newEndpoint, rejected: { webhook_endpoint_not_active: paused } },
	'webhooks.endpoints.redeliver': {
		make: newEndpoint,
		body: async () => ({ since: 1_700_000_000_000 }),
		rejected: { webhook_endpoint_not_active: paused },
	},
	'webhooks.deliveries.get': { make: newDelivery },
	'webhooks.deliveries.redeliver': {
		make: failedDelivery,
		rejected: {
			webhook_endpoint_not_active: async (tenant) => {
				const id = await newDelivery(tenant)
				const { endpointId } = (await tenant.ask('GET', `/webhooks/deliveries/${id}`)).body.data
				await tenant.ask('PATCH', `/webhooks/endpoints/${endpointId}`, { body: { status: 'paused' } })
				return { id }
			},
			// Of two events about one record the second waits for the first.
			delivery_under_way: async (tenant) => {
				await newEndpoint(tenant)
				const id = await made(tenant, '/api/invoices')
				await tenant.ask('PATCH', `/api/invoices/${id}`, { body: { notes: 'Thank you.' } })
				return { id: (await tenant.ask('GET', '/webhooks/deliveries?type=invoice.updated')).body.data[0].id }
			},
		},
	},
}
