// The command `remit`: runs the server, and manages organizations and keys, also beside a server on the same database.

import http from 'node:http'
import { Command, CommanderError } from 'commander'
import { addBackupCommands } from './app/commands/backup.ts'
import { command, type DatabaseWork, print, UsageError } from './app/commands/command.ts'
import { addContractCommands } from './app/commands/contract/contract.ts'
import { addEraseCommands } from './app/commands/erase.ts'
import { addJobCommands } from './app/commands/jobs.ts'
import { addMailCommands } from './app/commands/mail.ts'
import { addApiCommands } from './app/commands/remote/api.ts'
import { addConnectionCommands } from './app/commands/remote/connections.ts'
import { addListenCommand } from './app/commands/remote/listen.ts'
import { addMappingCommands } from './app/commands/remote/mappings.ts'
import { addSyncCommands } from './app/commands/remote/syncs.ts'
import { addSecretsCommands } from './app/commands/secrets.ts'
import { addCompletionCommands } from './app/commands/shell/completion.ts'
import { addProfileCommands } from './app/commands/shell/profiles.ts'
import { addUserCommands } from './app/commands/users.ts'
import { clientProxies, readConfig, settingsHelp } from './config.ts'
import type { ResourceKind } from './generated/contract.ts'
import { scopeOfKind } from './generated/tables.ts'
import { scopes as allScopes, type Scope } from './platform/auth/keys.ts'
import { isTimeZone } from './platform/base/dates.ts'
import { ConfigError } from './platform/base/errors.ts'
import { byCommand } from './platform/base/origin.ts'
import { version } from './platform/contract/document.ts'
import { nameIn } from './platform/contract/formats.ts'
import { type Database, OtherVersionError, type Transaction, unavailability } from './platform/db/database.ts'
import type { Upgrade } from './platform/db/drivers/migrate.ts'
import { takeChangeTime } from './platform/db/write-context.ts'
import { openClock } from './platform/work/clock-store.ts'

// What a server or command writes is for its own user alone: the database, its log, the key, mail as files, backups.
process.umask(0o077)

const proxies = clientProxies()
// From Node 24.14 on.
if (proxies) http.setGlobalProxyFromEnv?.(proxies)

/** Loaded by the commands that use it alone: the others would spend most of their time on it. */
const accounts = () => import('./accounts/doors.ts')

const program = new Command('remit')
	.description('Invoices and companies behind one contract.')
	.version(version)
	.showHelpAfterError()

program
	.command('serve')
	.description('Migrate the database and serve the API.')
	.option('--demo', 'on an empty database, create a demo organization and print its key')
	.option('--new-key', 'print another key for the demo organization')
	.option('--json', 'print machine-readable output')
	.addHelpText('after', settingsHelp())
	.action(async (options) => {
		const config = readConfig()
		// Loaded only here: other commands, and one with a wrong setting, would spend most of their time on loading the server.
		const { serve } = await import('./serve.ts')
		await serve(config, options)
	})

command(program, 'migrate', 'Bring the database up to this version.').action(async (options) => {
	const { DATABASE_URL, DATA_DIR } = readConfig()
	// An older server on the SQLite file would go on with tables that it does not know. Servers on PostgreSQL are restarted in turn.
	const { lockForServer } = await import('./platform/db/files/server-lock.ts')
	const lock = DATABASE_URL || (await isUpToDate()) ? undefined : lockForServer(DATA_DIR)
	await withDatabase(async () => print(options, { ok: true }, 'The database is up to date.'), 'upgrade')
	lock?.release()
})

addBackupCommands(program, { settings: readConfig, withDatabase })
addMailCommands(program, { settings: readConfig, withDatabase })
addJobCommands(program, { settings: readConfig, withDatabase })
addSecretsCommands(program, { settings: readConfig, withDatabase })

addConnectionCommands(program)
addMappingCommands(program)
addSyncCommands(program)
addListenCommand(program)
addApiCommands(program, process.argv[2] === 'api' || (process.argv[2] === 'complete' && process.argv.includes('api')))
addProfileCommands(program)
addCompletionCommands(program)
addContractCommands(program)

const organizations = program.command('organizations').description('Organizations: each sees only its own records.')

command(organizations, 'create', 'Create an organization.')
	.requiredOption('--name <name>', 'its name')
	.option('--time-zone <zone>', 'IANA time zone in which its days end', 'UTC')
	.action((options) =>
		withDatabase(async (db, now) => {
			if (!isTimeZone(options.timeZone))
				throw new UsageError(`--time-zone ${options.timeZone}: is not an IANA time zone such as Europe/Berlin`)
			const [{ createOrganization }, { listOrganizationRows }] = await Promise.all([import('./introductions.ts'), accounts()])
			const settings = { name: readName(options.name), timeZone: options.timeZone }
			const { id: organizationId } = await db.transaction((tx) =>
				createOrganization(tx, byCommand(now(), 'organizations create'), settings),
			)
			const [created] = await listOrganizationRows(db, { organizationId })
			print(options, created, `Created ${organizationId} (${settings.name}).`)
		}),
	)

command(organizations, 'list', 'List organizations.').action((options) =>
	withDatabase(async (db) => {
		const { listOrganizationRows } = await accounts()
		const found = await listOrganizationRows(db)
		print(options, found, found.map(({ organizationId, name }) => `${organizationId}  ${name}`).join('\n') || 'None.')
	}),
)

addUserCommands(program, { settings: readConfig, withDatabase })
addEraseCommands(program, organizations, { settings: readConfig, withDatabase })

const keys = program.command('keys').description('API keys.')

command(keys, 'create', 'Create an API key and print it, once.')
	.requiredOption('--organization <id>', 'the organization it is for')
	.requiredOption('--scopes <list>', `all, or a comma list of ${allScopes.join(', ')}`)
	.option('--name <name>', 'what it is for', 'cli')
	.option(
		'--resources <list>',
		`the kinds of records to limit it to, a comma list of ${Object.keys(scopeOfKind).join(', ')}; all when absent`,
	)
	.option('--expires-in <duration>', 'such as 12h or 90d; never when absent')
	.action((options) =>
		withDatabase(async (db, now) => {
			const scopes = parseScopes(options.scopes)
			const resources = options.resources === undefined ? null : parseResources(options.resources)
			const origin = byCommand(now(), 'keys create')
			const name = readName(options.name)
			const expiresAt = options.expiresIn === undefined ? null : origin.now + parseDuration(options.expiresIn)
			await requireOrganization(db, options.organization)
			const { createKey } = await accounts()
			const { id, key } = await db.transaction((tx) =>
				createKey({ db: tx, origin }, options.organization, { name, scopes, resources, expiresAt }),
			)
			print(
				options,
				{ id, key, scopes, resources, expiresAt },
				`Created ${id}. This is the only time that the key is shown:\n${key}`,
			)
		}),
	)

command(keys, 'list', 'List API keys.')
	.option('--organization <id>', 'only those of one organization')
	.action((options) =>
		withDatabase(async (db, now) => {
			if (options.organization !== undefined) await requireOrganization(db, options.organization)
			const { listKeys } = await accounts()
			const found = await listKeys(db, options.organization)
			const state = (key: (typeof found)[number]) =>
				key.revokedAt !== null ? 'revoked' : key.expiresAt !== null && key.expiresAt <= now() ? 'expired' : 'active'
			const lines = found.map(
				(key) =>
					`${key.id}  …${key.lastFour}  ${state(key)}  ${key.scopes.join(',')}${key.resources ? ` (${key.resources.join(',')})` : ''}  ${key.organizationId}  ${key.name}`,
			)
			print(options, found, lines.join('\n') || 'None.')
		}),
	)

command(keys, 'revoke', 'Revoke an API key; a running server refuses it within two seconds, and what gives access at once.')
	.argument('<id>', 'the id of the key, key_…')
	.action((id, options) =>
		withDatabase(async (db, now) => {
			const origin = byCommand(now(), 'keys revoke')
			const { findOwner, revokeKey } = await accounts()
			const owner = await findOwner(db, id)
			const revoke = async (tx: Transaction, organizationId: string) =>
				revokeKey({ db: tx, origin: await takeChangeTime(tx, origin, organizationId) }, id, organizationId)
			if (owner === undefined || !(await db.transaction((tx) => revoke(tx, owner))))
				throw new UsageError(`${id}: there is no such key to revoke`)
			print(options, { ok: true }, `Revoked ${id}.`)
		}),
	)

command(program, 'demo', 'Create a demo organization with realistic data and print its key.').action((options) =>
	withDatabase(async (db, now) => {
		const { createDemo } = await import('./app/demo/demo.ts')
		const demo = await createDemo(db, byCommand(now(), 'demo'))
		print(options, demo, `Created ${demo.organizationId}.\n${demo.key}`)
	}),
)

async function withDatabase(work: DatabaseWork, upgrade: Upgrade = 'no upgrade'): Promise<void> {
	// Loaded only here: commands that ask a server would spend half of their time on loading the drivers.
	const [{ openDatabase }, { pino }] = await Promise.all([import('./platform/db/drivers/open.ts'), import('pino')])
	const log = pino({ level: 'silent' })
	const db = await openDatabase(readConfig(), log, upgrade)
	try {
		await work(db, (await openClock(db, log)).now)
	} finally {
		await db.close()
	}
}

async function isUpToDate(): Promise<boolean> {
	try {
		await withDatabase(async () => {})
		return true
	} catch (error) {
		if (error instanceof OtherVersionError) return false
		throw error
	}
}

async function requireOrganization(db: Database, id: string): Promise<void> {
	const { findOrganization } = await accounts()
	if (!(await findOrganization(db, id))) throw new UsageError(`--organization ${id}: there is no such organization`)
}

function readName(text: string): string {
	const name = nameIn(text)
	if (name === undefined) throw new UsageError('--name: must be one line of text of 1 to 200 characters, without invisible ones')
	return name
}

function parseScopes(list: string): Scope[] {
	if (list === 'all') return [...allScopes]
	const scopes = list.split(',').map((scope) => scope.trim())
	const unknown = scopes.filter((scope) => !allScopes.includes(scope as Scope))
	if (unknown.length > 0) throw new UsageError(`--scopes ${list}: ${unknown.join(', ')} is none of ${allScopes.join(', ')}`)
	return scopes as Scope[]
}

function parseResources(list: string): ResourceKind[] {
	const kinds = list.split(',').map((kind) => kind.trim())
	const unknown = kinds.filter((kind) => !Object.hasOwn(scopeOfKind, kind))
	if (unknown.length > 0)
		throw new UsageError(`--resources ${list}: ${unknown.join(', ')} is none of ${Object.keys(scopeOfKind).join(', ')}`)
	return kinds as ResourceKind[]
}

const unitMs: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

function parseDuration(text: string): number {
	const [, count, unit] = /^(\d{1,5})([mhd])$/.exec(text) ?? []
	if (count === undefined || unit === undefined || Number(count) === 0)
		throw new UsageError(`--expires-in ${text}: must be a number above 0 and m, h or d, such as 90d`)
	return Number(count) * (unitMs[unit] as number)
}

try {
	await program.exitOverride().parseAsync()
} catch (error) {
	if (error instanceof CommanderError) process.exit(error.exitCode)
	const foreseen = error instanceof ConfigError || error instanceof UsageError || error instanceof OtherVersionError
	const isOfSqlite = String((error as { code?: string }).code).startsWith('SQLITE_')
	const unusable = isOfSqlite ? undefined : unavailability(error)
	if (foreseen) console.error(error.message)
	else if (unusable) console.error(`DATABASE_URL: ${unusable}: ${(error as Error).message || (error as { code?: string }).code}`)
	else console.error(error)
	process.exit(error instanceof UsageError ? error.exitCode : 1)
}
