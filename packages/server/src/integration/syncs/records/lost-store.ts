// Links that have lost their other side, looked at part by part: what a run may delete.
import type { Knex } from 'knex'
import type { SyncRun } from '../../../generated/contract.ts'
import { asNumber, type Db, type Placeholders, query } from '../../../platform/db/database.ts'
import type { Capabilities } from '../../connections/records/records.ts'
import { type LinkRow, type LinkScope, linkColumns, linkOf } from '../../mappings/link-store.ts'

/** Links that are looked at together: on SQLite every other writer waits meanwhile. */
const together = 1_000

const end = query<LinkScope & { after: string }, { recordId: string }>((knex, { after, ...scope }) =>
	knex('sync_links')
		.where(scope)
		.where('recordId', '>', after)
		.orderBy('recordId')
		.offset(together - 1, { skipBinding: true })
		.limit(1, { skipBinding: true })
		.select('recordId'),
)

/** A part of the links, by the ids of their records. */
export interface Part {
	readonly after: string
	/** The last one of the part; absent for all that follow. */
	readonly upTo?: string
}

/** The next part of the links of two objects, after an id. */
export async function nextPart(db: Db, { organizationId, connectionId, object, kind }: LinkScope, after: string): Promise<Part> {
	const last = await db.get(end, { organizationId, connectionId, object, kind, after })
	return { after, ...(last && { upTo: last.recordId }) }
}

/** Keeps the rows of a part. */
export function withinPart(rows: Knex.QueryBuilder, after: Knex.Value, upTo: Knex.Value | undefined): Knex.QueryBuilder {
	rows.where('recordId', '>', after)
	return upTo === undefined ? rows : rows.where('recordId', '<=', upTo)
}

export interface Lost {
	readonly runId: string
	/** Also those that a full run which began then has not read, though they were there. */
	readonly unseenBefore?: number
	/** Of these, only those that no run has read since this one, either. */
	readonly unseenSince?: string
	/** None that the provider's own record holds: a conflict that nobody has decided. */
	readonly isFree?: true
	/** Only those that were linked before, */
	readonly linkedBefore?: number
	/** and that no run has read since this one. */
	readonly readBefore?: string
}

const free = 'and ("heldBy" is null or "heldBy" <> "externalId")'

/** The condition of links that have lost their other side. */
export function lost({
	runId,
	unseenBefore,
	unseenSince,
	isFree,
}: Placeholders<Lost>): readonly [sql: string, values: Knex.Value[]] {
	if (unseenBefore === undefined) return [`("goneRunId" = ? ${isFree === undefined ? '' : free})`, [runId]]
	const earlier = unseenSince === undefined ? '' : 'and "seenRunId" < ?'
	const unseen = `("seenRunId" is null or ("seenRunId" <> ? ${earlier})) and "createdAt" <= ?`
	return [`("goneRunId" = ? or (${unseen}))`, [runId, runId, ...(unseenSince === undefined ? [] : [unseenSince]), unseenBefore]]
}

function older(rows: Knex.QueryBuilder, { linkedBefore, readBefore }: Pick<Placeholders<Lost>, 'linkedBefore' | 'readBefore'>) {
	if (linkedBefore !== undefined) rows.where('createdAt', '<', linkedBefore)
	if (readBefore !== undefined) rows.whereRaw('("seenRunId" is null or "seenRunId" < ?)', [readBefore])
	return rows
}

const candidates = query<LinkScope & Lost & Part & { limit: number }, LinkRow & { goneRunId: string | null }>(
	(knex, { runId, unseenBefore, unseenSince, isFree, linkedBefore, readBefore, after, upTo, limit, ...scope }) =>
		older(withinPart(knex('sync_links').where(scope), after, upTo), { linkedBefore, readBefore })
			.whereNotNull('externalId')
			.whereRaw(...lost({ runId, unseenBefore, unseenSince, isFree }))
			.orderBy('recordId')
			.limit(asNumber(limit))
			.select(...linkColumns, 'goneRunId'),
)

/** Links whose provider's record is deleted, or was not read by a full run; by id, in a part of all. */
export const findLost = async (db: Db, scope: LinkScope, of: Lost, part: Part, limit: number) =>
	(await db.all(candidates, { ...scope, ...of, ...part, limit })).map(({ goneRunId, ...row }) => ({
		...linkOf(row),
		isToldGone: goneRunId === of.runId,
	}))

const countOfPart = query<LinkScope & Lost & Part, { linked: number; lost: number }>(
	(knex, { runId, unseenBefore, unseenSince, isFree, after, upTo, ...scope }) => {
		const [sql, values] = lost({ runId, unseenBefore, unseenSince, isFree })
		return withinPart(knex('sync_links').where(scope), after, upTo)
			.whereNotNull('externalId')
			.count({ linked: '*' })
			.select(knex.raw(`count(case when ${sql} then 1 end) as lost`, values as never))
	},
)

/** How many links a part has, and how many of them have lost their other side. */
export const countPart = async (db: Db, scope: LinkScope, of: Lost, part: Part) =>
	(await db.get(countOfPart, { ...scope, ...of, ...part })) ?? { linked: 0, lost: 0 }

const nth = query<LinkScope & { skipped: number }, { recordId: string }>((knex, { skipped, ...scope }) =>
	knex('sync_links')
		.where(scope)
		.whereNotNull('externalId')
		.orderBy('recordId')
		.offset(asNumber(skipped))
		.limit(1, { skipBinding: true })
		.select('recordId'),
)

/** Whether there are so many linked records; looks at no more than these. */
export const hasLinks = async (db: Db, scope: LinkScope, atLeast: number): Promise<boolean> =>
	(await db.get(nth, { ...scope, skipped: atLeast - 1 })) !== undefined

/**
 * What a run may delete. A page that moves while a list is read hides a record: one that was not listed is deleted where it can be
 * asked for by its id, or where all is on one page, or else when the full pass before has not met it, either. What was linked while
 * a pass went on may stand on a page that it had read before.
 */
export function lostIn(
	{
		run,
		checkpoint,
		capabilities,
		isInbound,
	}: {
		readonly run: SyncRun
		readonly checkpoint: { readonly phase: string; readonly passBefore?: { readonly runId: string; readonly startedAt: number } }
		readonly capabilities: Capabilities
		/** Whether the sync reads the provider. */
		readonly isInbound: boolean
	},
	isFull: boolean,
): Lost {
	// Without a way in, nobody would decide.
	if (checkpoint.phase === 'pushDeletions') return { runId: run.id, ...(isInbound && { isFree: true }) }
	if (!isFull) return { runId: run.id }
	const { readsOne, listsAtOnce } = capabilities
	if (readsOne || listsAtOnce) return { runId: run.id, unseenBefore: run.startedAt ?? run.createdAt }
	const before = checkpoint.passBefore
	return before ? { runId: run.id, unseenBefore: before.startedAt, unseenSince: before.runId } : { runId: run.id }
}
