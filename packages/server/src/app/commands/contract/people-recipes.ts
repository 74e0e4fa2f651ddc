// How `remit contract verify` asks for keys, the organization, and what people sign in with.
import { type ErrorCase, name, nobody, type Recipes, rejected, sendsMail } from './recipe.ts'
import type { ServerUnderTest } from './server-under-test.ts'

const dataOf = async (server: ServerUnderTest, id: string) =>
	((await server.ask(id)).body as { data: Record<string, unknown> }).data

const password = 'the password of nobody'
/** The secret of no link. */
const token = 'x'.repeat(43)
const notFound = (code: string, body: object): ErrorCase => ({ status: 404, code, body })

const ofPerson = 'takes the session of a person'

export const peopleRecipes: Recipes = {
	apiKeys: {
		make: (server) => server.make('apiKeys.create', { name, scopes: ['read'] }),
		body: async () => ({ name, scopes: ['read'] }),
		errors: [rejected('expires_in_past', { name, scopes: ['read'], expiresAt: 100_000_000_000 })],
	},
	'apiKeys.rotate': {
		make: (server) => server.make('apiKeys.create', { name, scopes: ['read'] }),
		body: async () => ({ overlapSeconds: 60 }),
	},
	organization: {
		// What is there already: nothing changes.
		body: async (server) => ({ name: (await dataOf(server, 'organization.get')).name }),
		errors: [rejected('invalid_vat_id', { vatId: 'DE1' })],
	},
	'organization.logo.get': {},
	'organization.logo': { skip: 'changes the logo', errors: [rejected('invalid_logo', { data: 'AAAA' })] },
	'organization.nextInvoiceNumber': {
		body: async (server) => ({ number: (await dataOf(server, 'organization.nextInvoiceNumber.get')).number }),
		wide: true,
	},
	'organization.paymentCredentials.get': {},
	'organization.paymentCredentials': { skip: 'changes who is paid' },
	'organization.usage': {},
	users: { skip: 'needs a person' },
	'users.list': {},
	invitations: { body: async () => ({ email: nobody, role: 'member' }), skip: sendsMail },
	'invitations.list': {},
	'invitations.show': { skip: sendsMail, errors: [notFound('invitation_not_found', { token })] },
	'invitations.accept': { skip: sendsMail, errors: [notFound('invitation_not_found', { token, name, password })] },
	sessions: { skip: ofPerson },
	'sessions.list': {},
	session: { skip: ofPerson },
	'session.create': {
		skip: ofPerson,
		errors: [{ status: 401, code: 'sign_in_failed', body: { email: nobody, password } }],
	},
	// Nobody has the address, so nobody gets mail.
	'session.password.reset': { body: async () => ({ email: nobody }) },
	'session.password.set': {
		skip: ofPerson,
		errors: [notFound('password_reset_not_found', { token, password })],
	},
	setup: {
		skip: 'makes the first person of a server',
		errors: [notFound('setup_not_found', { token, organizationName: name, email: nobody, name, password })],
	},
	'setup.get': {},
	audit: {},
}
