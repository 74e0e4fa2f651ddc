// The SQLite files of a run: one that is seeded, and a copy of it for each server.
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../../packages/server/src/database.ts'
import { newFolder } from './resources.ts'
import { type Seed, seed } from './seed.ts'

/** A log that nobody reads: nothing but a lost connection is written to it. */
export const silent = { error() {} } as unknown as Parameters<typeof openDatabase>[1]

const file = 'remit.db'

/** A new, migrated and seeded database; nothing has it open. */
export async function seedSqlite(): Promise<{ database: string; seed: Seed }> {
	const folder = newFolder('seed')
	const db = await openDatabase({ DATABASE_URL: '', DATA_DIR: folder }, silent)
	const seeded = await seed(db)
	await db.close()
	return { database: join(folder, file), seed: seeded }
}

/** A data folder with a copy of a database. */
export function copyDatabase(name: string, database: string): string {
	const folder = newFolder(`data-${name}`)
	copyFileSync(database, join(folder, file))
	return folder
}

export const fileIn = (folder: string) => join(folder, file)
