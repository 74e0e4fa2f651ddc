// Opens and migrates the database that the settings name, and loads no other driver.
import { resolve } from 'node:path'
import type { Logger } from 'pino'
import { makePrivateFolder } from '../../base/private-files.ts'
import { type Database, query } from '../database.ts'
import { databaseFile, unusableFolder } from '../files/data-folder.ts'
import { requireNoPooler } from '../postgres/pooler.ts'
import { withUsualTls } from '../postgres/tls.ts'
import { migrate, type Upgrade } from './migrate.ts'

export interface DatabaseSettings {
	/** Empty for SQLite, in DATA_DIR. */
	readonly DATABASE_URL: string
	/** A standby for lists and reports; empty for none. */
	readonly DATABASE_READ_URL: string
	readonly DATABASE_POOLER: 'none' | 'transaction'
	readonly DATA_DIR: string
	readonly DATABASE_CONNECTIONS: number
	readonly DATABASE_CONNECT_SECONDS: number
	readonly DATABASE_QUERY_SECONDS: number
}

export async function openDatabase(config: DatabaseSettings, log: Logger, upgrade?: Upgrade): Promise<Database> {
	const onNewer = (newer: readonly string[]) =>
		log.warn({ newer }, 'the database is of a newer version, beside which this one serves')
	if (config.DATABASE_URL) {
		const settings = {
			url: withUsualTls('DATABASE_URL', config.DATABASE_URL),
			readUrl: config.DATABASE_READ_URL && withUsualTls('DATABASE_READ_URL', config.DATABASE_READ_URL),
			pooler: config.DATABASE_POOLER,
			connections: config.DATABASE_CONNECTIONS,
			connectMs: config.DATABASE_CONNECT_SECONDS * 1_000,
			queryMs: config.DATABASE_QUERY_SECONDS * 1_000,
		}
		await migrate({ postgresUrl: settings.url, connectMs: settings.connectMs }, upgrade, { onNewer })
		// It waits for the database, and the driver for the disk.
		const [{ openPostgres }] = await Promise.all([
			import('./postgres.ts'),
			settings.pooler === 'none' && requireNoPooler(settings.url),
		])
		const db = openPostgres(settings, {
			onError: (err) => log.error({ err }, 'database connection lost'),
			onStandby(reason) {
				if (reason === undefined) log.info('DATABASE_READ_URL: the standby reads')
				else log.warn({ reason }, 'DATABASE_READ_URL: the primary reads in place of the standby')
			},
		})
		if (settings.pooler === 'transaction') await noteLimits(db, log)
		return db
	}
	try {
		makePrivateFolder(resolve(config.DATA_DIR))
		const file = databaseFile(config.DATA_DIR)
		await migrate({ sqliteFile: file }, upgrade, { onNewer })
		const { openSqlite } = await import('./sqlite.ts')
		return openSqlite(file)
	} catch (error) {
		throw unusableFolder(config.DATA_DIR, error)
	}
}

const limits = query<object, Record<string, string>>((knex) =>
	knex.raw(
		"select current_setting('statement_timeout') as statement_timeout, current_setting('lock_timeout') as lock_timeout, " +
			"current_setting('idle_in_transaction_session_timeout') as idle_in_transaction_session_timeout",
	),
)

/** Through a pooler they are the role's: a process that set them for its connections would set them for others. */
async function noteLimits(db: Database, log: Logger): Promise<void> {
	const missing = Object.entries((await db.get(limits, {})) ?? {}).flatMap(([name, value]) => (value === '0' ? name : []))
	if (missing.length > 0) log.warn(`DATABASE_POOLER: a query may hang: set ${missing.join(', ')} on the role, with alter role`)
}
