// `Idempotency-Key`: the first answer to a POST is kept for 24 hours in the transaction of its effect, and repeated. Kept is
// what the handler answered, refusals included; a 5xx keeps nothing, so it can be tried again.
import { hash } from 'node:crypto'
import { ApiError } from '../base/errors.ts'
import type { Database, Db, Transaction } from '../db/database.ts'
import type { Secrets } from '../outside/secrets.ts'
import type { Reply } from './answers.ts'
import { type Claim, findAnswer, forgetAnswer, keepAnswer, removeAnswers } from './idempotency-store.ts'

/** An answer may hold what the database must not: a link's token. */
const purpose = 'kept answer'

const keepMs = 24 * 3_600_000

/** How long a request that calls out may be under way; after that its process is taken for dead. */
const underWayMs = 120_000

/** A request that carries a claim. */
interface Attempt {
	readonly claim: Claim
	/** What the key stands for: another request may not use it. */
	readonly request: unknown
	readonly now: number
	/** The answer to a refusal. */
	refusal(error: ApiError): Reply
}

/** What a request does, and its answer. */
type Effect = (tx: Transaction) => Promise<Reply>

/** What a request does that calls out to others: its answer comes of the transaction that it concludes with. */
type OwnEffect = (conclude: (work: Effect) => Promise<Reply>) => Promise<Reply>

/** Runs an effect at most once for a claim and a request. */
export class Idempotency {
	/** Claims of this process whose request is under way; other processes show in the transaction's lock, or in the row. */
	readonly #underWay = new Set<string>()
	readonly #db: Database
	readonly #secrets: Secrets

	constructor(db: Database, secrets: Secrets) {
		this.#db = db
		this.#secrets = secrets
	}

	/** An effect that is one transaction: the claim is part of it. */
	once(attempt: Attempt, effect: Effect): Promise<Reply> {
		return this.#alone(attempt, () =>
			this.#db.transaction(async (tx) => {
				const kept = await this.#lookUp(tx, attempt)
				if (kept) return kept
				const reply = await tx.attempt(() => effect(tx)).catch((error) => refused(attempt, error))
				await this.#keep(tx, attempt, reply)
				return reply
			}),
		)
	}

	/** An effect that waits for others: the claim is there before it begins, and gets its answer when it ends. */
	onceOutside(attempt: Attempt, effect: OwnEffect): Promise<Reply> {
		return this.#alone(attempt, async () => {
			const kept = await this.#db.transaction(async (tx) => {
				const found = await this.#lookUp(tx, attempt)
				if (!found) await this.#keep(tx, attempt, { status: 0, headers: {} })
				return found
			})
			if (kept) return kept
			let concluded = false
			const conclude = (work: Effect) =>
				this.#db.transaction(async (tx) => {
					const reply = await work(tx)
					await this.#keep(tx, attempt, reply)
					concluded = true
					return reply
				})
			try {
				const reply = await effect(conclude)
				return concluded ? reply : await conclude(async () => reply)
			} catch (error) {
				return await conclude(async () => refused(attempt, error)).catch(async (failure) => {
					await this.#db.transaction((tx) => forgetAnswer(tx, attempt.claim))
					throw failure
				})
			}
		})
	}

	async #alone(attempt: Attempt, work: () => Promise<Reply>): Promise<Reply> {
		const name = nameOf(attempt)
		if (this.#underWay.has(name)) throw inUse()
		this.#underWay.add(name)
		try {
			return await work()
		} finally {
			this.#underWay.delete(name)
		}
	}

	/** The answer that was kept; undefined when the request is the first. */
	async #lookUp(tx: Transaction, attempt: Attempt): Promise<Reply | undefined> {
		const { claim, now } = attempt
		if (!(await tx.tryLock(nameOf(attempt)))) throw inUse()
		const kept = await findAnswer(tx, claim, now - keepMs)
		if (!kept) return undefined
		if (kept.requestHash !== hashOf(attempt)) throw reused()
		if (kept.status === 0 && kept.createdAt > now - underWayMs) throw inUse()
		if (kept.status === 0) return undefined
		const headers = typeof kept.headers === 'string' ? JSON.parse(kept.headers) : kept.headers
		const text = this.#secrets.unseal(purpose, kept.body)
		if (text === undefined) throw inUse('The answer to this Idempotency-Key was kept with an encryption key that is gone.')
		return { status: kept.status, headers: { ...headers, 'Idempotent-Replayed': 'true' }, text }
	}

	async #keep(tx: Db, attempt: Attempt, { status, headers, text = '' }: Reply): Promise<void> {
		const requestHash = hashOf(attempt)
		await keepAnswer(tx, {
			...attempt.claim,
			requestHash,
			status,
			headers,
			body: this.#secrets.seal(purpose, text),
			createdAt: attempt.now,
		})
	}
}

const nameOf = ({ claim }: Attempt) => JSON.stringify(Object.values(claim))
const hashOf = ({ request }: Attempt) => hash('sha256', JSON.stringify(request), 'base64url')

/** The answer to a refusal, which is kept as any other; a failure, or a limit, is not the answer. */
function refused(attempt: Attempt, error: unknown): Reply {
	if (error instanceof ApiError && error.status < 500 && error.status !== 429) return attempt.refusal(error)
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
