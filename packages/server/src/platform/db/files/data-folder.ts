// DATA_DIR on disk: which files it has, who may read them, and what to say when it cannot be used.
import { join, resolve } from 'node:path'
import { ConfigError } from '../../base/errors.ts'
import { isOpenToOthers, makePrivate } from '../../base/private-files.ts'

export const databaseFile = (dataDir: string) => join(resolve(dataDir), 'remit.db')

/** The database, and what SQLite keeps beside it while it is open: the log of changes, and the index of that log. */
export const databaseFiles = (dataDir: string) => ['', '-wal', '-shm'].map((end) => databaseFile(dataDir) + end)

export const keyFile = (dataDir: string) => join(resolve(dataDir), 'encryption-key')

/**
 * Takes the rights of others away from the files of an older installation. The folder itself may hold more than Remit's files,
 * so it stays as it is. Returns a sentence for each place that others can still read.
 */
export function tightenDataFolder(dataDir: string): string[] {
	const folder = resolve(dataDir)
	const own = [...databaseFiles(dataDir), keyFile(dataDir), join(folder, 'mail')]
	const warnings = own.filter((path) => !makePrivate(path)).map((path) => `others can read ${path}: chmod go= ${path}`)
	if (isOpenToOthers(folder)) warnings.push(`others can enter ${folder}: chmod 700 ${folder}`)
	return warnings
}

/** The line for the operator when the disk under DATA_DIR is missing, full or read-only, or holds no database; else the error. */
export function unusableFolder(dataDir: string, error: unknown): unknown {
	const { code = '', message } = error as { code?: string; message: string }
	if (!unusable.some((known) => code.startsWith(known))) return error
	// Knex puts the statement in front of the reason.
	const reason = message.replace(/^.* - /s, '')
	return new ConfigError(`DATA_DIR=${dataDir}: ${resolve(dataDir)} cannot be used: ${reason}`, { cause: error })
}

const unusable = [
	...['EACCES', 'EDQUOT', 'EEXIST', 'EIO', 'ENAMETOOLONG', 'ENOENT', 'ENOSPC', 'ENOTDIR', 'EPERM', 'EROFS'],
	...['SQLITE_CANTOPEN', 'SQLITE_CORRUPT', 'SQLITE_FULL', 'SQLITE_IOERR', 'SQLITE_NOTADB', 'SQLITE_READONLY'],
]
