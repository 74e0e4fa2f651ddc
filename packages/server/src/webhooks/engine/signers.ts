// The keys that sign an endpoint's webhooks and the headers that it wants, unsealed once and kept.
import type { KeyObject } from 'node:crypto'
import type { Secrets } from '../../outside/secrets.ts'
import { openHeaders, openSecret } from '../endpoint-store.ts'
import { signingKey } from '../signature.ts'
import type { Target } from './queue-store.ts'

const maxKeys = 1_000
const noHeaders: Record<string, string> = {}

export class Signers {
	readonly #secrets: Secrets
	readonly #keys = new Map<string, KeyObject>()
	readonly #headers = new Map<string, Record<string, string>>()

	constructor(secrets: Secrets) {
		this.#secrets = secrets
	}

	/** The key of the new secret, then that of the old one while it is valid. None when the server lost the sealing key. */
	keysOf({ secret, previousSecret, previousSecretExpiresAt }: Target, now: number): KeyObject[] {
		const sealed = previousSecret !== null && (previousSecretExpiresAt ?? 0) > now ? [secret, previousSecret] : [secret]
		return sealed.flatMap((text) => this.#keyOf(text) ?? [])
	}

	/** The headers of its requests; undefined when the server lost the sealing key. */
	headersOf({ headers: sealed }: Target): Record<string, string> | undefined {
		if (sealed === null) return noHeaders
		const known = this.#headers.get(sealed)
		if (known) return known
		const opened = openHeaders(this.#secrets, sealed)
		if (opened === undefined) return undefined
		const headers = Object.fromEntries(opened.map(({ name, value }) => [name, value]))
		if (this.#headers.size >= maxKeys) this.#headers.clear()
		this.#headers.set(sealed, headers)
		return headers
	}

	#keyOf(sealed: string): KeyObject | undefined {
		const known = this.#keys.get(sealed)
		if (known) return known
		const secret = openSecret(this.#secrets, sealed)
		if (secret === undefined) return undefined
		const key = signingKey(secret)
		if (this.#keys.size >= maxKeys) this.#keys.clear()
		this.#keys.set(sealed, key)
		return key
	}
}
