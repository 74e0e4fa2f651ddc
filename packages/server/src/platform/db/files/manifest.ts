// What a backup says of itself, so that a restore can check it: `manifest.json` in its folder.
import { createHash } from 'node:crypto'
import { createReadStream, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { migrations } from '../../../../migrations/index.ts'
import { ConfigError } from '../../base/errors.ts'

export interface Manifest {
	/** The version of Remit that made the backup. */
	readonly remit: string
	/** The number of the database's last migration. */
	readonly migration: number
	/** RFC 3339. */
	readonly createdAt: string
	readonly database: 'sqlite' | 'postgres'
	/** `file`: it is in the backup; `setting`: it was in ENCRYPTION_KEYS; `none`: there was none yet. */
	readonly encryptionKey: 'file' | 'setting' | 'none'
	/** The SHA-256 of each file, in hex. */
	readonly files: Readonly<Record<string, string>>
}

export const manifestName = 'manifest.json'

export async function sha256(file: string): Promise<string> {
	const hash = createHash('sha256')
	await pipeline(createReadStream(file), hash)
	return hash.digest('hex')
}

/** Reads a backup's manifest and checks its files. Throws a ConfigError when the backup is incomplete, changed or too new. */
export async function checkBackup(folder: string): Promise<Manifest> {
	const manifest = readManifest(folder)
	if (manifest.migration > migrations.length) {
		throw new ConfigError(
			`${folder}: the backup is at migration ${manifest.migration}, this version of Remit knows ${migrations.length}: restore it with Remit ${manifest.remit} or newer.`,
		)
	}
	for (const [name, expected] of Object.entries(manifest.files)) {
		const found = await sha256(join(folder, name)).catch((error: Error) => error.message)
		if (found !== expected) throw new ConfigError(`${folder}: ${name} is not as it was backed up (SHA-256 ${expected}): ${found}`)
	}
	return manifest
}

function readManifest(folder: string): Manifest {
	try {
		const manifest = JSON.parse(readFileSync(join(folder, manifestName), 'utf8')) as Manifest
		if (!Number.isInteger(manifest.migration) || typeof manifest.files !== 'object') throw new Error('it is not complete')
		return manifest
	} catch (error) {
		throw new ConfigError(`${folder}: is not a backup, as its ${manifestName} cannot be read: ${(error as Error).message}`)
	}
}
