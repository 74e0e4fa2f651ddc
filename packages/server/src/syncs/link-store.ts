// Writes what links a provider's record with one of Remit, and reads it page by page.
import type { Knex } from 'knex'
import { asNumber, type Db, query } from '../db/database.ts'
import { isAnyOf } from '../db/records.ts'
import { type Ids, type Link, type LinkRow, type LinkScope, linkColumns, linkOf } from '../mappings/link-store.ts'

type Written = Partial<Omit<Link, 'recordId'>> & {
	readonly seenRunId?: string
	readonly goneRunId?: null
	/** JSON text. */
	readonly lastSeen?: string
	readonly lastSeenAt?: number
}

const insertion = query<LinkScope & { recordId: string; createdAt: number; updatedAt: number } & Written>((knex, row) =>
	knex('sync_links').insert(row),
)

const change = query<LinkScope & { recordId: string; updatedAt: number } & Written>(
	(knex, { organizationId, connectionId, object, kind, recordId, ...values }) =>
		knex('sync_links').where({ organizationId, connectionId, object, kind, recordId }).update(values),
)

export const insertLink = (db: Db, scope: LinkScope, recordId: string, values: Written, now: number) =>
	db.run(insertion, { ...scope, recordId, ...values, createdAt: now, updatedAt: now })

export const changeLink = (db: Db, scope: LinkScope, recordId: string, values: Written, now: number) =>
	db.run(change, { ...scope, recordId, ...values, updatedAt: now })

const removal = query<LinkScope & { recordId: string }>((knex, key) => knex('sync_links').where(key).delete())

export const removeLink = (db: Db, { organizationId, connectionId, object, kind }: LinkScope, recordId: string) =>
	db.run(removal, { organizationId, connectionId, object, kind, recordId })

const pendingIds = query<LinkScope & { after: string; limit: number }, { recordId: string }>((knex, { after, limit, ...scope }) =>
	knex('sync_links')
		.where(scope)
		.whereNotNull('pending')
		.whereNull('externalId')
		.where('recordId', '>', after)
		.orderBy('recordId')
		.limit(asNumber(limit))
		.select('recordId'),
)

/** The next records of which nobody knows whether they were created at the provider. */
export const findPendingIds = async (db: Db, scope: LinkScope, after: string, limit: number): Promise<string[]> =>
	(await db.all(pendingIds, { ...scope, after, limit })).map(({ recordId }) => recordId)

const mark = (column: 'seenRunId' | 'goneRunId', by: 'externalId' | 'recordId') =>
	query<Ids & { runId: string }>((knex, { ids, runId, ...scope }, dialect) =>
		knex('sync_links')
			.where(scope)
			.whereRaw(isAnyOf(by, dialect), [ids])
			.update({ [column]: runId }),
	)

const seen = mark('seenRunId', 'externalId')
const gone = mark('goneRunId', 'externalId')
const goneRecords = mark('goneRunId', 'recordId')

/** Notes that a full run has read these records. */
export const markSeen = (db: Db, scope: LinkScope, ids: readonly string[], runId: string) =>
	db.run(seen, { ...scope, ids, runId })

/** Notes that the provider says that these records are deleted. */
export const markGone = (db: Db, scope: LinkScope, ids: readonly string[], runId: string) =>
	db.run(gone, { ...scope, ids, runId })

const unmark = query<Ids & { runId: string }>((knex, { ids, runId, ...scope }, dialect) =>
	knex('sync_links')
		.where({ ...scope, goneRunId: runId })
		.whereRaw(isAnyOf('externalId', dialect), [ids])
		.update({ goneRunId: null }),
)

/** Takes back that these records are deleted: the same run has read them since. */
export const unmarkGone = (db: Db, scope: LinkScope, ids: readonly string[], runId: string) =>
	db.run(unmark, { ...scope, ids, runId })

/** Notes that these records of Remit were deleted. */
export const markRecordsGone = (db: Db, scope: LinkScope, ids: readonly string[], runId: string) =>
	db.run(goneRecords, { ...scope, ids, runId })

interface Lost {
	readonly runId: string
	/** Also those that a full run which began then has not read, though they were there. */
	readonly unseenBefore?: number
}

function lost(rows: Knex.QueryBuilder, runId: Knex.Value, unseenBefore: Knex.Value | undefined) {
	if (unseenBefore === undefined) return rows.whereNotNull('externalId').whereRaw('"goneRunId" = ?', [runId])
	const unseen = `("seenRunId" is null or "seenRunId" <> ?) and "createdAt" <= ?`
	return rows.whereNotNull('externalId').whereRaw(`("goneRunId" = ? or (${unseen}))`, [runId, runId, unseenBefore])
}

const candidates = query<LinkScope & Lost & { after: string; limit: number }, LinkRow & { goneRunId: string | null }>(
	(knex, { runId, unseenBefore, after, limit, ...scope }) =>
		lost(knex('sync_links').where(scope).where('recordId', '>', after), runId, unseenBefore)
			.orderBy('recordId')
			.limit(asNumber(limit))
			.select(...linkColumns, 'goneRunId'),
)

/** Links whose provider's record is deleted, or was not read by a full run; by id, after one. */
export const findLost = async (db: Db, scope: LinkScope, of: Lost, after: string, limit: number) =>
	(await db.all(candidates, { ...scope, ...of, after, limit })).map(({ goneRunId, ...row }) => ({
		...linkOf(row),
		isToldGone: goneRunId === of.runId,
	}))

const countOfLost = query<LinkScope & Lost, { total: number }>((knex, { runId, unseenBefore, ...scope }) =>
	lost(knex('sync_links').where(scope), runId, unseenBefore).count({ total: '*' }),
)

export const countLost = async (db: Db, scope: LinkScope, of: Lost) =>
	(await db.get(countOfLost, { ...scope, ...of }))?.total ?? 0

const countOfLinks = query<LinkScope, { total: number }>((knex, scope) =>
	knex('sync_links').where(scope).whereNotNull('externalId').count({ total: '*' }),
)

export const countLinks = async (db: Db, scope: LinkScope) => (await db.get(countOfLinks, scope))?.total ?? 0

interface Seen {
	readonly recordId: string
	readonly lastSeen: string | null
	readonly lastSeenAt: number | null
	readonly createdAt: number
	readonly updatedAt: number
}

const one = query<LinkScope & { externalId: string }, Seen>((knex, key, dialect) =>
	knex('sync_links')
		.where(key)
		.select('recordId', 'lastSeenAt', 'createdAt', 'updatedAt', {
			lastSeen: dialect === 'sqlite' ? 'lastSeen' : knex.raw('"lastSeen"::text'),
		}),
)

/** A link with what the provider last said of its record. */
export const findSeen = (db: Db, scope: LinkScope, externalId: string) => db.get(one, { ...scope, externalId })
