// How each operation is asked: what makes the record that its path names, and what it is sent.
import { vi } from 'vitest'
import type { Operation } from '../src/contract/routes.ts'
import type { Tenant } from './harness.ts'

/** What an operation is asked: the record of its path, its body, or both. */
export interface Asked {
	readonly id?: string
	readonly body?: object
}

export interface Sample {
	/** Makes what the path names; returns the id, or the token. */
	readonly make?: (tenant: Tenant) => Promise<string>
	/** A body that is taken. */
	readonly body?: (tenant: Tenant) => Promise<object>
	/** What breaks a rule: 422. */
	readonly broken?: (tenant: Tenant) => Promise<Asked>
	/** What contradicts what is stored: 409. */
	readonly contradicting?: (tenant: Tenant) => Promise<Asked>
}

const made = async ({ ask }: Tenant, path: string, body?: object): Promise<string> => (await ask('POST', path, { body })).body.id

const newInvoice = (tenant: Tenant) => made(tenant, '/api/invoices', { totalCents: 5_000 })

/** An invoice that was given one of its links. */
const withLink = (kind: 'client-link' | 'payment-link') => async (tenant: Tenant) => {
	const id = await newInvoice(tenant)
	await tenant.ask('POST', `/api/invoices/${id}/${kind}`)
	return id
}

const newToken = async (tenant: Tenant): Promise<string> => {
	const { body } = await tenant.ask('POST', `/api/invoices/${await newInvoice(tenant)}/client-link`)
	return body.url.split('/').at(-1)
}

const stage = (key: string) => ({ key, label: 'Active', type: 'won' })

const newApiKey = (tenant: Tenant) => made(tenant, '/api-keys', { name: 'CI', scopes: ['read'] })

const newEndpoint = (tenant: Tenant) =>
	made(tenant, '/webhooks/endpoints', { url: 'https://receiver.example/hook', eventTypes: ['invoice.*'] })

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

/** By resource, and for an operation that is asked otherwise than the rest of its resource. */
const samples: Record<string, Sample> = {
	companies: {
		make: (tenant) => made(tenant, '/api/companies', { name: 'Acme' }),
		body: async () => ({ name: 'Acme' }),
	},
	contacts: {
		make: (tenant) => made(tenant, '/api/contacts', { name: 'Jana Vogel' }),
		body: async () => ({ name: 'Jana Vogel' }),
		broken: async () => ({ body: { name: 'Jana Vogel', companyId: 'cmp_unknown' } }),
	},
	deals: {
		make: (tenant) => tenant.newDeal(),
		body: async () => ({ name: 'Relaunch' }),
		broken: async () => ({ body: { name: 'Relaunch', stage: 'unknown' } }),
	},
	invoices: {
		make: newInvoice,
		body: async () => ({ notes: 'Thank you.' }),
		broken: async () => ({ body: { lineItems: [{ unitPriceCents: 100 }], totalCents: 1 } }),
		contradicting: async ({ ask }) => ({ body: { invoiceNumber: (await ask('POST', '/api/invoices')).body.invoiceNumber } }),
	},
	'invoices.createFromTimeEntries': {
		body: async (tenant) => {
			const dealId = await tenant.newDeal()
			return { dealId, timeEntryIds: [await tenant.newTimeEntry({ dealId })] }
		},
		broken: async (tenant) => ({ body: { dealId: await tenant.newDeal(), timeEntryIds: ['te_unknown'] } }),
	},
	'invoices.send': { make: newInvoice, body: async () => ({ to: 'client@acme.example' }) },
	'invoices.clientLink.create': { make: newInvoice },
	'invoices.clientLink.get': { make: withLink('client-link') },
	'invoices.clientLink.delete': { make: withLink('client-link') },
	'invoices.paymentLink.create': {
		make: newInvoice,
		broken: async (tenant) => ({ id: await made(tenant, '/api/invoices', { totalCents: 0 }) }),
	},
	'invoices.paymentLink.get': { make: withLink('payment-link') },
	'invoices.public.get': { make: newToken },
	'invoices.public.pdf': { make: newToken },
	organization: { body: async () => ({ name: 'Test Ltd' }) },
	pipelines: {
		make: (tenant) => made(tenant, '/api/pipelines', { name: 'Retainers', stages: [stage('active')] }),
		body: async () => ({ name: 'Retainers', stages: [stage('active')] }),
		broken: async () => ({ body: { name: 'Retainers', stages: [stage('active'), stage('active')] } }),
		contradicting: async (tenant) => {
			const deal = await tenant.ask('GET', `/api/deals/${await tenant.newDeal()}`)
			return { id: deal.body.data.pipelineId, body: { stages: [stage('other')] } }
		},
	},
	apiKeys: {
		make: newApiKey,
		body: async () => ({ name: 'CI', scopes: ['read'] }),
		broken: async () => ({ body: { name: 'CI', scopes: ['read'], expiresAt: 100_000_000_000 } }),
	},
	'apiKeys.rotate': { make: newApiKey, body: async () => ({ overlapSeconds: 60 }) },
	'taxRates.create': { body: async () => ({ name: 'VAT', percent: '19' }) },
	taxRates: {
		make: (tenant) => made(tenant, '/api/tax-rates', { name: 'VAT', percent: '19' }),
		body: async () => ({ name: 'VAT', percent: '19' }),
		broken: async (tenant) => {
			const id = await made(tenant, '/api/tax-rates', { name: 'VAT', percent: '19' })
			await tenant.ask('DELETE', `/api/tax-rates/${id}`)
			return { id, body: { isDefault: true } }
		},
		contradicting: async (tenant) => {
			const id = await made(tenant, '/api/tax-rates', { name: 'VAT', percent: '19' })
			await made(tenant, '/api/invoices', { lineItems: [{ unitPriceCents: 100, taxRateId: id }] })
			return { id, body: { percent: '20' } }
		},
	},
	webhooks: {
		make: newEndpoint,
		body: async () => ({ url: 'https://receiver.example/hook', eventTypes: ['invoice.*'] }),
		broken: async () => ({ body: { url: 'http://private.example/', eventTypes: ['*'] } }),
	},
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
	'webhooks.events.get': {
		make: async (tenant) => {
			await tenant.newTimeEntry()
			return (await tenant.ask('GET', '/webhooks/events?type=time_entry.created')).body.data[0].id
		},
	},
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

export const sampleOf = ({ id }: Operation): Sample => samples[id] ?? samples[id.split('.')[0] as string] ?? {}

/** Its path with the record's id, or the token, in it. */
export const pathOf = ({ path }: Operation, id: string): string => path.replace(/\{\w+\}/, () => encodeURIComponent(id))

/** What a valid request of an operation is, on a new record where one is needed. */
export async function newRequest(operation: Operation, tenant: Tenant): Promise<{ path: string; body: object | undefined }> {
	const { make, body } = sampleOf(operation)
	const id = operation.path.includes('{') ? await make?.(tenant) : ''
	return { path: pathOf(operation, id as string), body: operation.body === 'none' ? undefined : await body?.(tenant) }
}
