// The form of an API key: `rmt_`, 32 random base62 characters, 6 of CRC-32. By the checksum the server rejects a mistyped key,
// and a scanner recognises a leaked one, without asking the database. The server stores a key's SHA-256 and last four only.
import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { customAlphabet } from 'nanoid'
import type { KeyScope, ResourceKind } from '../../generated/contract.ts'
import { keyScopes, scopeOfKind } from '../../generated/tables.ts'

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const secret = customAlphabet(base62, 32)
const form = /^rmt_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/

export type Scope = KeyScope
export const scopes: readonly Scope[] = keyScopes

export interface NewKey {
	/** The whole key, which the server shows once and never stores. */
	readonly key: string
	readonly hash: string
	readonly lastFour: string
}

export function newKey(): NewKey {
	const random = secret()
	const key = `rmt_${random}${checksum(random)}`
	return { key, hash: hashKey(key), lastFour: key.slice(-4) }
}

export function hashKey(key: string): string {
	return hash('sha256', key, 'base64url')
}

export function isWellFormedKey(key: string): boolean {
	const [, random, sum] = form.exec(key) ?? []
	return random !== undefined && checksum(random) === sum
}

function checksum(text: string): string {
	let rest = crc32(text)
	let digits = ''
	for (let place = 0; place < 6; place++) {
		digits = base62[rest % 62] + digits
		rest = Math.floor(rest / 62)
	}
	return digits
}

/** The kinds of records to which a key or an endpoint is limited; null: all. */
export type Reach = readonly ResourceKind[] | null

/** Whether a reach contains another. */
export const covers = (reach: Reach, other: Reach): boolean =>
	reach === null || (other?.every((kind) => reach.includes(kind)) ?? false)

/** The scopes of a key that do something: of the invoicing API those about a kind that the key reaches. */
export function scopesWithin(scopes: readonly string[], reach: Reach): readonly string[] {
	if (reach === null) return scopes
	const reached = reach.map((kind) => scopeOfKind[kind])
	return scopes.filter((scope) => !scope.includes(':') || reached.some((name) => scope.startsWith(`${name}:`)))
}

/** Scopes of the integration API: each contains the one before. */
const levels = ['read', 'write', 'admin'] as const

/** Whether a key has the scopes that an operation requires. The scopes of the two APIs do not grant each other. */
export const allows = (granted: ReadonlySet<string>, required: readonly string[]): boolean =>
	required.every((scope) => granting.get(scope)?.some((sufficient) => granted.has(sufficient)))

/** Whether a key has what an operation requires: all of its scopes, or one of them where one is enough. */
export const mayCall = (granted: ReadonlySet<string>, { scopes, anyScope }: { scopes: readonly string[]; anyScope?: boolean }) =>
	anyScope ? scopes.some((scope) => allows(granted, [scope])) : allows(granted, scopes)

/** The scopes that contain each scope, itself included. */
const granting: ReadonlyMap<string, readonly string[]> = new Map(
	scopes.map((scope) => {
		const level = levels.indexOf(scope as (typeof levels)[number])
		if (level >= 0) return [scope, levels.slice(level)]
		return [scope, scope.endsWith(':read') ? [scope, scope.replace(/:read$/, ':write')] : [scope]]
	}),
)
