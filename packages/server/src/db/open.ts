// Opens and migrates the database that the settings name, and loads no other driver.
import { resolve } from 'node:path'
import type { Logger } from 'pino'
import { makePrivateFolder } from '../base/private-files.ts'
import type { Database } from './database.ts'
import { databaseFile, unusableFolder } from './files/data-folder.ts'
import { migrate, type Upgrade } from './migrate.ts'

export interface DatabaseSettings {
	/** Empty for SQLite, in DATA_DIR. */
	readonly DATABASE_URL: string
	readonly DATA_DIR: string
	readonly DATABASE_CONNECTIONS: number
	readonly DATABASE_CONNECT_SECONDS: number
	readonly DATABASE_QUERY_SECONDS: number
}

export async function openDatabase(config: DatabaseSettings, log: Logger, upgrade?: Upgrade): Promise<Database> {
	if (config.DATABASE_URL) {
		const settings = {
			url: config.DATABASE_URL,
			connections: config.DATABASE_CONNECTIONS,
			connectMs: config.DATABASE_CONNECT_SECONDS * 1_000,
			queryMs: config.DATABASE_QUERY_SECONDS * 1_000,
		}
		await migrate({ postgresUrl: settings.url, connectMs: settings.connectMs }, upgrade)
		const { openPostgres } = await import('./postgres.ts')
		return openPostgres(settings, (err) => log.error({ err }, 'database connection lost'))
	}
	try {
		makePrivateFolder(resolve(config.DATA_DIR))
		const file = databaseFile(config.DATA_DIR)
		await migrate({ sqliteFile: file }, upgrade)
		const { openSqlite } = await import('./sqlite.ts')
		return openSqlite(file)
	} catch (error) {
		throw unusableFolder(config.DATA_DIR, error)
	}
}
