// How the tests ask the operations of this folder.
import { randomInt, randomUUID } from 'node:crypto'
import type { Tenant } from '../../../test/harness.ts'
import { png } from '../../../test/images.ts'
import type { Samples } from '../../../test/sample.ts'

const logo = async () => ({ data: png(2, 2, [randomInt(256), randomInt(256), randomInt(256)]).toString('base64') })

export const samples: Samples = {
	'organization.logo.get': { make: async (tenant) => setLogo(tenant) },
	'organization.logo.replace': { body: logo, rejected: { invalid_logo: async () => ({ body: { data: 'AAAA' } }) } },
	'organization.logo.delete': { make: async (tenant) => setLogo(tenant) },
	// Another name each time, since a write of what is there already is no change.
	organization: {
		body: async () => ({ name: `Test ${randomUUID()}` }),
		rejected: {
			invalid_vat_id: async () => ({ body: { vatId: 'DE1' } }),
			invalid_iban: async () => ({ body: { bankAccount: { iban: 'DE89 3704 0044 0532 0130 01' } } }),
			low_contrast: async () => ({ body: { accentColor: '#ffcc00' } }),
		},
	},
}

async function setLogo(tenant: Tenant): Promise<string> {
	await tenant.ask('PUT', '/api/organization/logo', { body: await logo() })
	return ''
}
