// Forward-only migrations, each in a transaction that holds a lock: two processes that start together run a migration once,
// and a process that is killed leaves none half done.
import { readdirSync } from 'node:fs'
import knexFactory, { type Knex } from 'knex'
import { migrations } from '../../migrations/index.ts'
import { ConfigError } from '../base/errors.ts'
import { whenFree } from './busy.ts'

/** A newer Remit than this one has migrated the database. */
export class NewerDatabaseError extends Error {}

/** An arbitrary number for PostgreSQL's advisory lock, the same in all Remit processes on one database. */
const lockId = 7_360_801

/** Brings the database up to this version of Remit and returns the names of the migrations that ran. */
export async function migrate(
	connection: { sqliteFile: string } | { postgresUrl: string },
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
			: knexFactory({ client: 'pg', connection: connection.postgresUrl, pool: { min: 0, max: 1 }, log: quiet })
	try {
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

/** Applies the next migration and returns its name. The pool has one connection, so every query is in the transaction. */
async function step(knex: Knex, sqlite: boolean): Promise<string | undefined> {
	// `immediate` takes SQLite's write lock at once: a transaction that reads first may fail to get it later.
	await whenFree(() => knex.raw(sqlite ? 'begin immediate' : 'begin'))
	try {
		if (!sqlite) await knex.raw('select pg_advisory_xact_lock(?)', [lockId])
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
		await knex.raw('rollback')
		throw error
	}
}
