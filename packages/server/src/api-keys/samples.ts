// How the tests ask the operations of this folder.
import type { Tenant } from '../../test/harness.ts'
import { made, type Samples } from '../../test/sample.ts'

const newApiKey = (tenant: Tenant) => made(tenant, '/api-keys', { name: 'CI', scopes: ['read'] })

export const samples: Samples = {
	apiKeys: {
		make: newApiKey,
		body: async () => ({ name: 'CI', scopes: ['read'] }),
		broken: async () => ({ body: { name: 'CI', scopes: ['read'], expiresAt: 100_000_000_000 } }),
	},
	'apiKeys.rotate': { make: newApiKey, body: async () => ({ overlapSeconds: 60 }) },
}
