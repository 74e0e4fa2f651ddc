// Makes a backup: a folder with the database, the encryption key and a manifest. It runs beside a server, which does not wait.
import { randomBytes } from 'node:crypto'
import { closeSync, copyFileSync, existsSync, fsyncSync, openSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import Sqlite from 'better-sqlite3'
import { ConfigError } from '../../base/errors.ts'
import { makePrivateFolder } from '../../base/private-files.ts'
import { databaseFile, keyFile } from './data-folder.ts'
import { type Manifest, manifestName, sha256 } from './manifest.ts'

export interface BackupSource {
	readonly DATA_DIR: string
	readonly ENCRYPTION_KEYS: string
	/** The version of Remit. */
	readonly remit: string
	/** The last migration of a PostgreSQL database, which its own tools copy; absent: SQLite, in DATA_DIR. */
	readonly postgres?: { readonly migration: number }
	readonly now: number
}

/**
 * Writes the backup beside the target and renames it at the end, so that a folder of that name is always a whole backup. Throws
 * a ConfigError when the target is in use or cannot be written.
 */
export async function writeBackup(target: string, source: BackupSource): Promise<Manifest> {
	const folder = resolve(target)
	if (existsSync(folder) && readdirSync(folder).length > 0) throw new ConfigError(`${folder}: is not empty`)
	const unfinished = join(dirname(folder), `.${basename(folder)}.${randomBytes(6).toString('hex')}`)
	try {
		makePrivateFolder(unfinished)
		const manifest = await fill(unfinished, source)
		renameSync(unfinished, folder)
		sync(dirname(folder))
		return manifest
	} catch (error) {
		rmSync(unfinished, { recursive: true, force: true })
		throw error instanceof ConfigError ? error : unwritable(folder, error)
	}
}

async function fill(folder: string, { DATA_DIR, ENCRYPTION_KEYS, remit, postgres, now }: BackupSource): Promise<Manifest> {
	const files: Record<string, string> = {}
	const add = async (name: string) => {
		sync(join(folder, name))
		files[name] = await sha256(join(folder, name))
	}
	const migration = postgres?.migration ?? copyDatabase(DATA_DIR, join(folder, 'remit.db'))
	if (!postgres) await add('remit.db')
	// After the database: a key that it needs was there before what the key sealed.
	const encryptionKey = ENCRYPTION_KEYS ? 'setting' : existsSync(keyFile(DATA_DIR)) ? 'file' : 'none'
	if (encryptionKey === 'file') {
		copyFileSync(keyFile(DATA_DIR), join(folder, 'encryption-key'))
		await add('encryption-key')
	}
	const createdAt = new Date(now).toISOString()
	const manifest: Manifest = { remit, migration, createdAt, database: postgres ? 'postgres' : 'sqlite', encryptionKey, files }
	writeFileSync(join(folder, manifestName), `${JSON.stringify(manifest, null, '\t')}\n`)
	sync(join(folder, manifestName))
	sync(folder)
	return manifest
}

/**
 * Copies the database as of one commit, with what is still in its log. Not `sqlite3_backup`, which begins again whenever another
 * process commits. Returns the number of its last migration.
 */
function copyDatabase(dataDir: string, copy: string): number {
	const file = databaseFile(dataDir)
	if (!existsSync(file)) throw new ConfigError(`DATA_DIR=${dataDir}: there is no database at ${file}`)
	// SQLite fills an empty file, whose rights it keeps.
	writeFileSync(copy, '', { mode: 0o600 })
	const source = new Sqlite(file, { timeout: 10_000 })
	try {
		source.prepare('vacuum into ?').run(copy)
	} finally {
		source.close()
	}
	const copied = new Sqlite(copy, { readonly: true })
	try {
		const damage = copied.pragma('quick_check(1)', { simple: true })
		if (damage !== 'ok') throw new ConfigError(`${file}: is damaged, so there is no backup of it: ${damage}`)
		return copied.prepare('select max(number) from migrations').pluck().get() as number
	} finally {
		copied.close()
	}
}

/** Waits until the file or folder is on disk. */
export function sync(path: string): void {
	const descriptor = openSync(path, 'r')
	try {
		fsyncSync(descriptor)
	} finally {
		closeSync(descriptor)
	}
}

function unwritable(folder: string, error: unknown): unknown {
	const { code = '', message } = error as { code?: string; message: string }
	return /^(E[A-Z]+$|SQLITE_)/.test(code) ? new ConfigError(`${folder}: the backup failed: ${message}`, { cause: error }) : error
}
