// Signing by Standard Webhooks (https://www.standardwebhooks.com): HMAC-SHA256 of `id.timestamp.body`. Ours, because the
// package computes it in JavaScript, at several times the cost.
import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'

const prefix = 'whsec_'

/** A new secret: `whsec_` and base64 of 32 bytes. */
export const newSecret = (): string => prefix + randomBytes(32).toString('base64')

/** The end of a secret, to tell it by. */
export const hintOf = (secret: string): string => secret.slice(-5)

/** What signs with a secret: a key object, since a buffer would be made one for each signature, at four times its cost. */
export const signingKey = (secret: string): KeyObject => createSecretKey(secret.slice(prefix.length), 'base64')

/**
 * The headers of a request at a time in Unix milliseconds. `id` is the event's, the same whenever it is tried again. Each
 * key signs, so that a receiver may know the one or the other.
 */
export function signedHeaders(keys: readonly KeyObject[], id: string, now: number, body: string): Record<string, string> {
	const timestamp = Math.floor(now / 1000)
	const signatures = keys.map((key) => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`)
	return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': signatures.join(' ') }
}
