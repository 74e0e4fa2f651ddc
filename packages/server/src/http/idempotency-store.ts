// Stores the answer for each `Idempotency-Key`, and the keys of requests that are under way.
import { type Db, query } from '../db/database.ts'

export interface IdempotencyKey {
	readonly organizationId: string
	readonly keyId: string
	readonly operationId: string
	readonly idempotencyKey: string
}

export interface KeptAnswer extends IdempotencyKey {
	readonly requestHash: string
	/** 0 while the request is under way. */
	readonly status: number
	readonly headers: Record<string, string>
	readonly body: string
	readonly createdAt: number
}

type Found = Pick<KeptAnswer, 'requestHash' | 'status' | 'body' | 'createdAt'> & { headers: string | KeptAnswer['headers'] }

const find = query<IdempotencyKey & { since: number }, Found>((knex, { since, ...key }) =>
	knex('idempotency_keys')
		.where(key)
		.where('createdAt', '>', since)
		.select('requestHash', 'status', 'headers', 'body', 'createdAt'),
)

const keep = query<KeptAnswer>((knex, row) =>
	knex('idempotency_keys').insert(row).onConflict(['organizationId', 'keyId', 'operationId', 'idempotencyKey']).merge(),
)

const forget = query<IdempotencyKey>((knex, key) => knex('idempotency_keys').where(key).where('status', 0).delete())

/** The row of a key that was stored after `since`: an answer, or a request that is under way. */
export const findAnswer = (db: Db, key: IdempotencyKey, since: number) => db.get(find, { ...key, since })

export const keepAnswer = (db: Db, answer: KeptAnswer) => db.run(keep, answer)

/** Forgets a key that has no answer. After a commit of unknown outcome this waits for it, and keeps the answer that it stored. */
export const forgetUnderWay = (db: Db, key: IdempotencyKey) => db.run(forget, key)

/** Answers that a transaction removes: on SQLite every other writer waits for it. */
const batch = 200

const removeOld = query<{ organizationId: string; before: number }>((knex, { organizationId, before }) => {
	const old = () => knex('idempotency_keys').where({ organizationId }).where('createdAt', '<=', before)
	const key = ['keyId', 'operationId', 'idempotencyKey']
	// On PostgreSQL a key may be stored anew between the two looks at its time.
	const part = old().orderBy('createdAt').limit(batch, { skipBinding: true }).select(key)
	return old().whereIn(key, part).delete()
})

/** Removes a part of the answers from before; returns whether there may be more. */
export const removeAnswers = async (db: Db, organizationId: string, before: number): Promise<boolean> =>
	(await db.run(removeOld, { organizationId, before })) === batch

const oldest = query<{ organizationId: string }, { createdAt: number }>((knex, key) =>
	knex('idempotency_keys').where(key).orderBy('createdAt').select('createdAt').limit(1, { skipBinding: true }),
)

export const findOldestAnswer = async (db: Db, organizationId: string): Promise<number | undefined> =>
	(await db.get(oldest, { organizationId }))?.createdAt
