// What the server seals: text that the database holds and that only the server's own keys open.
import { createCipheriv, createDecipheriv, createHmac, type KeyObject, randomBytes } from 'node:crypto'
import { type EncryptionKey, readKeys, type SecretSettings } from './encryption-keys.ts'
import type { SealedColumn } from './sealed-columns.ts'

/** The row of a sealed value: the values of its table's primary key, and perhaps others. */
export type RowOf<Key extends string> = Readonly<Record<Key, string>>

export interface Opened {
	readonly text: string
	/** The key that the value is held by. */
	readonly keyId: string
}

export interface Secrets {
	/** The ids of the keys; the first seals. */
	readonly keyIds: readonly [string, ...string[]]
	/**
	 * Tokens of 192 bits, base64url, that only this server can make, always the same for a key, a purpose and a text: one for each
	 * key, by its id.
	 */
	tokens(purpose: string, text: string): ReadonlyMap<string, string>
	/** Encrypts text for one column of one row: copied anywhere else it does not open. */
	seal<Key extends string>(column: SealedColumn<Key>, row: RowOf<Key>, text: string): string
	/** The text that was sealed; undefined when its key is gone, or when it is another row's. */
	unseal<Key extends string>(column: SealedColumn<Key>, row: RowOf<Key>, sealed: string): string | undefined
	/** As `unseal`, with the key. */
	open<Key extends string>(column: SealedColumn<Key>, row: RowOf<Key>, sealed: string): Opened | undefined
}

export function openSecrets(settings: SecretSettings): Secrets {
	const keys = readKeys(settings)
	const [first, ...others] = keys
	const open: Secrets['open'] = (column, row, sealed) => {
		const id = keyIdOf(sealed)
		if (id === undefined) return openOld(keys, column.purpose, sealed)
		const key = keys.find((known) => known.id === id)
		const parts = partsOf(Buffer.from(sealed.slice(id.length + 1), 'base64url'))
		const text = key && decrypt(key.forPurpose(column.purpose), parts, placeOf(column, row))
		return text === undefined ? undefined : { text, keyId: id }
	}
	return {
		keyIds: [first.id, ...others.map(({ id }) => id)],
		tokens: (purpose, text) => new Map(keys.map((key) => [key.id, tokenOf(key.forPurpose(purpose), text)])),
		seal: (column, row, text) => `${first.id}.${encrypt(first.forPurpose(column.purpose), placeOf(column, row), text)}`,
		unseal: (column, row, sealed) => open(column, row, sealed)?.text,
		open,
	}
}

/** What the test processor signs and verifies its payments with. */
export const testPaymentSecret = (secrets: Secrets) => secrets.tokens('test payments', '').get(secrets.keyIds[0]) as string

/** The key that a sealed value names; undefined in the form of before, which had neither a key's id nor a place. */
export const keyIdOf = (sealed: string): string | undefined => /^([0-9a-f]{8})\./.exec(sealed)?.[1]

const nonceBytes = 12
const tagBytes = 16

const tokenOf = (key: KeyObject, text: string) =>
	createHmac('sha256', key).update(text).digest().subarray(0, 24).toString('base64url')

/** What a value is bound to, besides its key. */
const placeOf = <Key extends string>({ table, key, column }: SealedColumn<Key>, row: RowOf<Key>) =>
	[table, ...key.map((name) => row[name]), column].join('|')

/** AES-256-GCM: nonce, encrypted text, tag. */
function encrypt(key: KeyObject, place: string, text: string): string {
	const nonce = randomBytes(nonceBytes)
	const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(place))
	return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64url')
}

interface Parts {
	readonly nonce: Buffer
	readonly text: Buffer
	readonly tag: Buffer
}

function partsOf(bytes: Buffer): Parts {
	const end = Math.max(nonceBytes, bytes.length - tagBytes)
	return { nonce: bytes.subarray(0, nonceBytes), text: bytes.subarray(nonceBytes, end), tag: bytes.subarray(end) }
}

/** Before, the tag stood before the text. */
function oldPartsOf(bytes: Buffer): Parts {
	const end = nonceBytes + tagBytes
	return { nonce: bytes.subarray(0, nonceBytes), text: bytes.subarray(end), tag: bytes.subarray(nonceBytes, end) }
}

function decrypt(key: KeyObject, { nonce, text, tag }: Parts, place?: string): string | undefined {
	try {
		const cipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes }).setAuthTag(tag)
		if (place !== undefined) cipher.setAAD(Buffer.from(place))
		return cipher.update(text, undefined, 'utf8') + cipher.final('utf8')
	} catch {
		return undefined
	}
}

/** Before, each key had to be tried. */
function openOld(keys: readonly EncryptionKey[], purpose: string, sealed: string): Opened | undefined {
	const parts = oldPartsOf(Buffer.from(sealed, 'base64url'))
	for (const key of keys) {
		const text = decrypt(key.forPurpose(purpose), parts)
		if (text !== undefined) return { text, keyId: key.id }
	}
	return undefined
}
