// `Idempotency-Key`: the server stores the first answer to a POST in the transaction of its effect, and repeats it for 24 hours.
// It stores 4xx answers too, but not 401, 403, 429 and 5xx, so that the caller can try again.
import { hash } from 'node:crypto'
import { ApiError } from '../base/errors.ts'
import type { Database, Db, Transaction } from '../db/database.ts'
import { sealedColumns } from '../outside/sealed-columns.ts'
import type { Secrets } from '../outside/secrets.ts'
import type { JobHandler } from '../work/jobs.ts'
import { ensureJobs } from '../work/jobs-store.ts'
import { jobKinds } from '../work/kinds.ts'
import { inParts } from '../work/parts.ts'
import type { Reply } from './answers.ts'
import {
	findAnswer,
	findOldestAnswer,
	forgetUnderWay,
	type IdempotencyKey,
	keepAnswer,
	removeAnswers,
	takeKey,
} from './idempotency-store.ts'

/** How long a request and its repetitions count as one. */
export const keepMs = 24 * 3_600_000

/** How long a request that calls other servers may be under way. After that its process counts as dead, and a repeat runs. */
const underWayMs = 120_000

/** A request that carries an `Idempotency-Key`. */
interface IdempotentRequest {
	readonly key: IdempotencyKey
	/** A request with other content must not use the key. */
	readonly content: unknown
	/** Whether the content may have credentials. Who has the database could try likely ones against a plain hash. */
	readonly isSecret: boolean
	/** Whether its transaction writes few rows. */
	readonly isShort: boolean
	readonly now: number
	/** The answer to an error. */
	answerTo(error: ApiError): Reply
}

/** Carries out a request in a transaction and returns its answer. */
type Effect = (tx: Transaction) => Promise<Reply>

/** Carries out a request that calls other servers. The answer is that of the transaction that it commits, if it commits one. */
type SelfManagedEffect = (commit: (work: Effect) => Promise<Reply>) => Promise<Reply>

/** How often a request looks its key up, when each time another has taken the key before it could. */
const tries = 3

/** Another request has the key by now. What this one wrote in the same transaction is undone. */
class KeyTaken extends ApiError {
	constructor() {
		super('idempotency_key_in_use', underWay)
	}
}

/** Organizations to remember; beyond that, all are asked for again. */
const maxRemovals = 10_000

/** Runs an effect at most once for a key. */
export class Idempotency {
	/** The keys of this process's requests under way. Those of other processes show in the row. */
	readonly #underWay = new Set<string>()
	/** Until when an organization surely has a job that removes its answers. */
	readonly #removals = new Map<string, number>()
	readonly #db: Database
	readonly #secrets: Secrets

	constructor(db: Database, secrets: Secrets) {
		this.#db = db
		this.#secrets = secrets
	}

	/**
	 * Runs an effect that is one transaction, and stores the key in it. Another process may do the same at once: the first to commit has
	 * the key, and the effect of the other is undone.
	 */
	once(request: IdempotentRequest, effect: Effect): Promise<Reply> {
		return this.#exclusively(request, () =>
			this.#commit(request, async (tx) => {
				const kept = await this.#lookUp(tx, request)
				if (kept) return kept
				const reply = await tx.attempt(() => effect(tx)).catch((error) => answerTo(request, error))
				await this.#store(takeKey, tx, request, reply)
				return reply
			}),
		)
	}

	/** Runs an effect that calls other servers: stores the key before the effect begins, and the answer when it ends. */
	onceSelfManaged(request: IdempotentRequest, effect: SelfManagedEffect): Promise<Reply> {
		return this.#exclusively(request, async () => {
			const kept = await this.#commit(request, async (tx) => {
				const found = await this.#lookUp(tx, request)
				if (!found) await this.#store(takeKey, tx, request, { status: 0, headers: {} })
				return found
			})
			if (kept) return kept
			let committed = false
			const commit = (work: Effect) =>
				this.#db.transaction(async (tx) => {
					const reply = await work(tx)
					await this.#store(keepAnswer, tx, request, reply)
					committed = true
					return reply
				}, request.key)
			try {
				const reply = await effect(commit)
				return committed ? reply : await commit(async () => reply)
			} catch (error) {
				if (error instanceof KeyTaken) throw error
				return await commit(async () => answerTo(request, error)).catch(async (failure) => {
					// If this fails too, the key counts as under way until `underWayMs` is over.
					const taken = { ...request.key, createdAt: request.now }
					await this.#db.transaction((tx) => forgetUnderWay(tx, taken), request.key).catch(() => {})
					throw failure
				})
			}
		})
	}

	/** Runs work that looks the key up, and runs it again when it loses the key to another process. */
	async #exclusively(request: IdempotentRequest, work: () => Promise<Reply>): Promise<Reply> {
		const name = nameOf(request)
		if (this.#underWay.has(name)) throw inUse()
		this.#underWay.add(name)
		try {
			for (let attempt = 1; attempt <= tries; attempt++) {
				try {
					return await work()
				} catch (error) {
					if (!(error instanceof KeyTaken)) throw error
				}
			}
			throw inUse()
		} finally {
			this.#underWay.delete(name)
		}
	}

	/** Runs a transaction that may keep an answer, and then knows that there is a job to remove it. */
	async #commit<T>({ key, now, isShort }: IdempotentRequest, work: (tx: Transaction) => Promise<T>): Promise<T> {
		let hasJob = false
		const value = await this.#db.transaction(
			async (tx) => {
				const value = await work(tx)
				const { organizationId } = key
				hasJob = (this.#removals.get(organizationId) ?? 0) > now
				if (!hasJob) await ensureJobs(tx, { organizationId, kind: jobKinds.keptAnswers, resourceIds: [''], dueAt: now + keepMs })
				return value
			},
			{ organizationId: key.organizationId, isShort },
		)
		if (this.#removals.size >= maxRemovals) this.#removals.clear()
		if (!hasJob) this.#removals.set(key.organizationId, now + keepMs)
		return value
	}

	/** The stored answer; undefined when the request is the first with its key. Throws when the key is in use or was reused. */
	async #lookUp(tx: Transaction, request: IdempotentRequest): Promise<Reply | undefined> {
		const { key, now } = request
		const kept = await findAnswer(tx, key, now - keepMs)
		if (!kept) return undefined
		// Older versions took the text in the order in which it was sent.
		const texts = [canonical, JSON.stringify]
		if (!texts.some((write) => this.#hashesOf(request, write).includes(kept.requestHash))) throw reused()
		if (kept.status === 0 && Math.abs(now - kept.createdAt) < underWayMs) throw inUse()
		if (kept.status === 0) return undefined
		const headers = typeof kept.headers === 'string' ? JSON.parse(kept.headers) : kept.headers
		const text = this.#secrets.unseal(sealedColumns.keptAnswer, key, kept.body)
		if (text === undefined) throw inUse('The answer to this Idempotency-Key was kept with an encryption key that is gone.')
		return { status: kept.status, headers: { ...headers, 'Idempotent-Replayed': 'true' }, text }
	}

	/** The hash to store; then those under other keys, and the plain one that older versions stored. */
	#hashesOf({ content, isSecret }: IdempotentRequest, write = canonical): readonly [string, ...string[]] {
		const text = write(content)
		const plain = hash('sha256', text, 'base64url')
		if (!isSecret) return [plain]
		const [first = plain, ...others] = this.#secrets.tokens('request hash', text).values()
		return [first, ...others, plain]
	}

	async #store(
		store: typeof takeKey | typeof keepAnswer,
		tx: Db,
		request: IdempotentRequest,
		{ status, headers, text = '' }: Reply,
	): Promise<void> {
		const { key, now } = request
		const stored = await store(tx, {
			...key,
			requestHash: this.#hashesOf(request)[0],
			status,
			headers,
			body: this.#secrets.seal(sealedColumns.keptAnswer, key, text.toString()),
			createdAt: now,
			expiredAt: now - keepMs,
			deadAt: now - underWayMs,
			latest: now + underWayMs,
		})
		if (!stored) throw new KeyTaken()
	}
}

/** JSON with the members of each object in one order: a client may write the same request in another. */
function canonical(value: unknown): string {
	if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
	if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
	const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
	return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join()}}`
}

/** Tells a request and its repetitions from all others. */
export const requestKeyOf = (request: Pick<IdempotentRequest, 'key'> | undefined) =>
	request ? hash('sha256', nameOf(request), 'base64url') : null

const nameOf = ({ key }: Pick<IdempotentRequest, 'key'>) => JSON.stringify(Object.values(key))

/** What says nothing of the request: another time, or with other rights, it is answered otherwise. */
const passing: ReadonlySet<number> = new Set([401, 403, 429])

/** The answer to an error, which is stored like any other; throws a passing one and a 5xx again, after which the caller may repeat the request. */
function answerTo(request: IdempotentRequest, error: unknown): Reply {
	if (error instanceof ApiError && error.status < 500 && !passing.has(error.status)) return request.answerTo(error)
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

/** The shortest time between two removals: an organization keeps answers all the time. */
const restMs = 3_600_000

/** Removes an organization's answers that are older than 24 hours. */
export const removeKeptAnswers =
	(db: Database): JobHandler =>
	async (job) => {
		const { organizationId, signal } = job
		// What a power cut brings back goes the next time.
		const part = () => job.part((tx) => removeAnswers(tx, organizationId, job.now - keepMs), { durable: false })
		await inParts(part, signal)
		const oldest = await findOldestAnswer(db, organizationId)
		return oldest === undefined ? undefined : { dueAt: Math.max(oldest + keepMs, job.now + (signal.aborted ? 0 : restMs)) }
	}
