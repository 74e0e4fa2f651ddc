// Identifies the caller of a request, by an API key or by the session of a person. A process caches both, with the organization's
// settings, for two seconds, so a key that another process revokes, such as the CLI, may work for two seconds more: but for what gives or takes
// access, which asks the database (`confirm`).
import type { IncomingHttpHeaders } from 'node:http'
import type { OrganizationSettings, UserRole } from '../../generated/contract.ts'
import { ApiError } from '../base/errors.ts'
import type { Database, Db } from '../db/database.ts'
import { hashKey, isWellFormedKey, type Reach, scopesWithin } from './keys.ts'
import { scopesOfRole } from './roles.ts'
import { hashOfToken, sentToken } from './session-cookie.ts'
import { findSessionByHash, idleMs, updateLastSeen } from './session-store.ts'
import { findKeyByHash, updateLastUsed } from './store.ts'

export interface Caller {
	/** SHA-256 of its key or token, by which it is found again. */
	readonly hash: string
	readonly organizationId: string
	/** The id of its key or of the person: limits and idempotency keys are by it, so that they outlast a session. */
	readonly id: string
	/** Of a person, the session. */
	readonly session?: { readonly id: string; readonly role: UserRole }
	/** The scopes that do something: those about kinds that it does not reach are left out. */
	readonly scopes: ReadonlySet<string>
	/** The kinds of records to which its key is limited. */
	readonly reach: Reach
	/** When its key stops working; null: never, or a person. */
	readonly expiresAt: number | null
	/** The organization's settings, at most two seconds old. */
	readonly organization: OrganizationSettings
}

interface Found {
	readonly caller: Caller
	/** When its key or session stops working; null: never. */
	readonly endsAt: number | null
}

interface Known extends Found {
	/** When it is looked up again, by the monotonic clock. */
	readonly until: number
}

/** Makes a guess: a key or session that has not worked in this process. */
type Guess = <T>(work: () => Promise<T | undefined>) => Promise<T | undefined>

type LookUp = (db: Db, hash: string) => Promise<Found | undefined>

async function lookUpKey(db: Db, hash: string): Promise<Found | undefined> {
	const row = await findKeyByHash(db, hash)
	if (!row || row.revokedAt !== null) return undefined
	const { id, organization, reach, expiresAt } = row
	const scopes = new Set(scopesWithin(row.scopes, reach))
	return { caller: { hash, organizationId: organization.id, id, scopes, reach, expiresAt, organization }, endsAt: expiresAt }
}

async function lookUpSession(db: Db, hash: string): Promise<Found | undefined> {
	const row = await findSessionByHash(db, hash)
	if (!row) return undefined
	const { id, userId, role, organization, lastSeenAt, expiresAt } = row
	const who = { hash, organizationId: organization.id, id: userId, session: { id, role }, organization }
	const power = { scopes: new Set(scopesOfRole(role)), reach: null, expiresAt: null }
	return { caller: { ...who, ...power }, endsAt: Math.min(expiresAt, lastSeenAt + idleMs) }
}

const lookUpOf = ({ session }: Caller): LookUp => (session ? lookUpSession : lookUpKey)

const keyEnded = () => unauthorized('invalid_credentials', 'The API key is unknown, expired or revoked.')
const sessionEnded = () => unauthorized('session_ended', 'The session has ended: sign in.')
const endedError = ({ session }: Caller) => (session ? sessionEnded() : keyEnded())

/** 32 bytes, base64url. */
const isWellFormedToken = (token: string) => /^[\w-]{43}$/.test(token)

const malformedHeader = 'The header Authorization must be `Bearer`, a blank and the API key.'

export const keyCacheMs = 2_000
const maxCachedKeys = 10_000

export class Callers {
	readonly #db: Database
	readonly #now: () => number
	readonly #monotonic: () => number
	readonly #baseUrl: string
	readonly #known = new Map<string, Known>()
	/** The look-ups under way that began after the last call of `forget`: all who wait for a key share one. */
	readonly #underWay = new Map<string, Promise<Known | undefined>>()
	/** The hashes of keys that have worked in this process: they are no guesses. */
	readonly #worked = new Set<string>()
	/** The keys and sessions that were used, by their ids. */
	readonly #used = new Map<string, { caller: Caller; at: number }>()
	/** Counts calls of `forget`: a look-up that began before one is not cached after it. */
	#changes = 0

	/** `now` is the time of day, which may be set back; a cached key ages by `monotonic`. `baseUrl` tells the cookie's name. */
	constructor(db: Database, now: () => number, monotonic = () => performance.now(), baseUrl = '') {
		this.#db = db
		this.#now = now
		this.#monotonic = monotonic
		this.#baseUrl = baseUrl
	}

	/**
	 * The caller of a request, by its `Authorization` or `X-API-Key` header, or else by its cookie; throws 401 without a valid one. One that has
	 * not worked in this process is looked up by `guess`, which throws 429 when it is wrong and too many were wrong before. An `Authorization`
	 * without a key, as a proxy's `Basic`, counts only alone.
	 */
	async identify({ authorization, 'x-api-key': apiKey, cookie }: IncomingHttpHeaders, guess: Guess): Promise<Caller> {
		const key = sentKey({ authorization, 'x-api-key': apiKey })
		const token = sentToken(cookie, this.#baseUrl)
		if (key === undefined || (token !== undefined && !apiKey && !hasBearer(authorization))) {
			return this.#identifyPerson(token, guess)
		}
		if (apiKey && hasBearer(authorization) && bearerOf(authorization) !== apiKey) {
			throw new ApiError('ambiguous_credentials', 'Authorization and X-API-Key hold different keys: send one of them.')
		}
		const hash = hashKey(key)
		const isKey = this.#worked.has(hash) || isWellFormedKey(key)
		const caller = await this.#find(isKey ? hash : undefined, lookUpKey, guess)
		if (caller) return caller
		throw key === '' ? unauthorized('invalid_credentials', malformedHeader) : keyEnded()
	}

	async #identifyPerson(token: string | undefined, guess: Guess): Promise<Caller> {
		if (token === undefined) throw unauthorized('missing_credentials', 'Send an API key as `Authorization: Bearer rmt_…`.')
		const caller = await this.#find(isWellFormedToken(token) ? hashOfToken(token) : undefined, lookUpSession, guess)
		if (!caller) throw sessionEnded()
		return caller
	}

	/** Whether this process still knows the caller by the same look-up: then it works, and may do the same. */
	isCurrent(caller: Caller): boolean {
		const known = this.#known.get(caller.hash)
		return known?.caller === caller && known.until > this.#monotonic() && !this.#hasEnded(known)
	}

	/** The caller of a request that began earlier, by what this process knows of it now; throws 401 when its key or session has ended. */
	async again(caller: Caller): Promise<Caller> {
		const found = await this.#current(caller.hash, lookUpOf(caller))
		if (found) return found
		throw endedError(caller)
	}

	/** The same by the database, in the transaction of a change. */
	async confirm(db: Db, caller: Caller): Promise<Caller> {
		const found = await lookUpOf(caller)(db, caller.hash)
		if (found && !this.#hasEnded(found)) return found.caller
		this.#known.delete(caller.hash)
		throw endedError(caller)
	}

	#find(hash: string | undefined, lookUp: LookUp, guess: Guess): Promise<Caller | undefined> {
		if (hash === undefined) return guess(async () => undefined)
		const find = () => this.#current(hash, lookUp)
		return this.#worked.has(hash) ? find() : guess(find)
	}

	async #current(hash: string, lookUp: LookUp): Promise<Caller | undefined> {
		let known = this.#known.get(hash)
		if (!known || known.until <= this.#monotonic()) {
			const found = await this.#lookUp(hash, lookUp)
			if (!found) return undefined
			known = found
		}
		if (this.#hasEnded(known)) return undefined
		if (this.#worked.size >= maxCachedKeys) this.#worked.clear()
		this.#worked.add(hash)
		const { caller } = known
		this.#used.set(caller.session?.id ?? caller.id, { caller, at: this.#now() })
		return caller
	}

	#hasEnded = ({ endsAt }: Found): boolean => endsAt !== null && endsAt <= this.#now()

	#lookUp(hash: string, lookUp: LookUp): Promise<Known | undefined> {
		const begun = this.#underWay.get(hash)
		if (begun) return begun
		const found = this.#ask(hash, lookUp).finally(() => {
			if (this.#underWay.get(hash) === found) this.#underWay.delete(hash)
		})
		this.#underWay.set(hash, found)
		return found
	}

	async #ask(hash: string, lookUp: LookUp): Promise<Known | undefined> {
		const changes = this.#changes
		const until = this.#monotonic() + keyCacheMs
		const found = await lookUp(this.#db, hash)
		if (!found) {
			this.#known.delete(hash)
			this.#worked.delete(hash)
			return undefined
		}
		const known = { ...found, until }
		if (changes !== this.#changes) return known
		if (this.#known.size >= maxCachedKeys) this.#known.clear()
		this.#known.set(hash, known)
		return known
	}

	/** Drops an organization's callers from the cache. To be called when its settings, keys, people or sessions have changed. */
	forget(organizationId: string): void {
		this.#changes++
		this.#underWay.clear()
		for (const [hash, { caller }] of this.#known) if (caller.organizationId === organizationId) this.#known.delete(hash)
	}

	/** Writes when the keys and sessions that were used since the last call were so, instead of one write for every request. */
	async flush(): Promise<void> {
		const used = [...this.#used.values()]
		this.#used.clear()
		if (used.length === 0) return
		await this.#db.transaction(async (tx) => {
			for (const { caller, at } of used) {
				const { organizationId, id, session } = caller
				if (session) await updateLastSeen(tx, organizationId, session.id, at)
				else await updateLastUsed(tx, organizationId, id, at)
			}
		})
	}
}

/** The text that a request sends as its key, empty for an `Authorization` that has none; undefined when it sends none. */
export function sentKey({ authorization, 'x-api-key': apiKey }: IncomingHttpHeaders): string | undefined {
	if (apiKey) return String(apiKey)
	return authorization === undefined ? undefined : bearerOf(authorization)
}

const hasBearer = (authorization = '') => /^Bearer +\S/i.test(authorization)
const bearerOf = (authorization = '') => /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? ''

/** RFC 6750 §3: the header names the scheme, and the error when the request had a key. */
export function unauthorized(
	code: 'missing_credentials' | 'invalid_credentials' | 'session_ended' | 'sign_in_failed',
	detail: string,
): ApiError {
	const error = code === 'invalid_credentials' ? ', error="invalid_token"' : ''
	return new ApiError(code, detail, { headers: { 'WWW-Authenticate': `Bearer realm="remit"${error}` } })
}
