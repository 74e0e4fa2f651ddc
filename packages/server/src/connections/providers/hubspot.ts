import type { Manifest } from './manifest.ts'

const apiVersion = '2026-03'

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
		authentication: 'post',
		refreshTokenIdleDays: null,
	},
	config: {},
	test: { path: `/account-info/${apiVersion}/details`, accountId: 'portalId', accountName: 'uiDomain' },
	headers: {},
	objects: [
		{
			name: 'companies',
			path: `/crm/objects/${apiVersion}/companies`,
			scopes: ['crm.objects.companies.read', 'crm.objects.companies.write'],
			records: 'results',
			idField: 'id',
			changedField: 'properties.hs_lastmodifieddate',
			pagination: { style: 'cursor', parameter: 'after', next: 'paging.next.after' },
			pageSize: { parameter: 'limit', most: 100 },
			deletion: 'archived',
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
	remainingHeaders: ['x-hubspot-ratelimit-remaining', 'x-hubspot-ratelimit-daily-remaining'],
}
