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

/**
 * A row from before `expiredAt` counts no more, nor does a request that is under way from before `deadAt`, or from after `latest`: the clock
 * was set back.
 */
export interface Ages {
	readonly expiredAt: number
	readonly deadAt: number
	readonly latest: number
}

const column = (name: keyof KeptAnswer) => `idempotency_keys."${name}"`

/** On PostgreSQL the insert waits for another transaction that has stored the key, and then sees its row. */
const storing = (alsoOver: string) =>
	query<KeptAnswer & Ages>((knex, { expiredAt, deadAt, latest, ...row }) => {
		const created = column('createdAt')
		const gone = `${created} <= ? or (${column('status')} = 0 and (${created} <= ? or ${created} > ?))`
		return knex('idempotency_keys')
			.insert(row)
			.onConflict(['organizationId', 'keyId', 'operationId', 'idempotencyKey'])
			.merge()
			.whereRaw(`${gone} ${alsoOver}`, [expiredAt, deadAt, latest])
	})

const take = storing('')
const keep = storing(`or ${column('createdAt')} = excluded."createdAt" or ${column('status')} >= 400`)

type Taken = IdempotencyKey & Pick<KeptAnswer, 'createdAt'>

const forget = query<Taken>((knex, taken) => knex('idempotency_keys').where(taken).where('status', 0).delete())

/** The row of a key that was stored after `since`: an answer, or a request that is under way. */
export const findAnswer = (db: Db, key: IdempotencyKey, since: number) => db.get(find, { ...key, since })

/** Stores a key for a request that found no row which counts; false when there is one by now. */
export const takeKey = async (db: Db, answer: KeptAnswer & Ages): Promise<boolean> => (await db.run(take, answer)) === 1

/**
 * Stores the answer of a request that has taken its key, at `createdAt`; false when another has taken it since. An answer that says
 * that nothing was done gives way: one who was told to wait finds out what became of the request before.
 */
export const keepAnswer = async (db: Db, answer: KeptAnswer & Ages): Promise<boolean> => (await db.run(keep, answer)) === 1

/** Forgets a key without an answer, unless another has taken it since. After a commit of unknown outcome this waits for it, and keeps its answer. */
export const forgetUnderWay = (db: Db, taken: Taken) => db.run(forget, taken)

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
