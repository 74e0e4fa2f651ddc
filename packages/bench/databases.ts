// The SQLite files of a run: the seeded one, and a copy of it for each server.
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '../server/src/config.ts'
import type { Database } from '../server/src/platform/db/database.ts'
import { openDatabase } from '../server/src/platform/db/drivers/open.ts'
import { newFolder } from './resources.ts'
import { type Seed, seed } from './seed.ts'

/** A log without output: `openDatabase` writes only lost connections to it. */
const silent = { error() {} } as unknown as Parameters<typeof openDatabase>[1]

/** Opens a data folder or a PostgreSQL database, does the work, and closes it. */
export async function withDatabase<T>(where: { folder: string } | { url: string }, work: (db: Database) => Promise<T>) {
	const settings = 'url' in where ? { DATABASE_URL: where.url } : { DATA_DIR: where.folder }
	const db = await openDatabase(readConfig(settings), silent)
	const done = await work(db)
	await db.close()
	return done
}

const file = 'remit.db'

/** Creates, migrates and seeds a database, and closes it. */
export async function seedSqlite(): Promise<{ database: string; seed: Seed }> {
	const folder = newFolder('seed')
	return { seed: await withDatabase({ folder }, seed), database: join(folder, file) }
}

/** A new data folder with a copy of a database. */
export function copyDatabase(name: string, database: string): string {
	const folder = newFolder(`data-${name}`)
	copyFileSync(database, join(folder, file))
	return folder
}

export const fileIn = (folder: string) => join(folder, file)
