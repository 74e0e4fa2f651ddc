import type { Manifest } from './manifest.ts'

/** Any API that answers JSON; the connection's config says where it is. */
export const httpJson: Manifest = {
	id: 'http_json',
	name: 'JSON over HTTP',
	apiVersion: null,
	baseUrl: '',
	authTypes: ['api_key', 'basic', 'client_credentials'],
	oauth: null,
	config: { baseUrl: true, testPath: false, apiKeyHeader: false, tokenUrl: false, scopes: false },
	test: { path: '/' },
	headers: {},
	objects: [],
	remainingHeaders: ['x-ratelimit-remaining', 'ratelimit-remaining'],
}
