// The server's own keys, which are never in the database: they come from ENCRYPTION_KEYS, or the server makes one once and keeps
// it in DATA_DIR. So a copy of the database alone opens no sealed text.
import { createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto'
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { ConfigError } from '../base/errors.ts'
import { makePrivateFolder } from '../base/private-files.ts'
import { keyFile } from '../db/files/data-folder.ts'

export interface SecretSettings {
	readonly ENCRYPTION_KEYS: string
	readonly DATA_DIR: string
}

export interface EncryptionKey {
	/** Tells keys apart, and says nothing of the key. */
	readonly id: string
	/**
	 * A key for each purpose, so that what is sealed for one purpose is worthless for another. As an object, which an HMAC costs 2 µs with, and
	 * 11 with bytes.
	 */
	forPurpose(purpose: string): KeyObject
}

/** The keys, of which the first seals. */
export function readKeys({ ENCRYPTION_KEYS, DATA_DIR }: SecretSettings): readonly [EncryptionKey, ...EncryptionKey[]] {
	const file = keyFile(DATA_DIR)
	return ENCRYPTION_KEYS ? parseKeys('ENCRYPTION_KEYS', ENCRYPTION_KEYS) : parseKeys(file, storedKeys(file))
}

/** Parses `<base64 of 32 bytes>`, several with commas between them. */
function parseKeys(source: string, text: string): readonly [EncryptionKey, ...EncryptionKey[]] {
	const bytes = text.split(',').map((key) => Buffer.from(key.trim(), 'base64'))
	if (bytes.some(({ length }) => length !== 32))
		throw new ConfigError(`${source}: each key must be 32 bytes as base64 (openssl rand -base64 32)`)
	const [first, ...others] = bytes.map(keyOf)
	const ids = new Set([first, ...others].map((key) => key?.id))
	if (!first || ids.size < bytes.length) throw new ConfigError(`${source}: a key stands there twice`)
	return [first, ...others]
}

function keyOf(bytes: Buffer): EncryptionKey {
	const derived = new Map<string, KeyObject>()
	const derive = (purpose: string, size: number) => Buffer.from(hkdfSync('sha256', bytes, '', purpose, size))
	return {
		id: derive('key id', 4).toString('hex'),
		forPurpose(purpose) {
			const key = derived.get(purpose) ?? createSecretKey(derive(purpose, 32))
			derived.set(purpose, key)
			return key
		},
	}
}

/** The text of the key file in DATA_DIR, which this makes when there is none. */
function storedKeys(file: string): string {
	try {
		if (!existsSync(file)) makeKey(file)
		return readFileSync(file, 'utf8')
	} catch (error) {
		throw new ConfigError(`DATA_DIR: ${file} cannot be used: ${(error as Error).message}; or set ENCRYPTION_KEYS`)
	}
}

/** Makes the file atomically: when several processes need a key at once, all use the one that the first makes. */
function makeKey(file: string): void {
	const draft = `${file}.${randomBytes(6).toString('hex')}`
	makePrivateFolder(dirname(file))
	try {
		writeFileSync(draft, randomBytes(32).toString('base64'), { mode: 0o600, flush: true })
		linkSync(draft, file)
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
	} finally {
		rmSync(draft, { force: true })
	}
}
