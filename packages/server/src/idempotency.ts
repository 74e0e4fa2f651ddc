// `Idempotency-Key`: the first answer to a POST is kept for 24 hours in the transaction of its effect, and repeated. Kept is
// what the handler answered, refusals included; a 5xx rolls back and keeps nothing, so it can be tried again.
import { hash } from 'node:crypto'
import { type Database, type Db, query, type Transaction } from './db.ts'
import { ApiError } from './errors.ts'
import type { Reply } from './exchange.ts'
import { listOrganizations } from './organizations/store.ts'

const keepMs = 24 * 3_600_000

export interface Claim {
	readonly organizationId: string
	readonly keyId: string
	readonly operationId: string
	readonly idempotencyKey: string
}

interface Kept extends Claim {
	readonly requestHash: string
	readonly status: number
	readonly headers: Record<string, string>
	readonly body: string
	readonly createdAt: number
}

const find = query<Claim & { since: number }, Omit<Kept, 'headers'> & { headers: string | Kept['headers'] }>(
	(knex, { since, ...claim }) =>
		knex('idempotency_keys').where(claim).where('createdAt', '>', since).select('requestHash', 'status', 'headers', 'body'),
)

const keep = query<Kept>((knex, row) =>
	knex('idempotency_keys').insert(row).onConflict(['organizationId', 'keyId', 'operationId', 'idempotencyKey']).merge(),
)

/** A request that carries a claim. */
interface Attempt {
	readonly claim: Claim
	readonly body: unknown
	readonly now: number
	/** What the request does, and its answer. */
	effect(tx: Db): Promise<Reply>
	/** The answer to a refusal. */
	refusal(error: ApiError): Reply
}

/** Runs the effect at most once for a claim and a body. */
export class Idempotency {
	/** Claims of this process whose transaction is under way; other processes show in the transaction's lock. */
	readonly #underWay = new Set<string>()
	readonly #db: Database

	constructor(db: Database) {
		this.#db = db
	}

	async once(attempt: Attempt): Promise<Reply> {
		const name = JSON.stringify(Object.values(attempt.claim))
		if (this.#underWay.has(name)) throw inUse()
		this.#underWay.add(name)
		try {
			return await this.#db.transaction((tx) => this.#claimed(tx, name, attempt))
		} finally {
			this.#underWay.delete(name)
		}
	}

	async #claimed(tx: Transaction, name: string, { claim, body, now, effect, refusal }: Attempt): Promise<Reply> {
		if (!(await tx.tryLock(name))) throw inUse()
		const requestHash = hash('sha256', JSON.stringify(body), 'base64url')
		const kept = await tx.get(find, { ...claim, since: now - keepMs })
		if (kept && kept.requestHash !== requestHash) throw reused()
		if (kept) {
			const headers = typeof kept.headers === 'string' ? JSON.parse(kept.headers) : kept.headers
			return { status: kept.status, headers: { ...headers, 'Idempotent-Replayed': 'true' }, text: kept.body }
		}
		const reply = await tx
			.attempt(() => effect(tx))
			.catch((error) => {
				if (error instanceof ApiError && error.status < 500 && error.status !== 429) return refusal(error)
				throw error
			})
		const { status, headers, text: answered = '' } = reply
		await tx.run(keep, { ...claim, requestHash, status, headers, body: answered, createdAt: now })
		return reply
	}
}

const parameter = 'Idempotency-Key'

function inUse(): ApiError {
	const detail = 'A request with this Idempotency-Key is still under way: repeat this one when it is done.'
	return new ApiError('idempotency_key_in_use', detail, { errors: [{ parameter, code: 'idempotency_key_in_use', detail }] })
}

function reused(): ApiError {
	const detail = 'This Idempotency-Key was used with another body: use a new key for a new request.'
	return new ApiError('idempotency_key_reused', detail, { errors: [{ parameter, code: 'idempotency_key_reused', detail }] })
}

const removeOld = query<{ organizationId: string; before: number }>((knex, { organizationId, before }) =>
	knex('idempotency_keys').where({ organizationId }).where('createdAt', '<=', before).delete(),
)

/** Forgets answers that are no longer repeated. */
export async function sweepIdempotencyKeys(db: Database, now: number): Promise<void> {
	for (const { organizationId } of await listOrganizations(db)) {
		await db.transaction((tx) => tx.run(removeOld, { organizationId, before: now - keepMs }))
	}
}
