import type { Manifest, ObjectManifest } from './manifest.ts'

const apiVersion = 'v1'

type Differing = 'fields' | 'writes' | 'removal' | 'lookUp'

const list = (name: string, differing: Pick<ObjectManifest, Differing>): ObjectManifest => ({
	name,
	path: `/${apiVersion}/${name}`,
	scopes: [],
	records: 'data',
	idField: 'id',
	// Lists filter by `created` only.
	changedField: null,
	changedFormat: 'unix_s',
	changes: null,
	pagination: { style: 'after_id', parameter: 'starting_after', more: 'has_more' },
	pageSize: { parameter: 'limit', most: 100 },
	one: `/${apiVersion}/${name}/{id}`,
	envelope: null,
	deletion: { field: 'deleted', values: [true] },
	schema: null,
	...differing,
})

export const stripe: Manifest = {
	id: 'stripe',
	name: 'Stripe',
	apiVersion,
	baseUrl: 'https://api.stripe.com',
	authTypes: ['api_key'],
	oauth: null,
	config: {},
	test: { path: `/${apiVersion}/account`, accountId: 'id', accountName: 'settings.dashboard.display_name' },
	headers: {},
	objects: [
		list('customers', {
			writes: {
				create: { method: 'POST', path: `/${apiVersion}/customers` },
				update: { method: 'POST', path: `/${apiVersion}/customers/{id}` },
				...{ encoding: 'form', answersPart: false },
			},
			removal: { style: 'delete', method: 'DELETE', path: `/${apiVersion}/customers/{id}` },
			lookUp: { style: 'parameters', fields: ['email'], lagMs: 0 },
			fields: [
				{ path: 'id', type: 'string' },
				{ path: 'name', type: 'string' },
				{ path: 'email', type: 'string' },
				{ path: 'phone', type: 'string' },
				{ path: 'address.country', type: 'string' },
				{ path: 'created', type: 'number' },
			],
		}),
		list('invoices', {
			// What is in an invoice, its number and its status come of other calls.
			writes: null,
			removal: null,
			lookUp: { style: 'query', path: `/${apiVersion}/invoices/search`, fields: ['number', 'customer'], lagMs: 60_000 },
			fields: [
				{ path: 'id', type: 'string' },
				{ path: 'number', type: 'string' },
				{ path: 'customer', type: 'string' },
				{ path: 'status', type: 'string' },
				{ path: 'currency', type: 'string' },
				{ path: 'total', type: 'number' },
				{ path: 'amount_due', type: 'number' },
				{ path: 'due_date', type: 'number' },
			],
		}),
	],
	hasOwnWebhooks: true,
	// Keys may be removed after 24 hours.
	idempotencyHeader: { name: 'idempotency-key', maxLength: 255, keptMs: 23 * 3_600_000 },
	// Stripe tells nobody how many calls are left.
	limits: [],
	errors: ['error.message'],
}
