// The keys that sign an endpoint's webhooks, unsealed once and kept.
import type { KeyObject } from 'node:crypto'
import type { Secrets } from '../../outside/secrets.ts'
import { openSecret } from '../endpoint-store.ts'
import { signingKey } from '../signature.ts'
import type { Target } from './queue-store.ts'

const maxKeys = 1_000

export class Signers {
	readonly #secrets: Secrets
	readonly #keys = new Map<string, KeyObject>()

	constructor(secrets: Secrets) {
		this.#secrets = secrets
	}

	/** The key of the new secret, then that of the old one while it is valid. None when the server lost the sealing key. */
	keysOf({ secret, previousSecret, previousSecretExpiresAt }: Target, now: number): KeyObject[] {
		const sealed = previousSecret !== null && (previousSecretExpiresAt ?? 0) > now ? [secret, previousSecret] : [secret]
		return sealed.flatMap((text) => this.#keyOf(text) ?? [])
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
