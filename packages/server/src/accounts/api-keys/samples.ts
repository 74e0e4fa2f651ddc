// How the tests ask the operations of this folder.
import type { Tenant } from '../../../test/harness.ts'
import { made, type Samples } from '../../../test/sample.ts'

const newApiKey = (tenant: Tenant) => made(tenant, '/api-keys', { name: 'CI', scopes: ['read'] })

/** Makes as many keys as an organization may have; returns one of them. */
async function full({ newKey }: Tenant) {
	const keys = await Promise.all(Array.from({ length: 99 }, () => newKey(['read'])))
	return { id: keys[0]?.id ?? '' }
}

export const samples: Samples = {
	apiKeys: {
		make: newApiKey,
		body: async () => ({ name: 'CI', scopes: ['read'] }),
		rejected: {
			expires_in_past: async () => ({ body: { name: 'CI', scopes: ['read'], expiresAt: 100_000_000_000 } }),
			too_many_api_keys: full,
		},
	},
	'apiKeys.rotate': {
		make: newApiKey,
		body: async () => ({ overlapSeconds: 60 }),
		rejected: { too_many_api_keys: full },
	},
}
