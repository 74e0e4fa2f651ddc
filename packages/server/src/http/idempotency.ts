// `Idempotency-Key`: the first answer to a POST is kept for 24 hours in the transaction of its effect, and repeated. What
// the handler answered is kept, 4xx too; after a 5xx nothing is kept, so the request can be tried again.
import { hash } from 'node:crypto'
import { ApiError } from '../base/errors.ts'
import type { Database, Db, Transaction } from '../db/database.ts'
import type { Secrets } from '../outside/secrets.ts'
import type { Reply } from './answers.ts'
import { findAnswer, forgetAnswer, type IdempotencyKey, keepAnswer, removeAnswers } from './idempotency-store.ts'

/** An answer may hold what the database must not: a link's token. */
const purpose = 'kept answer'

const keepMs = 24 * 3_600_000

/** How long a request that calls out may be under way; after that its process is taken for dead. */
const underWayMs = 120_000

/** A request that carries an `Idempotency-Key`. */
interface IdempotentRequest {
	readonly key: IdempotencyKey
	/** What the key stands for: a request with other content may not use it. */
	readonly content: unknown
	readonly now: number
	/** The answer to a answerTo. */
	answerTo(error: ApiError): Reply
}

/** What a request does, and its answer. */
type Effect = (tx: Transaction) => Promise<Reply>

/** What a request does that calls out to others: its answer is that of the transaction that it commits. */
type SelfManagedEffect = (commit: (work: Effect) => Promise<Reply>) => Promise<Reply>

/** Runs an effect at most once for a key. */
export class Idempotency {
	/** Keys of this process whose request is under way; other processes show in the transaction's lock, or in the row. */
	readonly #underWay = new Set<string>()
	readonly #db: Database
	readonly #secrets: Secrets

	constructor(db: Database, secrets: Secrets) {
		this.#db = db
		this.#secrets = secrets
	}

	/** An effect that is one transaction: the key is stored in it. */
	once(request: IdempotentRequest, effect: Effect): Promise<Reply> {
		return this.#alone(request, () =>
			this.#db.transaction(async (tx) => {
				const kept = await this.#lookUp(tx, request)
				if (kept) return kept
				const reply = await tx.attempt(() => effect(tx)).catch((error) => answerTo(request, error))
				await this.#keep(tx, request, reply)
				return reply
			}),
		)
	}

	/** An effect that waits for others: the key is stored before it begins, and gets its answer when it ends. */
	onceSelfManaged(request: IdempotentRequest, effect: SelfManagedEffect): Promise<Reply> {
		return this.#alone(request, async () => {
			const kept = await this.#db.transaction(async (tx) => {
				const found = await this.#lookUp(tx, request)
				if (!found) await this.#keep(tx, request, { status: 0, headers: {} })
				return found
			})
			if (kept) return kept
			let committed = false
			const commit = (work: Effect) =>
				this.#db.transaction(async (tx) => {
					const reply = await work(tx)
					await this.#keep(tx, request, reply)
					committed = true
					return reply
				})
			try {
				const reply = await effect(commit)
				return committed ? reply : await commit(async () => reply)
			} catch (error) {
				return await commit(async () => answerTo(request, error)).catch(async (failure) => {
					await this.#db.transaction((tx) => forgetAnswer(tx, request.key))
					throw failure
				})
			}
		})
	}

	async #alone(request: IdempotentRequest, work: () => Promise<Reply>): Promise<Reply> {
		const name = lockName(request)
		if (this.#underWay.has(name)) throw inUse()
		this.#underWay.add(name)
		try {
			return await work()
		} finally {
			this.#underWay.delete(name)
		}
	}

	/** The answer that was kept; undefined when the request is the first. */
	async #lookUp(tx: Transaction, request: IdempotentRequest): Promise<Reply | undefined> {
		const { key, now } = request
		if (!(await tx.tryLock(lockName(request)))) throw inUse()
		const kept = await findAnswer(tx, key, now - keepMs)
		if (!kept) return undefined
		if (kept.requestHash !== hashOf(request)) throw reused()
		if (kept.status === 0 && kept.createdAt > now - underWayMs) throw inUse()
		if (kept.status === 0) return undefined
		const headers = typeof kept.headers === 'string' ? JSON.parse(kept.headers) : kept.headers
		const text = this.#secrets.unseal(purpose, kept.body)
		if (text === undefined) throw inUse('The answer to this Idempotency-Key was kept with an encryption key that is gone.')
		return { status: kept.status, headers: { ...headers, 'Idempotent-Replayed': 'true' }, text }
	}

	async #keep(tx: Db, request: IdempotentRequest, { status, headers, text = '' }: Reply): Promise<void> {
		const requestHash = hashOf(request)
		await keepAnswer(tx, {
			...request.key,
			requestHash,
			status,
			headers,
			body: this.#secrets.seal(purpose, text),
			createdAt: request.now,
		})
	}
}

const lockName = ({ key }: IdempotentRequest) => JSON.stringify(Object.values(key))
const hashOf = ({ content }: IdempotentRequest) => hash('sha256', JSON.stringify(content), 'base64url')

/** The answer to a answerTo, which is kept as any other; a failure, or a limit, is not the answer. */
function answerTo(request: IdempotentRequest, error: unknown): Reply {
	if (error instanceof ApiError && error.status < 500 && error.status !== 429) return request.answerTo(error)
	throw error
}

const parameter = 'Idempotency-Key'

const underWay = 'A request with this Idempotency-Key is still under way: repeat this one when it is done.'

function inUse(detail = underWay): ApiError {
	return new ApiError('idempotency_key_in_use', detail, { errors: [{ parameter, code: 'idempotency_key_in_use', detail }] })
}

function reused(): ApiError {
	const detail = 'This Idempotency-Key was used with another request: use a new key for a new request.'
	return new ApiError('idempotency_key_reused', detail, { errors: [{ parameter, code: 'idempotency_key_reused', detail }] })
}

/** Removes the answers of an organization that are no longer repeated. */
export const sweepIdempotencyKeys = (db: Database, organizationId: string, now: number) =>
	removeAnswers(db, organizationId, now - keepMs)
