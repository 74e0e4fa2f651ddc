import type { Manifest } from './manifest.ts'

const apiVersion = '2026-03'
const companies = `/crm/objects/${apiVersion}/companies`

export const hubspot: Manifest = {
	id: 'hubspot',
	name: 'HubSpot',
	apiVersion,
	baseUrl: 'https://api.hubapi.com',
	// The key is the token of a private app.
	authTypes: ['oauth2', 'api_key'],
	oauth: {
		authorizationUrl: 'https://app.hubspot.com/oauth/authorize',
		tokenUrl: `https://api.hubapi.com/oauth/${apiVersion}/token`,
		revocationPath: `/oauth/${apiVersion}/token/revoke`,
		scopes: ['oauth'],
		authentication: 'body',
		refreshTokenIdleDays: null,
	},
	config: {},
	test: { path: `/account-info/${apiVersion}/details`, accountId: 'portalId', accountName: 'uiDomain' },
	headers: {},
	objects: [
		{
			name: 'companies',
			path: companies,
			asks: { parameter: 'properties', prefix: 'properties.' },
			scopes: ['crm.objects.companies.read', 'crm.objects.companies.write'],
			records: 'results',
			total: 'total',
			idField: 'id',
			changedField: 'properties.hs_lastmodifieddate',
			changedFormat: 'iso',
			changes: {
				...{ style: 'search', path: `${companies}/search`, property: 'hs_lastmodifieddate', idProperty: 'hs_object_id' },
				...{ most: 200, lagMs: 120_000 },
			},
			pagination: { style: 'cursor', parameter: 'after', next: 'paging.next.after' },
			pageSize: { parameter: 'limit', most: 100 },
			one: `${companies}/{id}`,
			envelope: null,
			writes: {
				create: { method: 'POST', path: companies },
				update: { method: 'PATCH', path: `${companies}/{id}` },
				...{ encoding: 'json', textsBelow: 'properties', answersPart: true },
			},
			removal: { style: 'delete', method: 'DELETE', path: `${companies}/{id}` },
			lookUp: { style: 'search', path: `${companies}/search`, fields: ['properties.*'], lagMs: 60_000 },
			deletion: { field: 'archived', values: [true] },
			schema: {
				path: `/crm/properties/${apiVersion}/companies`,
				...{ records: 'results', prefix: 'properties.', times: ['date', 'datetime'] },
			},
			// HubSpot answers each value as text.
			fields: [
				{ path: 'id', type: 'string' },
				{ path: 'properties.name', type: 'string' },
				{ path: 'properties.domain', type: 'string' },
				{ path: 'properties.phone', type: 'string' },
				{ path: 'properties.address', type: 'string' },
				{ path: 'properties.city', type: 'string' },
				{ path: 'properties.state', type: 'string' },
				{ path: 'properties.zip', type: 'string' },
				{ path: 'properties.country', type: 'string' },
				{ path: 'properties.hs_lastmodifieddate', type: 'datetime' },
			],
		},
	],
	idempotencyHeader: null,
	limits: [
		{
			remaining: 'x-hubspot-ratelimit-remaining',
			reset: { header: 'x-hubspot-ratelimit-interval-milliseconds', unit: 'ms' },
			pauseMs: 10_000,
		},
		{ remaining: 'x-hubspot-ratelimit-daily-remaining', pauseMs: 3_600_000 },
	],
	longLimit: { path: 'policyName', value: 'DAILY', pauseMs: 3_600_000 },
	errors: ['errors.*.message', 'message'],
}
