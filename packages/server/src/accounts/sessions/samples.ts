// How the tests ask the operations of this folder.
import { personPassword, type Tenant } from '../../../test/harness.ts'
import { secret } from '../../../test/leaks.ts'
import { openSetup, resetToken } from '../../../test/people.ts'
import type { Samples } from '../../../test/sample.ts'

const password = secret('new-password')

const sessionOf = async (tenant: Tenant) => (await (await tenant.newPerson()).ask('GET', '/api/session')).body.data.id

const first = { email: 'first@people.example', name: 'Ada', password }

export const samples: Samples = {
	'session.get': {},
	'session.create': { body: async (tenant) => ({ email: (await tenant.newPerson()).email, password: personPassword }) },
	'session.delete': {},
	'session.password.change': {
		body: async () => ({ currentPassword: personPassword, password }),
		rejected: { wrong_password: async () => ({ body: { currentPassword: password, password } }) },
	},
	'session.password.reset': { body: async () => ({ email: 'nobody@people.example' }) },
	'session.password.set': { body: async (tenant) => ({ token: await resetToken(tenant), password }) },
	sessions: { make: sessionOf },
	'setup.get': {},
	'setup.create': {
		body: async (tenant) => ({
			token: await openSetup(tenant),
			organizationName: 'New Ltd',
			...first,
		}),
		rejected: { invalid_setup: async (tenant) => ({ body: { token: await openSetup(tenant), ...first } }) },
	},
}
