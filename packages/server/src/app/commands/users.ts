// `remit users`: the way in for people where nobody can sign in, or mail is not set up.

import type { Command } from 'commander'
import type { UserRole } from '../../generated/contract.ts'
import { roles } from '../../platform/auth/roles.ts'
import { newToken } from '../../platform/auth/session-cookie.ts'
import { ApiError } from '../../platform/base/errors.ts'
import { byCommand } from '../../platform/base/origin.ts'
import { isEmail } from '../../platform/contract/formats.ts'
import type { Database } from '../../platform/db/database.ts'
import { type CommandContext, type CommandSettings, command, print, UsageError } from './command.ts'

/** Loaded by the commands that use it alone: the others would spend most of their time on it. */
const accounts = () => import('../../accounts/doors.ts')

export function addUserCommands(program: Command, { settings, withDatabase }: CommandContext): void {
	const users = program.command('users').description('People who sign in to the web application.')

	command(users, 'create', 'Invite a person, and print the link by which they join.')
		.requiredOption('--organization <id>', 'the organization they will belong to')
		.requiredOption('--email <address>', 'the address that they will sign in with')
		.option('--role <role>', roles.join(', '), 'admin')
		.action((options) =>
			withDatabase(async (db, now) => {
				const { organization: organizationId, role } = options
				const email = readAddress(options.email)
				if (!isRole(role)) throw new UsageError(`--role ${role}: must be one of ${roles.join(', ')}`)
				const { createInvitation, findOrganization, invitationPath, requireFreeAddress } = await accounts()
				if (!(await findOrganization(db, organizationId)))
					throw new UsageError(`--organization ${organizationId}: there is no such organization`)
				const token = newToken()
				const origin = byCommand(now(), 'users create')
				const { id, expiresAt } = await refused(
					db.transaction(async (tx) => {
						await requireFreeAddress(tx, organizationId, email)
						return createInvitation({ db: tx, origin }, organizationId, { email, role }, token)
					}),
				)
				const url = linkTo(settings(), invitationPath(token))
				print(options, { id, url, expiresAt }, `${email} joins by this link, within seven days:\n${url}${hint(settings())}`)
			}),
		)

	command(users, 'reset-password', 'Print a link by which a person sets a new password.')
		.argument('<email>', 'the address that they sign in with')
		.option('--organization <id>', 'which of theirs, if they have several')
		.action((address, options) =>
			withDatabase(async (db, now) => {
				const { resetPath, storeReset } = await accounts()
				const person = await findPerson(db, readAddress(address), options.organization)
				const token = newToken()
				await db.transaction((tx) => storeReset(tx, { organizationId: person.organizationId, userId: person.id }, token, now()))
				const url = linkTo(settings(), resetPath(token))
				print(
					options,
					{ id: person.id, url },
					`${address} sets a new password by this link, within an hour:\n${url}${hint(settings())}`,
				)
			}),
		)
}

const isRole = (text: string): text is UserRole => roles.some((role) => role === text)

function readAddress(text: string): string {
	if (!isEmail(text)) throw new UsageError(`${text}: must be one address, such as name@example.com`)
	return text.toLowerCase()
}

async function findPerson(db: Database, email: string, organization: string | undefined) {
	const { listByAddress } = await accounts()
	const found = (await listByAddress(db, email)).filter(
		({ organizationId }) => organization === undefined || organizationId === organization,
	)
	const [person, other] = found
	if (!person) throw new UsageError(`${email}: nobody has this address`)
	if (!other) return person
	const ids = found.map(({ organizationId }) => organizationId).join(', ')
	throw new UsageError(`${email}: belongs to several organizations; name one of them with --organization: ${ids}`)
}

/** What the API would refuse, in a sentence. */
const refused = <T>(work: Promise<T>): Promise<T> =>
	work.catch((error) => {
		throw error instanceof ApiError ? new UsageError(error.message) : error
	})

/** The command cannot see where a server runs. */
const hint = ({ BASE_URL }: CommandSettings) =>
	BASE_URL ? '' : '\nIf the server has another address, set its BASE_URL, or HOST and PORT, for this command, too.'

const linkTo = ({ BASE_URL, HOST, PORT }: CommandSettings, path: string) => `${BASE_URL || `http://${HOST}:${PORT}`}${path}`
