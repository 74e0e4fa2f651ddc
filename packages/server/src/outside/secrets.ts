// The server's own secret, which is never in the database: it comes from ENCRYPTION_KEYS, or the server makes it once and keeps
// it in DATA_DIR. So a copy of the database alone opens no client link and no sealed text.
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { ConfigError } from '../base/errors.ts'
import { makePrivateFolder } from '../base/private-files.ts'
import { keyFile } from '../db/files/data-folder.ts'

export interface Secrets {
	/**
	 * Tokens of 192 bits, base64url, that only this server can make, always the same for a purpose and text. One for each key,
	 * the newest first, so that the server still recognises a token that it made with an older key.
	 */
	tokens(purpose: string, text: string): readonly string[]
	/** Encrypts text, so that only this server can read it. */
	seal(purpose: string, text: string): string
	/** The text that was sealed; undefined when its key is gone. */
	unseal(purpose: string, sealed: string): string | undefined
}

export interface SecretSettings {
	readonly ENCRYPTION_KEYS: string
	readonly DATA_DIR: string
}

export function openSecrets({ ENCRYPTION_KEYS, DATA_DIR }: SecretSettings): Secrets {
	const file = keyFile(DATA_DIR)
	const keys = ENCRYPTION_KEYS ? parseKeys('ENCRYPTION_KEYS', ENCRYPTION_KEYS) : parseKeys(file, storedKeys(file))
	const known = new Map<string, readonly Buffer[]>()
	/** A key for each purpose, so that a token for one purpose is worthless for another. */
	const derived = (purpose: string) => {
		const found = known.get(purpose) ?? keys.map((key) => Buffer.from(hkdfSync('sha256', key, '', purpose, 32)))
		known.set(purpose, found)
		return found
	}
	return {
		tokens: (purpose, text) =>
			derived(purpose).map((key) => createHmac('sha256', key).update(text).digest().subarray(0, 24).toString('base64url')),
		seal: (purpose, text) => sealWith(derived(purpose)[0] as Buffer, text),
		unseal: (purpose, sealed) =>
			derived(purpose)
				.map((key) => openWith(key, sealed))
				.find((text) => text !== undefined),
	}
}

/** What the test processor signs and verifies its payments with. */
export const testPaymentSecret = (secrets: Secrets) => secrets.tokens('test payments', '')[0] as string

/** AES-256-GCM: nonce, tag and text. */
function sealWith(key: Buffer, text: string): string {
	const nonce = randomBytes(12)
	const cipher = createCipheriv('aes-256-gcm', key, nonce)
	const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
	return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')
}

function openWith(key: Buffer, sealed: string): string | undefined {
	const bytes = Buffer.from(sealed, 'base64url')
	const cipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12)).setAuthTag(bytes.subarray(12, 28))
	try {
		return cipher.update(bytes.subarray(28), undefined, 'utf8') + cipher.final('utf8')
	} catch {
		return undefined
	}
}

/** Parses `<base64 of 32 bytes>`, several with commas between them, the newest last, and returns the newest first. */
function parseKeys(source: string, text: string): Buffer[] {
	const keys = text.split(',').map((key) => Buffer.from(key.trim(), 'base64'))
	if (keys.some(({ length }) => length !== 32))
		throw new ConfigError(`${source}: each key must be 32 bytes as base64 (openssl rand -base64 32)`)
	return keys.reverse()
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
