// The rows of records that a run could not write.

import type { Knex } from 'knex'
import type { RecordFailure, SyncRecordError } from '../../generated/contract.ts'
import { fields } from '../../generated/tables.ts'
import { newTimedId } from '../../platform/base/ids.ts'
import { asNumber, type Db, type Dialect, type Placeholders, query } from '../../platform/db/database.ts'
import { jsonColumn } from '../../platform/db/json.ts'
import { listOf } from '../../platform/db/list-of.ts'
import type { PageQuery } from '../../platform/db/pages.ts'
import { isAnyOf } from '../../platform/db/records.ts'

interface Key {
	readonly organizationId: string
	readonly syncId: string
	readonly direction: 'inbound' | 'outbound'
}

export interface Failed extends Key {
	readonly runId: string
	/** The run of the sync before that one; empty for none. */
	readonly runBefore: string
	/** The id by which the run knew the record. */
	readonly recordKey: string
	readonly externalId: string | null
	readonly recordId: string | null
	readonly errors: readonly RecordFailure[]
}

const before = (column: string) => `sync_record_errors."${column}"`

const upsert = query<Failed & { id: string; now: number }>((knex, { runBefore, now, ...row }) =>
	knex('sync_record_errors')
		.insert({ ...row, firstRunId: row.runId, createdAt: now, lastFailedAt: now, count: 1 })
		.onConflict(knex.raw('("organizationId", "syncId", direction, "recordKey") where "resolvedAt" is null') as never)
		.merge({
			...Object.fromEntries(
				['runId', 'errors', 'externalId', 'recordId', 'lastFailedAt'].map((name) => [name, knex.raw(`excluded."${name}"`)]),
			),
			count: knex.raw(`${before('count')} + case when ${before('runId')} = excluded."runId" then 0 else 1 end`),
			firstRunId: knex.raw(
				// Where the clock was set back, a later run has a lesser id.
				`case when ${before('runId')} in (excluded."runId", ?) and ${before('runId')} <= excluded."runId"
					then ${before('firstRunId')} else excluded."runId" end`,
				[runBefore],
			),
		}),
)

const mostErrors = 20
const longestReason = 500

/** Stores why a record could not be written. While it stays an error it is one row, which knows the runs in a row that have failed. */
export async function noteError(db: Db, { errors, ...failed }: Failed, now: number): Promise<void> {
	const shown = errors
		.slice(0, mostErrors)
		.map((error) => ({ ...error, reason: error.reason.slice(0, longestReason).toWellFormed() }))
	await db.run(upsert, { ...failed, errors: shown, id: newTimedId('rer', now), now })
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

const open = query<Key & { after: string; limit: number; before?: string }, { recordKey: string }>(
	(knex, { after, limit, before, ...key }) => {
		const rows = knex('sync_record_errors').where(key).whereNull('resolvedAt').where('recordKey', '>', after)
		if (before !== undefined) rows.where('runId', '<>', before)
		return rows.orderBy('recordKey').limit(asNumber(limit)).select('recordKey')
	},
)

/** The next records that no run has written since they failed, by their ids; with `before` those alone that have not failed in this run. */
export const findOpenErrors = async (
	db: Db,
	key: Key,
	page: { readonly after: string; readonly limit: number; readonly before?: string },
): Promise<string[]> => (await db.all(open, { ...key, ...page })).map(({ recordKey }) => recordKey)

interface OfSync {
	readonly organizationId: string
	readonly syncId: string
}

const byId = query<OfSync & { id: string }, { json: string }>((knex, key, dialect) =>
	knex('sync_record_errors')
		.where(key)
		.select(jsonColumn(knex, dialect, fields.SyncRecordError)),
)

/** An error of a sync. */
export async function findError(db: Db, key: OfSync & { readonly id: string }): Promise<SyncRecordError | undefined> {
	const row = await db.get(byId, key)
	return row && JSON.parse(row.json)
}

const decision = query<OfSync & { id: string; decision: SyncRecordError['decision'] }>((knex, { decision, ...key }) =>
	knex('sync_record_errors').where(key).update({ decision }),
)

/** Notes which side a caller uses. */
export const noteDecision = (db: Db, key: OfSync & { readonly id: string }, use: SyncRecordError['decision']) =>
	db.run(decision, { ...key, decision: use })

const reasonsOf = ({ errors }: { readonly errors: string | RecordFailure[] }): RecordFailure[] =>
	typeof errors === 'string' ? JSON.parse(errors) : errors

const openByKey = query<Key & { recordKey: string }, { errors: string | RecordFailure[] }>((knex, key) =>
	knex('sync_record_errors').where(key).whereNull('resolvedAt').select('errors'),
)

/** Why a record could not be written; none when it was since. */
export async function findOpenReasons(db: Db, key: Key & { readonly recordKey: string }): Promise<readonly RecordFailure[]> {
	const row = await db.get(openByKey, key)
	return row ? reasonsOf(row) : []
}

interface OfPair extends OfSync {
	readonly externalId: string | null
	readonly recordId: string
}

const decidedOf = (knex: Knex, { organizationId, syncId, externalId, recordId }: Placeholders<OfPair>) =>
	knex('sync_record_errors')
		.where({ organizationId, syncId })
		.whereNull('resolvedAt')
		.whereNotNull('decision')
		.whereRaw(`((direction = 'inbound' and "recordKey" = ?) or (direction = 'outbound' and "recordKey" = ?))`, [
			externalId,
			recordId,
		])

const decided = query<OfPair, { errors: string | RecordFailure[] }>((knex, of) => decidedOf(knex, of).select('errors'))
const undecided = query<OfPair>((knex, of) => decidedOf(knex, of).update({ decision: null }))

/** The reasons of the open errors of two records, of either way, of which a caller has decided something. */
export const findDecidedErrors = async (db: Db, of: OfPair): Promise<readonly RecordFailure[][]> =>
	(await db.all(decided, of)).map(reasonsOf)

/** Takes back what was decided of them. */
export const forgetDecisions = (db: Db, of: OfPair) => db.run(undecided, of)

interface Filters extends OfSync {
	readonly code?: string
	readonly direction?: Key['direction']
	readonly externalId?: string
	readonly recordId?: string
}

const hasCode = (dialect: Dialect) =>
	dialect === 'sqlite'
		? `exists (select 1 from json_each(errors) where value ->> 'code' = ?)`
		: "errors::jsonb @> jsonb_build_array(jsonb_build_object('code', cast(? as text)))"

const listOpen = listOf<Filters>({
	table: 'sync_record_errors',
	order: { column: 'id', direction: 'asc' },
	matching(knex, { code, ...filters }, dialect) {
		const rows = knex('sync_record_errors').where(filters).whereNull('resolvedAt')
		return code === undefined ? rows : rows.whereRaw(hasCode(dialect), [code])
	},
	columns: (knex, dialect) => jsonColumn(knex, dialect, fields.SyncRecordError),
	sparse: () => ['code', 'direction', 'externalId', 'recordId'],
})

/** A page of the open errors of a sync as JSON texts, oldest first. */
export const readOpenErrors = (db: Db, filters: Filters, page: PageQuery) => listOpen.readCounted(db, filters, page)

interface OfRun {
	readonly organizationId: string
	readonly syncId: string
	readonly runId: string
}

/** What failed in a run, and in no run after it, or in each of those that came next. */
const list = listOf<OfRun>({
	table: 'sync_record_errors',
	order: { column: 'id', direction: 'asc' },
	matching: (knex, { runId, ...key }) =>
		knex('sync_record_errors').where(key).where('runId', '>=', runId).where('firstRunId', '<=', runId),
	columns: (knex, dialect) => jsonColumn(knex, dialect, fields.SyncRecordError),
})

/** A page of the errors of a run as JSON texts, oldest first. */
export const readErrors = (db: Db, key: OfRun, page: PageQuery) => list.readCounted(db, key, page)

export type { SyncRecordError }
