// Identifies the caller of a request. A process caches a key and its organization's settings for two seconds, so a key that
// another process revokes, such as the CLI, may work for two seconds more.
import type { IncomingHttpHeaders } from 'node:http'
import { ApiError } from '../base/errors.ts'
import type { Database } from '../db/database.ts'
import type { OrganizationSettings } from '../generated/contract.ts'
import { hashKey, isWellFormedKey } from './keys.ts'
import { findKeyByHash, updateLastUsed } from './store.ts'

export interface Caller {
	readonly organizationId: string
	readonly keyId: string
	readonly scopes: ReadonlySet<string>
	/** The organization's settings, at most two seconds old. */
	readonly organization: OrganizationSettings
}

interface Known {
	readonly caller: Caller
	readonly expiresAt: number
	readonly until: number
}

const cacheMs = 2_000
const maxCachedKeys = 10_000

export class Callers {
	readonly #db: Database
	readonly #now: () => number
	readonly #known = new Map<string, Known>()
	readonly #used = new Map<string, { organizationId: string; keyId: string; at: number }>()
	/** Counts calls of `forget`: a look-up that began before one is not cached after it. */
	#changes = 0

	constructor(db: Database, now: () => number) {
		this.#db = db
		this.#now = now
	}

	/** The caller of a request, by its `Authorization` or `X-API-Key` header; throws 401 without a valid key. */
	async identify({ authorization, 'x-api-key': apiKey }: IncomingHttpHeaders): Promise<Caller> {
		const key = sentKey({ authorization, 'x-api-key': apiKey })
		if (key === undefined) {
			throw unauthorized('missing_credentials', 'Send an API key as `Authorization: Bearer rmt_…`.')
		}
		if (apiKey !== undefined && apiKey !== key) {
			throw new ApiError('ambiguous_credentials', 'Authorization and X-API-Key hold different keys: send one of them.')
		}
		const caller = isWellFormedKey(key) && (await this.#find(hashKey(key)))
		if (!caller) throw unauthorized('invalid_credentials', 'The API key is unknown, expired or revoked.')
		return caller
	}

	async #find(hash: string): Promise<Caller | undefined> {
		const now = this.#now()
		let known = this.#known.get(hash)
		if (!known || known.until <= now) {
			const found = await this.#lookUp(hash, now)
			if (!found) return undefined
			known = found
		}
		if (known.expiresAt <= now) return undefined
		const { organizationId, keyId } = known.caller
		this.#used.set(keyId, { organizationId, keyId, at: now })
		return known.caller
	}

	async #lookUp(hash: string, now: number): Promise<Known | undefined> {
		const changes = this.#changes
		const row = await findKeyByHash(this.#db, hash)
		if (!row || row.revokedAt !== null) return void this.#known.delete(hash)
		const { id: keyId, organization } = row
		const known = {
			caller: { organizationId: organization.id, keyId, scopes: new Set(row.scopes), organization },
			expiresAt: row.expiresAt ?? Infinity,
			until: now + cacheMs,
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
