// Forward-only migrations, each in a transaction that begins with the migration's row in the list: of two processes that start
// together the second waits for the first at that row, and a process that is killed leaves no migration half done.
import { readdirSync } from 'node:fs'
import knexFactory, { type Knex } from 'knex'
import { migrations } from '../../migrations/index.ts'
import { ConfigError } from '../base/errors.ts'
import { whenFree } from './busy.ts'
import { isReadOnly } from './postgres/errors.ts'
import { within } from './postgres/silence.ts'

/** Another version of Remit has migrated the database: a newer one, or an older one and this is not the moment to follow it. */
export class OtherVersionError extends Error {}

interface PostgresConnection {
	readonly postgresUrl: string
	readonly connectMs?: number
	/** How long another process may migrate the same database before this one gives up. */
	readonly waitMs?: number
}

/** Whether a database of an older version is migrated, or left as it is; a new one always is. */
export type Upgrade = 'upgrade' | 'no upgrade'

/** Brings the database up to this version of Remit and returns the names of the migrations that ran. */
export async function migrate(
	connection: { sqliteFile: string } | PostgresConnection,
	upgrade: Upgrade = 'upgrade',
	files = readdirSync(new URL('../../migrations', import.meta.url)),
): Promise<string[]> {
	requireIndexed(files)
	const knex =
		'sqliteFile' in connection
			? knexFactory({
					client: 'better-sqlite3',
					connection: { filename: connection.sqliteFile },
					useNullAsDefault: true,
					log: quiet,
				})
			: knexFactory({
					client: 'pg',
					connection: {
						connectionString: connection.postgresUrl,
						connectionTimeoutMillis: connection.connectMs,
						keepAlive: true,
					},
					pool: { min: 0, max: 1 },
					log: quiet,
				})
	try {
		if ('sqliteFile' in connection) return await run(knex, { sqlite: true, limits: '' }, upgrade)
		const { connectMs = 5_000, waitMs = 30_000 } = connection
		// A server may accept a connection and say nothing.
		await within(connectMs, knex.raw('select 1'))
		return await run(knex, { sqlite: false, limits: limitsOf(waitMs) }, upgrade).catch((error) => {
			throw unsuitable(error)
		})
	} finally {
		await knex.destroy()
	}
}

/** The number of the last migration of a PostgreSQL database, which it leaves as it is; 0 when Remit has never used it. */
export async function readMigration(postgresUrl: string): Promise<number> {
	const knex = knexFactory({ client: 'pg', connection: postgresUrl, pool: { min: 0, max: 1 }, log: quiet })
	try {
		return await readLatestIfAny(knex)
	} finally {
		await knex.destroy()
	}
}

async function readLatest(knex: Knex): Promise<number> {
	const [row] = await knex('migrations').max({ latest: 'number' })
	return Number(row?.latest ?? 0)
}

const readLatestIfAny = async (knex: Knex): Promise<number> => ((await knex.schema.hasTable('migrations')) ? readLatest(knex) : 0)

/** A server of the older version may be running on it. */
async function requireNotOlder(knex: Knex): Promise<void> {
	const latest = await readLatestIfAny(knex)
	if (latest === 0 || latest >= migrations.length) return
	throw new OtherVersionError(
		`The database is at migration ${latest}, this version of Remit knows ${migrations.length}: restart the server with this version, or stop it and run remit migrate.`,
	)
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

interface Kind {
	readonly sqlite: boolean
	/** Begins each transaction. */
	readonly limits: string
}

async function run(knex: Knex, kind: Kind, upgrade: Upgrade): Promise<string[]> {
	if (kind.sqlite) await whenFree(() => knex.raw('pragma journal_mode = WAL'))
	if (upgrade === 'no upgrade') await requireNotOlder(knex)
	await createList(knex, kind)
	const applied: string[] = []
	for (let next = await step(knex, kind); next.length > 0; next = await step(knex, kind)) applied.push(...next)
	return applied
}

/**
 * Bounds every wait but that for a migration itself: for another process that migrates, and for this process when it is frozen while it
 * does. For the transaction alone: through a pooler, others get the connection next.
 */
const limitsOf = (waitMs: number) =>
	`set local lock_timeout = ${waitMs}; set local idle_in_transaction_session_timeout = ${waitMs};`

async function createList(knex: Knex, { limits }: Kind): Promise<void> {
	const sql = `${limits} create table if not exists "migrations" ("number" integer primary key, "name" text, "appliedAt" bigint)`
	await whenFree(() => knex.raw(sql)).catch((error) => {
		// Of two processes that create a table at once PostgreSQL fails the second when the first is done, in one of two ways.
		if (error.code !== '23505' && error.code !== '42P07') throw explained(error)
	})
}

/**
 * Applies the next migration, or all of them to a new database, which nobody then sees half made, and returns their names. The
 * pool has one connection, so every query is in the transaction.
 */
async function step(knex: Knex, kind: Kind): Promise<string[]> {
	// `immediate` takes SQLite's write lock at once: a transaction that reads first may fail to get it later.
	await whenFree(() => knex.raw(kind.sqlite ? 'begin immediate' : `begin; ${kind.limits}`))
	try {
		const latest = await readLatest(knex)
		if (latest > migrations.length) {
			throw new OtherVersionError(
				`The database is at migration ${latest}, this version of Remit knows ${migrations.length}: run the newer Remit, or restore a backup.`,
			)
		}
		const next = latest === 0 ? migrations : migrations.slice(latest, latest + 1)
		for (const [index, { name, up }] of next.entries()) {
			await take(knex, { number: latest + index + 1, name, appliedAt: Date.now() })
			await up(knex)
		}
		await knex.raw('commit')
		return next.map(({ name }) => name)
	} catch (error) {
		// SQLite has undone it by itself when the disk is full, and then has nothing to roll back.
		await knex.raw('rollback').catch(() => {})
		if (isApplied(error as object)) return step(knex, kind)
		throw error
	}
}

/** Waits for another process that has the migration's row in its transaction. */
const take = (knex: Knex, row: { number: number; name: string; appliedAt: number }) =>
	knex('migrations')
		.insert(row)
		.catch((error) => {
			throw explained(error)
		})

/** Whether another process has applied the migration while this one waited for its row. */
const isApplied = ({ code, table }: { code?: unknown; table?: unknown }) => code === '23505' && table === 'migrations'

/** Says what was waited for, if it took too long. */
const explained = (error: { code?: unknown }) =>
	error.code === '55P03'
		? new ConfigError('DATABASE_URL: another process migrates the database, or hangs while it does: look at it, and start again.')
		: error

/** PgBouncer's words. */
const inStatementMode = 'transaction blocks not allowed in statement pooling mode'

/** Says what a database is that answers and cannot be used. */
function unsuitable(error: Error): Error {
	if (isReadOnly(error))
		return new ConfigError(
			'DATABASE_URL: the database can be read only, as a standby can: name the primary, or the pooler in front of it.',
		)
	if (error.message.endsWith(inStatementMode))
		return new ConfigError(`DATABASE_URL: ${inStatementMode}: set pool_mode = transaction, and DATABASE_POOLER=transaction.`)
	return error
}
