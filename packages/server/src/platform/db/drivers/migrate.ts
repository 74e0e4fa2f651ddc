// Forward-only migrations, each in a transaction that begins with the migration's row in the list: of two processes that start
// together the second waits for the first at that row, and a process that is killed leaves no migration half done. On PostgreSQL servers
// work meanwhile: what a migration waits for, all behind it wait for too, so it gives way and tries again (docs/decisions/migrations.md).
import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import knexFactory, { type Knex } from 'knex'
import { migrations } from '../../../../migrations/index.ts'
import { ConfigError } from '../../base/errors.ts'
import { OtherVersionError } from '../database.ts'
import { whenFree } from '../files/busy.ts'
import { isReadOnly } from '../postgres/errors.ts'
import { within } from '../postgres/silence.ts'
import { withUsualTls } from '../postgres/tls.ts'

type Migration = (typeof migrations)[number]

interface PostgresConnection {
	readonly postgresUrl: string
	readonly connectMs?: number
	/** How long another process may migrate the same database, or use what a migration needs, before this one gives up. */
	readonly waitMs?: number
}

interface MigrateOptions {
	/** Those that this version knows. */
	readonly known?: readonly Migration[]
	/** The names of their files. */
	readonly files?: readonly string[]
	/** Told of the migrations of a newer version that this one can serve beside. */
	readonly onNewer?: (names: readonly string[]) => void
}

/**
 * So long may a statement wait for a lock, and all who come behind it with it. Also at the row of a migration: the building of an index
 * waits for every statement that began before, this one too.
 */
const lockMs = 500

/** Whether a database of an older version is migrated, or left as it is; a new one always is. */
export type Upgrade = 'upgrade' | 'no upgrade'

/** Brings the database up to this version of Remit and returns the names of the migrations that ran. */
export async function migrate(
	connection: { sqliteFile: string } | PostgresConnection,
	upgrade: Upgrade = 'upgrade',
	{ known = migrations, files = readdirSync(new URL('../../../../migrations', import.meta.url)), onNewer }: MigrateOptions = {},
): Promise<string[]> {
	requireIndexed(files)
	if ('sqliteFile' in connection) {
		const filename = connection.sqliteFile
		const open = () => knexFactory({ client: 'better-sqlite3', connection: { filename }, useNullAsDefault: true, log: quiet })
		return using(open, (knex) => run(knex, { known, waitMs: 0 }, upgrade, onNewer))
	}
	const { connectMs = 5_000, waitMs = 30_000 } = connection
	const open = () =>
		knexFactory({
			client: 'pg',
			connection: { connectionString: connection.postgresUrl, connectionTimeoutMillis: connectMs, keepAlive: true },
			pool: { min: 0, max: 1 },
			log: quiet,
		})
	return using(open, async (knex) => {
		// A server may accept a connection and say nothing.
		await within(connectMs, knex.raw('select 1'))
		return run(knex, { known, waitMs, open }, upgrade, onNewer).catch((error) => {
			throw unsuitable(error)
		})
	})
}

async function using<T>(open: () => Knex, work: (knex: Knex) => Promise<T>): Promise<T> {
	const knex = open()
	try {
		return await work(knex)
	} finally {
		await knex.destroy()
	}
}

/** The number of the last migration of a PostgreSQL database, which it leaves as it is; 0 when Remit has never used it. */
export async function readMigration(postgresUrl: string): Promise<number> {
	const connection = { connectionString: withUsualTls('DATABASE_URL', postgresUrl) }
	const open = () => knexFactory({ client: 'pg', connection, pool: { min: 0, max: 1 }, log: quiet })
	return using(open, readLatestIfAny)
}

async function readLatest(knex: Knex): Promise<number> {
	const [row] = await knex('migrations').max({ latest: 'number' })
	return Number(row?.latest ?? 0)
}

const readLatestIfAny = async (knex: Knex): Promise<number> => ((await knex.schema.hasTable('migrations')) ? readLatest(knex) : 0)

/** A server of the older version may be running on it. */
async function requireNotOlder(knex: Knex, { known }: Setting): Promise<void> {
	const latest = await readLatestIfAny(knex)
	if (latest === 0 || latest >= known.length) return
	throw new OtherVersionError(
		`The database is at migration ${latest}, this version of Remit knows ${known.length}: restart the server with this version, or stop it and run remit migrate.`,
	)
}

/** Returns the names of migrations that this version does not know, and can serve beside; throws when it cannot. */
async function readNewer(knex: Knex, { known }: Setting): Promise<string[]> {
	const newer = await knex('migrations').where('number', '>', known.length).orderBy('number').select('number', 'name', 'needs')
	// Null: from before the migrations said it.
	if (newer.some(({ needs }) => needs === null || needs > known.length)) {
		throw new OtherVersionError(
			`The database is at migration ${newer.at(-1).number}, this version of Remit knows ${known.length}: run the newer Remit, or restore a backup.`,
		)
	}
	return newer.map(({ name }) => name)
}

/**
 * Without this check, a migration that is missing from the index would show as a missing table in the first request that needs
 * it. Only `.ts` files count: a build folder may still hold the files of an older build.
 */
export function requireIndexed(files: readonly string[]): void {
	const known = new Set(migrations.map(({ name }) => `${name}.ts`))
	const forgotten = files.filter((file) => /^\d.*\.ts$/.test(file) && !known.has(file))
	if (forgotten.length > 0) throw new ConfigError(`migrations/index.ts lacks ${forgotten.join(', ')}: run pnpm generate`)
}

/** Every failure is thrown; Knex would print it as well. */
const quiet = { warn() {}, error() {}, deprecate() {}, debug() {} }

interface Setting {
	readonly known: readonly Migration[]
	readonly waitMs: number
	/** A connection to PostgreSQL, beside the one of the transaction. */
	readonly open?: () => Knex
}

async function run(knex: Knex, setting: Setting, upgrade: Upgrade, onNewer: MigrateOptions['onNewer']): Promise<string[]> {
	if (!setting.open) await whenFree(() => knex.raw('pragma journal_mode = WAL'))
	if (upgrade === 'no upgrade') await requireNotOlder(knex, setting)
	await createList(knex, setting)
	const applied: string[] = []
	const next = () => whenNotBusy(() => step(knex, setting), setting)
	for (let names = await next(); names.length > 0; names = await next()) applied.push(...names)
	const newer = await readNewer(knex, setting)
	if (newer.length > 0) onNewer?.(newer)
	return applied
}

/**
 * Begins each transaction, for it alone: through a pooler, others get the connection next. The second limit ends it when this process is frozen
 * meanwhile.
 */
const limits = `set local lock_timeout = ${lockMs}; set local idle_in_transaction_session_timeout = 30000;`

async function createList(knex: Knex, setting: Setting): Promise<void> {
	const make = (sql: string) =>
		whenNotBusy(() => whenFree(() => knex.raw(setting.open ? `${limits} ${sql}` : sql)), setting).catch((error) => {
			if (!isThere(error)) throw error
		})
	await make(
		'create table if not exists "migrations" ("number" integer primary key, "name" text, "appliedAt" bigint, "needs" integer)',
	)
	if (!(await knex.schema.hasColumn('migrations', 'needs'))) await make('alter table "migrations" add column "needs" integer')
}

/** Of two processes that create a table or column at once PostgreSQL fails the second when the first is done, in one of three ways. */
const isThere = ({ code, message }: { code?: unknown; message: string }) =>
	['23505', '42P07', '42701'].includes(String(code)) || message.includes('duplicate column')

/**
 * Applies the next migration, or all of them to a new database, which nobody then sees half made, and returns their names. The
 * pool has one connection, so every query is in the transaction.
 */
async function step(knex: Knex, setting: Setting): Promise<string[]> {
	const { known, open } = setting
	// `immediate` takes SQLite's write lock at once: a transaction that reads first may fail to get it later.
	await whenFree(() => knex.raw(open ? `begin; ${limits}` : 'begin immediate'))
	try {
		const latest = await readLatest(knex)
		const next = latest === 0 ? known : known.slice(latest, latest + 1)
		for (const [index, { name, needs = null, inTransaction = true, up }] of next.entries()) {
			await take(knex, { number: latest + index + 1, name, appliedAt: Date.now(), needs })
			if (!open || inTransaction || latest === 0) await up(knex, false)
			else {
				// The row alone is held meanwhile, for as long as an index may take. A process that dies leaves the row to the next.
				await knex.raw('set local idle_in_transaction_session_timeout = 0')
				await using(open, (outside) => up(outside, true))
			}
		}
		await knex.raw('commit')
		return next.map(({ name }) => name)
	} catch (error) {
		// SQLite has undone it by itself when the disk is full, and then has nothing to roll back.
		await knex.raw('rollback').catch(() => {})
		if (isApplied(error as object)) return step(knex, setting)
		throw error
	}
}

/** Lock not available, and a deadlock with what a server does. */
const busyCodes = ['55P03', '40P01']

/** Tries again while others hold what a migration needs; between the tries they all get on. */
async function whenNotBusy<T>(work: () => Promise<T>, { waitMs }: Setting): Promise<T> {
	const until = Date.now() + waitMs
	for (;;) {
		try {
			return await work()
		} catch (error) {
			if (!busyCodes.includes((error as { code: string }).code)) throw error
			if (Date.now() > until) throw explained(error as Error)
			await sleep(lockMs * (1 + Math.random()))
		}
	}
}

/** Waits for another process that has the migration's row in its transaction. */
const take = (knex: Knex, row: { number: number; name: string; appliedAt: number; needs: number | null }) =>
	knex('migrations').insert(row)

/** Whether another process has applied the migration while this one waited for its row. */
const isApplied = ({ code, table }: { code?: unknown; table?: unknown }) => code === '23505' && table === 'migrations'

/** Says what was waited for in vain. */
const explained = ({ message }: Error) =>
	new ConfigError(
		message.includes('"migrations"')
			? 'DATABASE_URL: another process migrates the database, or hangs while it does: look at it, and start again.'
			: `DATABASE_URL: a migration waited in vain for a lock that others hold: end what runs for long (pg_stat_activity), and start again. ${message}`,
	)

/** PgBouncer's words. */
const inStatementMode = 'transaction blocks not allowed in statement pooling mode'

/** Says what a database is that answers and cannot be used. */
function unsuitable(error: Error): Error {
	if (isReadOnly(error))
		return new ConfigError(
			'DATABASE_URL: the database can be read only, as a standby can: name the primary, or the pooler in front of it.',
		)
	// Behind the statement, as Knex words it.
	const [, relation] = /relation ("[^"]+") already exists$/.exec(error.message) ?? []
	if (relation) return new ConfigError(`DATABASE_URL: ${relation} is there, and is not Remit's: name a database of its own.`)
	if (error.message.endsWith(inStatementMode))
		return new ConfigError(`DATABASE_URL: ${inStatementMode}: set pool_mode = transaction, and DATABASE_POOLER=transaction.`)
	return error
}
