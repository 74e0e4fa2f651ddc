// Signatures by Standard Webhooks (https://www.standardwebhooks.com): HMAC-SHA256 of `id.timestamp.body`. Not by its package,
// which computes the HMAC in JavaScript, at several times the cost.
import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'

const prefix = 'whsec_'

/** A new secret: `whsec_` and base64 of 32 bytes. */
export const newSecret = (): string => prefix + randomBytes(32).toString('base64')

/** The end of a secret, by which its owner recognizes it. */
export const hintOf = (secret: string): string => secret.slice(-5)

/** The key object of a secret: `createHmac` would convert a buffer for each signature, which then costs four times as much. */
export const signingKey = (secret: string): KeyObject => createSecretKey(secret.slice(prefix.length), 'base64')

/**
 * The headers of a request; `now` is in Unix milliseconds. `id` is the event's id, the same in every attempt. Each key signs,
 * so that a receiver needs to know only one of them.
 */
export function signedHeaders(
	keys: readonly KeyObject[],
	id: string,
	now: number,
	body: string | Uint8Array,
): Record<string, string> {
	const timestamp = Math.floor(now / 1000)
	const signed = (key: KeyObject) => createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')
	const signatures = keys.map((key) => `v1,${signed(key)}`)
	return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': signatures.join(' ') }
}
