// The rows of records that a run could not write.
import { newTimedId } from '../base/ids.ts'
import { asNumber, type Db, query } from '../db/database.ts'
import { jsonColumn } from '../db/json.ts'
import { isAnyOf } from '../db/records.ts'
import type { RecordFailure, SyncRecordError } from '../generated/contract.ts'
import { fields } from '../generated/tables.ts'

interface Key {
	readonly organizationId: string
	readonly syncId: string
	readonly direction: 'inbound' | 'outbound'
}

export interface Failed extends Key {
	readonly runId: string
	/** The id by which the run knew the record. */
	readonly recordKey: string
	readonly externalId: string | null
	readonly recordId: string | null
	readonly errors: readonly RecordFailure[]
}

const insertion = query<Failed & { id: string; createdAt: number }>((knex, row) =>
	knex('sync_record_errors')
		.insert(row)
		.onConflict(['organizationId', 'runId', 'direction', 'recordKey'])
		.merge(['errors', 'externalId', 'recordId']),
)

const mostErrors = 20
const longestReason = 500

/** Stores why a record could not be written; false when the run has an error of it already. */
export async function insertError(db: Db, { errors, ...failed }: Failed, now: number): Promise<void> {
	const shown = errors
		.slice(0, mostErrors)
		.map((error) => ({ ...error, reason: error.reason.slice(0, longestReason).toWellFormed() }))
	await db.run(insertion, { ...failed, errors: shown, id: newTimedId('rer', now), createdAt: now })
}

const resolution = query<Key & { keys: readonly string[]; now: number }>((knex, { keys, now, ...key }, dialect) =>
	knex('sync_record_errors')
		.where(key)
		.whereNull('resolvedAt')
		.whereRaw(isAnyOf('recordKey', dialect), [keys])
		.update({ resolvedAt: now }),
)

/** Notes that records were written after all. */
export const resolveErrors = (db: Db, key: Key, keys: readonly string[], now: number) => db.run(resolution, { ...key, keys, now })

const open = query<Key & { after: string; limit: number }, { recordKey: string }>((knex, { after, limit, ...key }) =>
	knex('sync_record_errors')
		.where(key)
		.whereNull('resolvedAt')
		.where('recordKey', '>', after)
		.distinct('recordKey')
		.orderBy('recordKey')
		.limit(asNumber(limit)),
)

/** The next records that no run has written since they failed, by their ids. */
export const findOpenErrors = async (db: Db, key: Key, after: string, limit: number): Promise<string[]> =>
	(await db.all(open, { ...key, after, limit })).map(({ recordKey }) => recordKey)

interface OfRun {
	readonly organizationId: string
	readonly runId: string
}

interface Page {
	readonly limit: number
	readonly offset: number
	readonly cursor?: string
}

const page = query<OfRun & Page, { json: string }>((knex, { limit, offset, cursor, ...key }, dialect) => {
	const rows = knex('sync_record_errors').where(key)
	if (cursor !== undefined) rows.where('id', '>', cursor)
	return rows
		.orderBy('id')
		.limit(asNumber(limit))
		.offset(asNumber(offset))
		.select(jsonColumn(knex, dialect, fields.SyncRecordError))
})

const count = query<OfRun, { total: number }>((knex, key) => knex('sync_record_errors').where(key).count({ total: '*' }))

export const readErrors = (db: Db, key: OfRun & Page) => db.column(page, key)
export const countErrors = async (db: Db, key: OfRun) => (await db.get(count, key))?.total ?? 0

export type { SyncRecordError }
