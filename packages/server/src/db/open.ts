// Opens and migrates the database that the settings name, and loads no other driver.
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Logger } from 'pino'
import { ConfigError } from '../base/errors.ts'
import type { Database } from './database.ts'
import { migrate } from './migrate.ts'

export interface DatabaseSettings {
	/** Empty for SQLite, in DATA_DIR. */
	readonly DATABASE_URL: string
	readonly DATA_DIR: string
}

export async function openDatabase(config: DatabaseSettings, log: Logger): Promise<Database> {
	if (config.DATABASE_URL) {
		await migrate({ postgresUrl: config.DATABASE_URL })
		const { openPostgres } = await import('./postgres.ts')
		return openPostgres(config.DATABASE_URL, (err) => log.error({ err }, 'database connection lost'))
	}
	const folder = resolve(config.DATA_DIR)
	try {
		mkdirSync(folder, { recursive: true })
		const file = join(folder, 'remit.db')
		await migrate({ sqliteFile: file })
		const { openSqlite } = await import('./sqlite.ts')
		return openSqlite(file)
	} catch (error) {
		const code = (error as { code?: string }).code ?? ''
		const unusable = [
			'EACCES',
			'EEXIST',
			'ENOTDIR',
			'EPERM',
			'EROFS',
			'SQLITE_CANTOPEN',
			'SQLITE_READONLY',
			'SQLITE_NOTADB',
			'SQLITE_CORRUPT',
		]
		if (!unusable.some((known) => code.startsWith(known))) throw error
		throw new ConfigError(`DATA_DIR=${config.DATA_DIR}: ${folder} cannot be used: ${(error as Error).message}`, { cause: error })
	}
}
