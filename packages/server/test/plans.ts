// How a database runs the product's own queries: what a store function asks, and the plan of each query.
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { expect } from 'vitest'
import type { Db, Dialect } from '../src/platform/db/database.ts'
import { Statements } from '../src/platform/db/statements.ts'
import type { TestDatabase } from './databases.ts'
import type { Ask } from './tables.ts'

/** A connection beside that of the server. */
export async function connect({
	DATABASE_URL,
	DATA_DIR,
}: Partial<TestDatabase['settings']>): Promise<{ ask: Ask; end: () => unknown }> {
	if (DATABASE_URL) {
		const client = new pg.Client(DATABASE_URL)
		await client.connect()
		return { ask: async (sql, values) => (await client.query(sql, values)).rows, end: () => client.end() }
	}
	const file = new Sqlite(join(DATA_DIR as string, 'remit.db'))
	const ask: Ask = async (sql, values = []) => {
		const statement = file.prepare(sql)
		if (statement.reader) return statement.all(values) as Record<string, unknown>[]
		statement.run(values)
		// The server's reads of one turn of the event loop see what there was at its first.
		await nextTurn()
		return []
	}
	return { ask, end: () => file.close() }
}

export interface Recorded {
	readonly sql: string
	readonly values: unknown[]
}

/** The SQL that a store function runs, without running it; but jobs that it makes due, by their key. */
export async function record(dialect: Dialect, work: (db: Db) => Promise<unknown>): Promise<Recorded[]> {
	const statements = new Statements<string>(dialect, (sql) => sql)
	const recorded: Recorded[] = []
	const keep = (query: never, params: never): undefined => {
		const { statement, values } = statements.compile(query as never, params as object)
		if (!/^insert into .(jobs|webhook_attempts)/.test(statement)) recorded.push({ sql: statement, values: values(params) })
	}
	const db = {
		dialect,
		all: async (query: never, params: never) => keep(query, params) ?? [],
		column: async (query: never, params: never) => keep(query, params) ?? [],
		get: async (query: never, params: never) => void keep(query, params),
		run: async (query: never, params: never) => keep(query, params) ?? 0,
	}
	await work(db as unknown as Db).catch(() => undefined)
	return recorded
}

/** The plan of each query, a line a step. */
export async function plansBy(dialect: Dialect, ask: Ask, recorded: readonly Recorded[]): Promise<string[]> {
	expect(recorded.length).toBeGreaterThan(0)
	const explain = dialect === 'sqlite' ? 'explain query plan' : 'explain (costs off)'
	const found = []
	for (const { sql, values } of recorded) {
		const rows = await ask(`${explain} ${sql}`, values)
		found.push(rows.map((row) => String(row.detail ?? row['QUERY PLAN'])).join('\n'))
	}
	return found
}
