// The first person of a server: whoever has the link that the server prints makes themselves an admin. The link's secret follows from
// the server's key, so that every process and every start has the same one, and nothing is stored.
import { timingSafeEqual } from 'node:crypto'
import type { OrganizationSettings, SetupCreate } from '../../generated/contract.ts'
import { hashPassword } from '../../platform/auth/passwords.ts'
import { ApiError } from '../../platform/base/errors.ts'
import type { Db } from '../../platform/db/database.ts'
import type { Handler } from '../../platform/http/handler.ts'
import type { Secrets } from '../../platform/outside/secrets.ts'
import { createOrganization, listOrganizations, lockOrganization } from '../organizations/store.ts'
import { canAnybodySignIn, createPerson, lockPeople } from '../people/store.ts'
import { startSession, visitorOf } from './start.ts'

const purpose = 'set-up'

/** The path of the page, with the secret of the link. */
export const setupPath = (secrets: Secrets): string => `/app/setup#${secrets.tokens(purpose, '').get(secrets.keyIds[0])}`

function isToken(secrets: Secrets, token: string): boolean {
	const sent = Buffer.from(token)
	return [...secrets.tokens(purpose, '').values()].some((known) => {
		const expected = Buffer.from(known)
		return expected.length === sent.length && timingSafeEqual(expected, sent)
	})
}

export const get: Handler<'setup.get'> = async (_call, { db, services }) => {
	const isOpen = !(await canAnybodySignIn(db))
	const [only, other] = isOpen ? await listOrganizations(db) : []
	const openIdConnect = services.openId !== undefined
	return { status: 200, body: { data: { isOpen, organizationName: only && !other ? only.name : null, openIdConnect } } }
}

const done = () => new ApiError('setup_not_found', 'The link is not the one that the server printed, or the set-up is done.')

export const create: Handler<'setup.create'> = async ({ body, userAgent }, context) => {
	const { db, services, origin } = context
	if (!isToken(services.secrets, body.token) || (await canAnybodySignIn(db))) throw done()
	const { name, email, password } = body
	const passwordHash = await hashPassword(password, visitorOf(context))
	return startSession(context, userAgent, async (tx) => {
		const write = { db: tx, origin }
		await lockPeople(tx)
		if (await canAnybodySignIn(tx)) throw done()
		const { id: organizationId } = await organizationOf(tx, body, (settings) =>
			createOrganization(tx, origin, settings, services.beginOrganization),
		)
		return createPerson(write, { organizationId, email: email.toLowerCase(), name, role: 'admin', passwordHash })
	})
}

const invalid = (detail: string) =>
	new ApiError('invalid_setup', detail, { errors: [{ pointer: '/organizationName', code: 'invalid_setup', detail }] })

/** The organization that is made, or the only one, locked. */
async function organizationOf(
	tx: Db,
	{ organizationName }: SetupCreate,
	make: (settings: { name: string }) => Promise<OrganizationSettings>,
): Promise<OrganizationSettings> {
	if (organizationName !== undefined) return make({ name: organizationName })
	const [only, other] = await listOrganizations(tx)
	if (only && !other) return lockOrganization(tx, only.id)
	throw invalid(`The server has ${other ? 'several organizations' : 'no organization'}: give the name of the one to make.`)
}
