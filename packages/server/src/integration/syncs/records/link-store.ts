// Writes what links a provider's record with one of Remit, and reads it page by page.
import type { Knex } from 'knex'
import { asNumber, type Db, type Dialect, type Placeholders, query } from '../../../platform/db/database.ts'
import {
	countRows,
	cutPage,
	type PageParameters,
	type PageQuery,
	type Place,
	pageParameters,
	skipTo,
	totalOf,
} from '../../../platform/db/pages.ts'
import { isAnyOf } from '../../../platform/db/records.ts'
import type { Ids, Link, LinkScope } from '../../mappings/link-store.ts'
import { type Lost, lost } from './lost-store.ts'

type Written = Partial<Omit<Link, 'recordId'>> & {
	readonly goneRunId?: null
	/** JSON text. */
	readonly lastSeen?: string | null
	readonly lastSeenAt?: number | null
}

/** What a link says of a record at the provider that it is not linked with yet. */
export const unknown = {
	externalHash: null,
	internalHash: null,
	pushedHash: null,
	remoteHash: null,
	overruled: null,
	lastSeen: null,
	lastSeenAt: null,
} as const

/** What is left of a link whose record at the provider is gone: that of Remit can be created there anew. */
export const unlinked = { ...unknown, externalId: null, pending: null, goneRunId: null, heldBy: null, heldRunId: null } as const

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

const heldBy = (knex: Knex, { ids, ...scope }: Placeholders<Ids>, dialect: Dialect) =>
	knex('sync_links').where(scope).whereNotNull('heldBy').whereRaw(isAnyOf('heldBy', dialect), [ids])

const heldBack = query<Ids & { pushedBy: string }>((knex, { pushedBy, ...key }, dialect) =>
	heldBy(knex, key, dialect)
		.whereNull('pending')
		.whereRaw('("externalId" is null or "externalId" = "heldBy")')
		.update({
			heldBy: null,
			heldRunId: null,
			decision: knex.raw(`coalesce(decision, 'applied')`),
			decidedFor: knex.raw('coalesce("decidedFor", ?)', [pushedBy]),
		}),
)
const heldAlone = query<Ids>((knex, key, dialect) =>
	heldBy(knex, key, dialect).whereNull('externalId').whereNull('pending').delete(),
)
const heldLinked = query<Ids>((knex, key, dialect) => heldBy(knex, key, dialect).update({ heldBy: null, heldRunId: null }))

/** Lets go of the records of Remit that these records of the provider hold. With the id of a sync, its run has then to look whether they go out. */
export async function releaseHeld(db: Db, scope: LinkScope, ids: readonly string[], pushedBy?: string): Promise<void> {
	if (pushedBy !== undefined) await db.run(heldBack, { ...scope, ids, pushedBy })
	await db.run(heldAlone, { ...scope, ids })
	await db.run(heldLinked, { ...scope, ids })
}

interface Listed {
	readonly recordId: string
	readonly externalId: string | null
	readonly lastSeenAt: number | null
	readonly createdAt: number
	readonly updatedAt: number
}

const listedColumns = ['recordId', 'externalId', 'lastSeenAt', 'createdAt', 'updatedAt'] as const

interface Filter extends Partial<Lost> {
	readonly recordId?: string
	readonly isLinked?: true
	readonly isUnclear?: true
}

/** A write that was refused leaves a link that says nothing. */
function saying(
	knex: Knex,
	{ isLinked, isUnclear, recordId, runId, unseenBefore, unseenSince, isFree, ...scope }: Placeholders<LinkScope & Filter>,
): Knex.QueryBuilder {
	const rows = knex('sync_links').where(scope)
	if (recordId !== undefined) rows.where({ recordId })
	if (runId !== undefined)
		return rows.whereNotNull('externalId').whereRaw(...lost({ runId, unseenBefore, unseenSince, isFree } as Placeholders<Lost>))
	if (isLinked !== undefined) return rows.whereNotNull('externalId')
	if (isUnclear !== undefined) return rows.whereNull('externalId').whereNotNull('pending')
	return rows.whereRaw('("externalId" is not null or pending is not null)')
}

type Listing = LinkScope & Filter & PageParameters

/** The links on a page, by the ids of their records. */
function paged(knex: Knex, { limit, offset, afterKey: _, afterId, ...filter }: Placeholders<Listing>): Knex.QueryBuilder {
	const rows = saying(knex, filter as Placeholders<LinkScope & Filter>)
	if (afterId !== undefined) rows.where('recordId', '>', afterId)
	return rows.orderBy('recordId').limit(asNumber(limit)).offset(asNumber(offset))
}

const page = query<Listing, Listed>((knex, listing) => paged(knex, listing).select(...listedColumns))
const step = query<Listing, Place>((knex, listing) => paged(knex, listing).select({ key: 'recordId', id: 'recordId' }))
const count = query<LinkScope & Filter, { total: number }>((knex, filter) => countRows(knex, saying(knex, filter)))

/** A page of the links of two objects. */
export async function readLinks(db: Db, filter: LinkScope & Filter, asked: PageQuery) {
	const at = await skipTo(db, 'sync_links', step, filter, asked)
	const { rows, hasMore } = cutPage(at ? await db.all(page, { ...filter, ...pageParameters(at) }) : [], asked.limit)
	const last = rows.at(-1)?.recordId
	const counted = async () => (await db.get(count, filter))?.total
	const total = asked.after ? null : await totalOf(asked, { length: rows.length, hasMore }, counted)
	return { rows, hasMore, total, ...(hasMore && last !== undefined && { end: { key: last, id: last } }) }
}

const one = (by: 'externalId' | 'recordId') =>
	query<LinkScope & { id: string }, Listed & { lastSeen: string | null }>((knex, { id, ...scope }, dialect) => {
		const rows = knex('sync_links').where({ ...scope, [by]: id })
		if (by === 'recordId') rows.whereNull('externalId').whereNotNull('pending')
		return rows.select(...listedColumns, { lastSeen: dialect === 'sqlite' ? 'lastSeen' : knex.raw('"lastSeen"::text') })
	})

const linked = one('externalId')
const unclear = one('recordId')

/** A link with what the provider last said of its record, by its id at the provider, or of one that is unclear in Remit. */
export const findSeen = async (db: Db, scope: LinkScope, id: string) =>
	(await db.get(linked, { ...scope, id })) ?? (await db.get(unclear, { ...scope, id }))
