// The answers that are kept for an `Idempotency-Key`, and the keys of requests that are under way.
import { type Database, type Db, query } from '../db/database.ts'

export interface Claim {
	readonly organizationId: string
	readonly keyId: string
	readonly operationId: string
	readonly idempotencyKey: string
}

export interface KeptAnswer extends Claim {
	readonly requestHash: string
	/** 0 while the request is under way. */
	readonly status: number
	readonly headers: Record<string, string>
	readonly body: string
	readonly createdAt: number
}

type Found = Pick<KeptAnswer, 'requestHash' | 'status' | 'body' | 'createdAt'> & { headers: string | KeptAnswer['headers'] }

const find = query<Claim & { since: number }, Found>((knex, { since, ...claim }) =>
	knex('idempotency_keys')
		.where(claim)
		.where('createdAt', '>', since)
		.select('requestHash', 'status', 'headers', 'body', 'createdAt'),
)

const keep = query<KeptAnswer>((knex, row) =>
	knex('idempotency_keys').insert(row).onConflict(['organizationId', 'keyId', 'operationId', 'idempotencyKey']).merge(),
)

const forget = query<Claim>((knex, claim) => knex('idempotency_keys').where(claim).delete())

/** The answer that was kept since a time, or the mark of a request that is under way. */
export const findAnswer = (db: Db, claim: Claim, since: number) => db.get(find, { ...claim, since })

export const keepAnswer = (db: Db, answer: KeptAnswer) => db.run(keep, answer)

export const forgetAnswer = (db: Db, claim: Claim) => db.run(forget, claim)

const removeOld = query<{ organizationId: string; before: number }>((knex, { organizationId, before }) =>
	knex('idempotency_keys').where({ organizationId }).where('createdAt', '<=', before).delete(),
)

export const removeAnswers = (db: Database, organizationId: string, before: number) =>
	db.transaction((tx) => tx.run(removeOld, { organizationId, before }))
