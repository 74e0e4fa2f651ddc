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
	readonly DATABASE_CONNECTIONS: number
	readonly DATABASE_CONNECT_SECONDS: number
	readonly DATABASE_QUERY_SECONDS: number
}

export async function openDatabase(config: DatabaseSettings, log: Logger): Promise<Database> {
	if (config.DATABASE_URL) {
		const settings = {
			url: config.DATABASE_URL,
			connections: config.DATABASE_CONNECTIONS,
			connectMs: config.DATABASE_CONNECT_SECONDS * 1_000,
			queryMs: config.DATABASE_QUERY_SECONDS * 1_000,
		}
		await migrate({ postgresUrl: settings.url, connectMs: settings.connectMs })
		const { openPostgres } = await import('./postgres.ts')
		return openPostgres(settings, (err) => log.error({ err }, 'database connection lost'))
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
