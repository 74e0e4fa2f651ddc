// `remit organizations erase` and `remit people erase`. What they say must be so: what is kept, and what they cannot reach.

import { rm } from 'node:fs/promises'
import type { Command } from 'commander'
import type { TokenRow } from '../../integration/doors.ts'
import { byCommand } from '../../platform/base/origin.ts'
import type { Database } from '../../platform/db/database.ts'
import type { openServices } from '../../platform/outside/services.ts'
import type { Person } from '../erase/blank.ts'
import type { ErasureRequest } from '../erase/erase.ts'
import { type CommandContext, command, print, UsageError } from './command.ts'

/** The settings of the services too, which revoke at providers. */
interface EraseContext extends CommandContext {
	settings(): ReturnType<CommandContext['settings']> & Parameters<typeof openServices>[0]
}

interface Options {
	readonly json?: boolean
	readonly yes?: boolean
	readonly organization: string
}

const notReached =
	'Backups, receivers of webhooks, mailboxes and the payment processor still have what they got, and freed pages of the database until they are used again.'

export function addEraseCommands(program: Command, organizations: Command, context: EraseContext): void {
	command(organizations, 'erase', 'Delete all records of an organization for good, its invoices too.')
		.argument('<id>', 'the id of the organization, org_…')
		.option('--yes', 'do it; without this the command only says what it would do')
		.action((id, options: Options) => eraseOrganizationCommand(id, options, context))

	command(
		program.command('people').description('People whose data is in the records of an organization.'),
		'erase',
		'Blank a person in the records of an organization.',
	)
		.argument('<email or contact>', 'an e-mail address, or the id of a contact, ct_…')
		.requiredOption('--organization <id>', 'the organization whose records they are in')
		.option('--yes', 'do it; without this the command only says what it would do')
		.action((key, options: Options) => erasePersonCommand(key, options, context))
}

/** Loaded by the commands that use it alone: the others would spend most of their time on it. */
const accounts = () => import('../../accounts/doors.ts')

const eraseOrganizationCommand = (organizationId: string, options: Options, { settings, withDatabase }: EraseContext) =>
	withDatabase(async (db, now) => {
		const { findOrganization } = await accounts()
		const organization = await findOrganization(db, organizationId)
		if (!organization) throw new UsageError(`${organizationId}: there is no such organization`)
		const { eraseOrganization } = await import('../erase/erase.ts')
		const request = { organizationId, origin: byCommand(now(), 'organizations erase'), now }
		const mailFiles = await findMailFiles(db, settings(), request)
		if (!options.yes) {
			throw new UsageError(
				`${organizationId} (${organization.name}): this deletes all its records for good, also invoices that the law asks to keep${alsoDeletes(mailFiles)}; make a backup first, then repeat with --yes`,
			)
		}
		await removeFiles(mailFiles)
		const done = await eraseOrganization(db, request, (connections) =>
			revokeAtProviders(settings(), connections).catch((error) =>
				console.error(`Tokens of connections were not revoked at their providers: ${error.message}`),
			),
		)
		print(
			options,
			{ ...done, mailFiles },
			`Erased ${organizationId}: ${done.rowCount} rows${alsoDeleted(mailFiles)}. ${notReached}`,
		)
	})

/** A courtesy: a provider that does not answer within five seconds keeps what a person let Remit do, and no token is left to use it. */
async function revokeAtProviders(settings: Parameters<typeof openServices>[0], connections: readonly TokenRow[]): Promise<void> {
	if (connections.length === 0) return
	const [{ openServices }, { revokeAll }, { introductions }] = await Promise.all([
		import('../../platform/outside/services.ts'),
		import('../../integration/doors.ts'),
		import('../../introductions.ts'),
	])
	const services = await openServices(settings, { baseUrl: () => '', ...introductions })
	await revokeAll(services, connections).finally(() => services.close())
}

/** E-mails that became files. One that was picked up and moved elsewhere is not reached. */
async function findMailFiles(
	db: Database,
	settings: Parameters<typeof openServices>[0],
	request: ErasureRequest,
	person?: Person,
): Promise<string[]> {
	const [{ listMailFiles }, { mailUrl }, { findMailsOf }] = await Promise.all([
		import('../../platform/outside/mail/file.ts'),
		import('../../platform/outside/services.ts'),
		import('../erase/erase.ts'),
	])
	const files = await listMailFiles(mailUrl(settings))
	return (await findMailsOf(db, files.keys(), request, person)).map((id) => files.get(id) as string)
}

const removeFiles = (paths: readonly string[]) => Promise.all(paths.map((path) => rm(path, { force: true })))

const alsoDeletes = (files: readonly string[]) =>
	files.length === 0 ? '' : `, and deletes ${files.length} e-mail files: ${files.join(', ')}`
const alsoDeleted = (files: readonly string[]) => (files.length === 0 ? '' : ` and ${files.length} e-mail files`)

const erasePersonCommand = (key: string, options: Options, { settings, withDatabase }: EraseContext) =>
	withDatabase(async (db, now) => {
		const organizationId = options.organization
		const { findOrganization } = await accounts()
		if (!(await findOrganization(db, organizationId)))
			throw new UsageError(`--organization ${organizationId}: there is no such organization`)
		const { countRowsOf, erasePerson, findPerson } = await import('../erase/erase.ts')
		const person = await findPerson(db, organizationId, key)
		if (person.emails.length + person.contactIds.length === 0) throw new UsageError(`${key}: there is no such contact`)
		const request = { organizationId, origin: byCommand(now(), 'people erase'), now }
		const mailFiles = await findMailFiles(db, settings(), request, person)
		if (!options.yes) {
			const rows = await countRowsOf(db, person, request)
			throw new UsageError(
				`${key}: this blanks ${[...person.emails, ...person.words].join(', ')} in ${rows} rows for good, but not on issued invoices${alsoDeletes(mailFiles)}; repeat with --yes`,
			)
		}
		await removeFiles(mailFiles)
		const done = await erasePerson(db, person, request)
		const kept = 'Issued invoices are as they were, as the law asks for; kept answers end within 24 hours.'
		const notFound = 'Names and phones in free text are not found: search for them.'
		print(
			options,
			{ ...done, mailFiles },
			`Erased the person from ${done.rowCount} rows${alsoDeleted(mailFiles)}. ${kept} ${notFound} ${notReached}`,
		)
	})
