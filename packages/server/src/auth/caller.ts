// Identifies the caller of a request. A process caches a key and its organization's settings for two seconds, so a key that
// another process revokes, such as the CLI, may work for two seconds more.
import type { IncomingHttpHeaders } from 'node:http'
import { ApiError } from '../base/errors.ts'
import type { Database } from '../db/database.ts'
import type { OrganizationSettings } from '../generated/contract.ts'
import { hashKey, isWellFormedKey, type Reach, scopesWithin } from './keys.ts'
import { findKeyByHash, updateLastUsed } from './store.ts'

export interface Caller {
	readonly organizationId: string
	readonly keyId: string
	/** The scopes that do something: those about kinds that it does not reach are left out. */
	readonly scopes: ReadonlySet<string>
	/** The kinds of records to which its key is limited. */
	readonly reach: Reach
	/** When its key stops working; null: never. */
	readonly expiresAt: number | null
	/** The organization's settings, at most two seconds old. */
	readonly organization: OrganizationSettings
}

interface Known {
	readonly caller: Caller
	/** When it is looked up again, by the monotonic clock. */
	readonly until: number
}

export const keyCacheMs = 2_000
const maxCachedKeys = 10_000

export class Callers {
	readonly #db: Database
	readonly #now: () => number
	readonly #monotonic: () => number
	readonly #known = new Map<string, Known>()
	/** The hashes of keys that have worked in this process: they are no guesses. */
	readonly #worked = new Set<string>()
	readonly #used = new Map<string, { organizationId: string; keyId: string; at: number }>()
	/** Counts calls of `forget`: a look-up that began before one is not cached after it. */
	#changes = 0

	/** `now` is the time of day, which may be set back; a cached key ages by `monotonic`. */
	constructor(db: Database, now: () => number, monotonic = () => performance.now()) {
		this.#db = db
		this.#now = now
		this.#monotonic = monotonic
	}

	/**
	 * The caller of a request, by its `Authorization` or `X-API-Key` header; throws 401 without a valid key. Before a key that has
	 * not worked in this process costs a query, `mayGuess` can throw.
	 */
	async identify({ authorization, 'x-api-key': apiKey }: IncomingHttpHeaders, mayGuess: () => Promise<void>): Promise<Caller> {
		const key = sentKey({ authorization, 'x-api-key': apiKey })
		if (key === undefined) {
			throw unauthorized('missing_credentials', 'Send an API key as `Authorization: Bearer rmt_…`.')
		}
		if (apiKey !== undefined && apiKey !== key) {
			throw new ApiError('ambiguous_credentials', 'Authorization and X-API-Key hold different keys: send one of them.')
		}
		const hash = isWellFormedKey(key) ? hashKey(key) : undefined
		if (hash === undefined || !this.#worked.has(hash)) await mayGuess()
		const caller = hash !== undefined && (await this.#find(hash))
		if (!caller) throw unauthorized('invalid_credentials', 'The API key is unknown, expired or revoked.')
		return caller
	}

	async #find(hash: string): Promise<Caller | undefined> {
		let known = this.#known.get(hash)
		if (!known || known.until <= this.#monotonic()) {
			const found = await this.#lookUp(hash)
			if (!found) return undefined
			known = found
		}
		const now = this.#now()
		if (known.caller.expiresAt !== null && known.caller.expiresAt <= now) return undefined
		if (this.#worked.size >= maxCachedKeys) this.#worked.clear()
		this.#worked.add(hash)
		const { organizationId, keyId } = known.caller
		this.#used.set(keyId, { organizationId, keyId, at: now })
		return known.caller
	}

	async #lookUp(hash: string): Promise<Known | undefined> {
		const changes = this.#changes
		const until = this.#monotonic() + keyCacheMs
		const row = await findKeyByHash(this.#db, hash)
		if (!row || row.revokedAt !== null) {
			this.#known.delete(hash)
			this.#worked.delete(hash)
			return undefined
		}
		const { id: keyId, organization, reach, expiresAt } = row
		const scopes = new Set(scopesWithin(row.scopes, reach))
		const known = {
			caller: { organizationId: organization.id, keyId, scopes, reach, expiresAt, organization },
			until,
		}
		if (changes !== this.#changes) return known
		if (this.#known.size >= maxCachedKeys) this.#known.clear()
		this.#known.set(hash, known)
		return known
	}

	/** Drops an organization's keys from the cache. To be called when its settings or keys have changed. */
	forget(organizationId: string): void {
		this.#changes++
		for (const [hash, { caller }] of this.#known) if (caller.organizationId === organizationId) this.#known.delete(hash)
	}

	/** Writes the `lastUsedAt` of the keys used since the last call, instead of one write for every request. */
	async flush(): Promise<void> {
		const used = [...this.#used.values()]
		this.#used.clear()
		if (used.length === 0) return
		await this.#db.transaction(async (tx) => {
			for (const { organizationId, keyId, at } of used) await updateLastUsed(tx, organizationId, keyId, at)
		})
	}
}

/** The text that a request sends as its key, empty for another scheme than Bearer; undefined when it sends none. */
export function sentKey({ authorization, 'x-api-key': apiKey }: IncomingHttpHeaders): string | undefined {
	if (authorization === undefined) return apiKey === undefined ? undefined : String(apiKey)
	return /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? ''
}

/** RFC 6750 §3: the header names the scheme, and the error when the request had a key. */
function unauthorized(code: 'missing_credentials' | 'invalid_credentials', detail: string): ApiError {
	const error = code === 'invalid_credentials' ? ', error="invalid_token"' : ''
	return new ApiError(code, detail, { headers: { 'WWW-Authenticate': `Bearer realm="remit"${error}` } })
}
