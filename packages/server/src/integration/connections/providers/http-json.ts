import type { Manifest } from './manifest.ts'

/** Any API that answers JSON; the connection's config says where it is. */
export const httpJson: Manifest = {
	id: 'http_json',
	name: 'JSON over HTTP',
	apiVersion: null,
	baseUrl: '',
	authTypes: ['api_key', 'basic', 'client_credentials'],
	oauth: null,
	config: {
		...{ baseUrl: true, testPath: false, apiKeyHeader: false, objects: false },
		...{ tokenUrl: false, scopes: false, clientAuthentication: false, tokenParameters: false },
	},
	test: { path: '/' },
	headers: {},
	objects: [],
	idempotencyHeader: null,
	limits: [
		{ remaining: 'x-ratelimit-remaining', reset: { header: 'x-ratelimit-reset', unit: 's' }, pauseMs: 60_000 },
		{ remaining: 'ratelimit-remaining', reset: { header: 'ratelimit-reset', unit: 's' }, pauseMs: 60_000 },
	],
	errors: ['errors.*.message', 'errors.*.detail', 'error.message', 'detail', 'message', 'error', 'title'],
}
