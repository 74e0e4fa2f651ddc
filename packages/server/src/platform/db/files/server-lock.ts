// One server at a time on one SQLite database: two would each take the other's webhook calls and count limits apart.
import { join, resolve } from 'node:path'
import Sqlite from 'better-sqlite3'
import { ConfigError } from '../../base/errors.ts'
import { makePrivateFolder } from '../../base/private-files.ts'
import { unusableFolder } from './data-folder.ts'

export interface ServerLock {
	release(): void
}

/**
 * Holds DATA_DIR for one server, or for a restore; commands beside a server do without. Throws a ConfigError when another
 * process holds it. It is the system's lock on an empty SQLite file, so it ends with the process, however that ends.
 */
export function lockForServer(dataDir: string): ServerLock {
	let lock: Sqlite.Database | undefined
	try {
		makePrivateFolder(resolve(dataDir))
		lock = new Sqlite(join(resolve(dataDir), 'server.lock'), { timeout: 0 })
		// A killed process would leave a journal on disk behind.
		lock.pragma('journal_mode = MEMORY')
		lock.exec('begin exclusive')
	} catch (error) {
		lock?.close()
		if ((error as { code?: string }).code === 'SQLITE_BUSY')
			throw new ConfigError(
				`DATA_DIR=${dataDir}: a server is running on ${resolve(dataDir)}. Stop it first; several servers need PostgreSQL.`,
			)
		throw unusableFolder(dataDir, error)
	}
	return { release: () => lock.close() }
}
