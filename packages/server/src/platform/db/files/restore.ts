// Puts a backup into DATA_DIR, and keeps what it replaces.
import { copyFileSync, existsSync, readFileSync, renameSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import Sqlite from 'better-sqlite3'
import { ConfigError } from '../../base/errors.ts'
import { makePrivateFolder } from '../../base/private-files.ts'
import { sync } from './backup.ts'
import { databaseFile, databaseFiles, keyFile, unusableFolder } from './data-folder.ts'
import type { Manifest } from './manifest.ts'
import { lockForServer } from './server-lock.ts'

export interface RestoreTarget {
	readonly DATA_DIR: string
	/** Whether records, or the key of a PostgreSQL database, may be replaced. */
	readonly force: boolean
	readonly now: number
}

/**
 * Copies the files of a checked backup. Throws a ConfigError when a server runs on DATA_DIR, and when something would be
 * replaced without `force`. Returns the folder to which it moved what was there; undefined when nothing was.
 */
export function restoreBackup(folder: string, manifest: Manifest, { DATA_DIR, force, now }: RestoreTarget): string | undefined {
	const lock = lockForServer(DATA_DIR)
	const inDataDir = (name: string) => join(resolve(DATA_DIR), name)
	try {
		if (!force) requireReplaceable(folder, manifest, DATA_DIR)
		const names = Object.keys(manifest.files)
		// All that can fail for want of space comes first; what follows are renames.
		for (const name of names) {
			copyFileSync(join(folder, name), inDataDir(`${name}.restored`))
			sync(inDataDir(`${name}.restored`))
		}
		const replaced = [...(names.includes('remit.db') ? databaseFiles(DATA_DIR) : []), keyFile(DATA_DIR)].filter(
			(file) => existsSync(file) && (file !== keyFile(DATA_DIR) || names.includes('encryption-key')),
		)
		const kept = inDataDir(`replaced-${new Date(now).toISOString().replaceAll(':', '-')}`)
		if (replaced.length > 0) makePrivateFolder(kept)
		for (const file of replaced) renameSync(file, join(kept, basename(file)))
		// The key first: no server may find the database without it.
		for (const name of names.toSorted()) renameSync(inDataDir(`${name}.restored`), inDataDir(name))
		sync(resolve(DATA_DIR))
		return replaced.length > 0 ? kept : undefined
	} catch (error) {
		throw unusableFolder(DATA_DIR, error)
	} finally {
		lock.release()
	}
}

/** The database and key of a server's first start may be replaced: it made them by itself, and they hold nothing. */
function requireReplaceable(folder: string, { database }: Manifest, dataDir: string): void {
	const [file, key] = [databaseFile(dataDir), keyFile(dataDir)]
	if (database === 'sqlite' && existsSync(file) && hasOrganizations(file)) {
		throw new ConfigError(
			`DATA_DIR=${dataDir}: ${file} has records. Restore into another DATA_DIR, or replace them with --force.`,
		)
	}
	const backedUp = join(folder, 'encryption-key')
	if (database === 'postgres' && existsSync(key) && existsSync(backedUp) && !readFileSync(key).equals(readFileSync(backedUp))) {
		throw new ConfigError(`DATA_DIR=${dataDir}: ${key} is another key than the backup's. Replace it with --force.`)
	}
}

function hasOrganizations(file: string): boolean {
	const found = new Sqlite(file)
	try {
		const isMigrated = found.prepare("select 1 from sqlite_schema where name = 'organizations'").get() !== undefined
		return isMigrated && found.prepare('select 1 from organizations limit 1').get() !== undefined
	} finally {
		found.close()
	}
}
