import type { Manifest, ObjectManifest } from './manifest.ts'

const apiVersion = 'v1'

const list = (name: string, fields: ObjectManifest['fields']): ObjectManifest => ({
	name,
	path: `/${apiVersion}/${name}`,
	scopes: [],
	records: 'data',
	idField: 'id',
	// Lists filter by `created` only.
	changedField: null,
	pagination: { style: 'after_id', parameter: 'starting_after', more: 'has_more' },
	pageSize: { parameter: 'limit', most: 100 },
	deletion: 'absent',
	fields,
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
		list('customers', [
			{ path: 'id', type: 'string' },
			{ path: 'name', type: 'string' },
			{ path: 'email', type: 'string' },
			{ path: 'phone', type: 'string' },
			{ path: 'address.country', type: 'string' },
			{ path: 'created', type: 'number' },
		]),
		list('invoices', [
			{ path: 'id', type: 'string' },
			{ path: 'number', type: 'string' },
			{ path: 'customer', type: 'string' },
			{ path: 'status', type: 'string' },
			{ path: 'currency', type: 'string' },
			{ path: 'total', type: 'number' },
			{ path: 'amount_due', type: 'number' },
			{ path: 'due_date', type: 'number' },
		]),
	],
	// Stripe tells nobody how many calls are left.
	remainingHeaders: [],
}
