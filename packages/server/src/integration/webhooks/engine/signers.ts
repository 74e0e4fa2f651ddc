// The keys that sign an endpoint's webhooks and the headers that it wants, unsealed once and kept.
import type { KeyObject } from 'node:crypto'
import { type SealedColumn, sealedColumns } from '../../../platform/outside/sealed-columns.ts'
import type { Secrets } from '../../../platform/outside/secrets.ts'
import { openHeaders } from '../endpoint-store.ts'
import { signingKey } from '../signature.ts'
import type { Target } from './claim-store.ts'

const maxKeys = 1_000
const noHeaders: Record<string, string> = {}

const { webhookSecret, previousWebhookSecret } = sealedColumns

const rowOf = ({ organizationId, endpointId: id }: Target) => ({ organizationId, id })

/** A sealed value opens in its own endpoint alone, so what is kept of it is the endpoint's too. */
const nameOf = ({ endpointId }: Target, sealed: string) => `${endpointId} ${sealed}`

export class Signers {
	readonly #secrets: Secrets
	readonly #keys = new Map<string, KeyObject>()
	readonly #headers = new Map<string, Record<string, string>>()

	constructor(secrets: Secrets) {
		this.#secrets = secrets
	}

	/** The key of the new secret, then that of the old one while it is valid. None when the server lost the sealing key. */
	keysOf(target: Target, now: number): KeyObject[] {
		const { secret, previousSecret, previousSecretExpiresAt } = target
		const old = previousSecret !== null && (previousSecretExpiresAt ?? 0) > now ? previousSecret : undefined
		const keys = [this.#keyOf(webhookSecret, target, secret), old && this.#keyOf(previousWebhookSecret, target, old)]
		return keys.filter((key) => typeof key === 'object')
	}

	/** The headers of its requests; undefined when the server lost the sealing key. */
	headersOf(target: Target): Record<string, string> | undefined {
		const { headers: sealed } = target
		if (sealed === null) return noHeaders
		const name = nameOf(target, sealed)
		const known = this.#headers.get(name)
		if (known) return known
		const opened = openHeaders(this.#secrets, rowOf(target), sealed)
		if (opened === undefined) return undefined
		const headers = Object.fromEntries(opened.map(({ name: header, value }) => [header, value]))
		if (this.#headers.size >= maxKeys) this.#headers.clear()
		this.#headers.set(name, headers)
		return headers
	}

	#keyOf(column: SealedColumn<'organizationId' | 'id'>, target: Target, sealed: string): KeyObject | undefined {
		const name = nameOf(target, sealed)
		const known = this.#keys.get(name)
		if (known) return known
		const secret = this.#secrets.unseal(column, rowOf(target), sealed)
		if (secret === undefined) return undefined
		const key = signingKey(secret)
		if (this.#keys.size >= maxKeys) this.#keys.clear()
		this.#keys.set(name, key)
		return key
	}
}
