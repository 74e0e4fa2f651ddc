// Forward-only migrations, each in a transaction that holds a lock: two processes that start together run a migration once,
// and a process that is killed leaves none half done.
import { readdirSync } from 'node:fs'
import knexFactory, { type Knex } from 'knex'
import { migrations } from '../../migrations/index.ts'
import { ConfigError } from '../base/errors.ts'
import { whenFree, within } from './busy.ts'

/** A newer Remit than this one has migrated the database. */
export class NewerDatabaseError extends Error {}

/** An arbitrary number for PostgreSQL's advisory lock, the same in all Remit processes on one database. */
const lockId = 7_360_801

interface PostgresConnection {
	readonly postgresUrl: string
	readonly connectMs?: number
	/** How long another process may migrate the same database before this one gives up. */
	readonly waitMs?: number
}

/** Brings the database up to this version of Remit and returns the names of the migrations that ran. */
export async function migrate(
	connection: { sqliteFile: string } | PostgresConnection,
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
		if ('postgresUrl' in connection) await prepareSession(knex, connection)
		return await run(knex, 'sqliteFile' in connection)
	} finally {
		await knex.destroy()
	}
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

async function run(knex: Knex, sqlite: boolean): Promise<string[]> {
	if (sqlite) await whenFree(() => knex.raw('pragma journal_mode = WAL'))
	const applied: string[] = []
	for (let next = await step(knex, sqlite); next !== undefined; next = await step(knex, sqlite)) applied.push(next)
	return applied
}

/**
 * Bounds every wait of the session but that for a migration itself: for a server that accepts a connection and says nothing, for
 * the lock, and for this process when it is frozen while it holds the lock.
 */
async function prepareSession(knex: Knex, { connectMs = 5_000, waitMs = 30_000 }: PostgresConnection): Promise<void> {
	await within(connectMs, knex.raw(`set lock_timeout = ${waitMs}; set idle_in_transaction_session_timeout = ${waitMs}`))
}

/** Applies the next migration and returns its name. The pool has one connection, so every query is in the transaction. */
async function step(knex: Knex, sqlite: boolean): Promise<string | undefined> {
	// `immediate` takes SQLite's write lock at once: a transaction that reads first may fail to get it later.
	await whenFree(() => knex.raw(sqlite ? 'begin immediate' : 'begin'))
	try {
		if (!sqlite) await lock(knex)
		await knex.raw('create table if not exists "migrations" ("number" integer primary key, "name" text, "appliedAt" bigint)')
		const [row] = await knex('migrations').max({ latest: 'number' })
		const latest = Number(row?.latest ?? 0)
		if (latest > migrations.length) {
			throw new NewerDatabaseError(
				`The database is at migration ${latest}, this version of Remit knows ${migrations.length}: run the newer Remit, or restore a backup.`,
			)
		}
		const migration = migrations[latest]
		if (migration) {
			await migration.up(knex)
			await knex('migrations').insert({ number: latest + 1, name: migration.name, appliedAt: Date.now() })
		}
		await knex.raw('commit')
		return migration?.name
	} catch (error) {
		// SQLite has undone it by itself when the disk is full, and then has nothing to roll back.
		await knex.raw('rollback').catch(() => {})
		throw error
	}
}

async function lock(knex: Knex): Promise<void> {
	await knex.raw('select pg_advisory_xact_lock(?)', [lockId]).catch((error) => {
		if (error.code !== '55P03') throw error
		throw new ConfigError(
			'DATABASE_URL: another process migrates the database, or hangs while it does: look at it, and start again.',
		)
	})
}
