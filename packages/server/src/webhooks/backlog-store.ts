// What pausing, deleting and redelivering do to an endpoint's deliveries, of which there may be millions. The request changes a
// first part; what is left is noted on the endpoint, and the engine's part of backlogs.ts goes on with it, also after a kill.
import { beginningOf } from '../base/ids.ts'
import { asNumber, type Database, type Db, type Dialect, query } from '../db/database.ts'
import { hasEarlier, isWaiting, ofRecord } from '../events/fan-out-store.ts'

/** Deliveries that one transaction changes at most, twice that when they wait in two indexes: some 10 ms on SQLite, where all wait for it. */
const partSize = 250

export interface EndpointKey {
	readonly organizationId: string
	readonly id: string
}

/** After all ids of deliveries. */
const endOfIds = 'whd_~'

interface Ending {
	readonly organizationId: string
	readonly endpointId: string
	readonly status: 'skipped' | 'cancelled'
	readonly upTo: string
	readonly now: number
}

/**
 * A delivery that waits is in one of two indexes: of what is due, or behind another. One under way is left to its result. By itself
 * SQLite would walk all deliveries of the endpoint, done or not.
 */
const endPart = query<Ending>((knex, { organizationId, endpointId, status, upTo, now }, dialect) => {
	const from = (index: string) =>
		`from webhook_deliveries ${dialect === 'sqlite' ? `indexed by ${index}` : ''} where "organizationId" = ? and "endpointId" = ?`
	const part = `select id from (select id ${from('webhook_deliveries_due')} and "nextAttemptAt" is not null and id <= ?
			and (status in ('pending', 'retrying') or "nextAttemptAt" <= ?) limit ${partSize}) as due
		union all
		select id from (select id ${from('webhook_deliveries_behind')} and status = 'pending' and "nextAttemptAt" is null
			and id <= ? limit ${partSize}) as behind`
	const mine = [organizationId, endpointId]
	return knex.raw(
		`update webhook_deliveries set status = ?, "nextAttemptAt" = null, "updatedAt" = ?
		where "organizationId" = ? and ${isIn(part, dialect)}`,
		[status, now, organizationId, ...mine, upTo, now, ...mine, upTo],
	)
})

/** PostgreSQL computes an array once, but may run the subquery of an `in` again for every row of the table. */
const isIn = (ids: string, dialect: Dialect) => (dialect === 'sqlite' ? `id in (${ids})` : `id = any(array(${ids}))`)

/** Notes what is left up to the endpoint's newest delivery. A redelivery that was still under way ends. */
const noteEnding = query<EndpointKey & { isLeft: boolean }>((knex, { organizationId, id, isLeft }) =>
	knex.raw(
		`update webhook_endpoints set "againAfter" = null, "againUpTo" = null, "skipUpTo" = case when ? then (
			select max(d.id) from webhook_deliveries d where d."organizationId" = webhook_endpoints."organizationId"
			and d."endpointId" = webhook_endpoints.id) end
		where "organizationId" = ? and id = ?`,
		[isLeft, organizationId, id],
	),
)

/** Skips what waits for a paused or disabled endpoint, or cancels what waits for a deleted one. The caller holds its lock. */
export async function endWaiting(db: Db, key: EndpointKey, status: Ending['status'], now: number): Promise<void> {
	const { organizationId, id } = key
	const count = await db.run(endPart, { organizationId, endpointId: id, status, upTo: endOfIds, now })
	await db.run(noteEnding, { organizationId, id, isLeft: count >= partSize })
}

interface Range {
	readonly organizationId: string
	readonly endpointId: string
	readonly after: string
	readonly upTo: string
}

/**
 * SQL: whether a delivery of an earlier event of the record waits, or is still to be made again. Events of one millisecond have ids
 * in any order, so that it may be in a later part.
 */
const hasEarlierToCome = `exists (select 1 ${ofRecord('a."endpointId"')} where b."organizationId" = a."organizationId"
	and b."resourceId" = a."resourceId" and b.sequence < a.sequence
	and (d.${isWaiting} or (d.status in ('skipped', 'exhausted') and d.id > ? and d.id <= ?)))`

/** Of a record's deliveries only the first becomes due: the others wait for it. */
const againPart = query<Range & { now: number }, { id: string }>(
	(knex, { organizationId, endpointId, after, upTo, now }, dialect) =>
		knex.raw(
			`with part as (
			select id, "resourceId", sequence from webhook_deliveries where "organizationId" = ? and "endpointId" = ?
			and status in ('skipped', 'exhausted') and id > ? and id <= ? order by id limit ${partSize}
		), again as (select id, row_number() over (partition by "resourceId" order by sequence) as place from part)
		update webhook_deliveries as a set status = 'pending', "retryCount" = 0, "updatedAt" = ?,
			"nextAttemptAt" = case when again.place = 1 and not ${hasEarlierToCome} then ${dialect === 'sqlite' ? '?' : '?::bigint'} end
		from again where a."organizationId" = ? and a.id = again.id returning ${dialect === 'sqlite' ? '' : 'a.'}id`,
			[organizationId, endpointId, after, upTo, now, after, upTo, now, organizationId],
		),
)

const noteAgain = query<EndpointKey & { after: string | null }>((knex, { organizationId, id, after }) =>
	knex.raw(
		`update webhook_endpoints set "againAfter" = ?, "againUpTo" = (
			select max(d.id) from webhook_deliveries d where d."organizationId" = webhook_endpoints."organizationId"
			and d."endpointId" = webhook_endpoints.id)
		where "organizationId" = ? and id = ?`,
		[after, organizationId, id],
	),
)

const countRange = 10_000

const counted = query<{ organizationId: string; endpointId: string; after: string }, { count: number; last: string | null }>(
	(knex, { organizationId, endpointId, after }) =>
		knex
			.from(
				knex('webhook_deliveries')
					.where({ organizationId, endpointId })
					.whereRaw(`status in ('skipped', 'exhausted')`)
					.where('id', '>', after)
					.orderBy('id')
					.limit(asNumber(countRange), { skipBinding: true })
					.select('id')
					.as('some'),
			)
			.count({ count: '*' })
			.max({ last: 'id' }),
)

/** The number of an endpoint's skipped and exhausted deliveries that were written from `since` on. Not in a transaction: on SQLite it lets others in between. */
export async function countUndelivered(db: Db, { organizationId, id }: EndpointKey, since: number): Promise<number> {
	let total = 0
	for (let after: string | null = beginningOf('whd', since); after !== null; ) {
		const found: { count: number; last: string | null } | undefined = await db.get(counted, {
			organizationId,
			endpointId: id,
			after,
		})
		total += found?.count ?? 0
		after = (found?.count ?? 0) < countRange ? null : (found?.last ?? null)
		await new Promise((resolve) => setImmediate(resolve))
	}
	return total
}

/**
 * Makes an endpoint's skipped and exhausted deliveries due again, those written from `since` on: a first part now, the rest soon.
 * Returns how many the part has, and whether it was all. The caller holds the endpoint's lock.
 */
export async function deliverAllAgain(db: Db, { organizationId, id }: EndpointKey, since: number, now: number) {
	const after = beginningOf('whd', since)
	const part = await db.all(againPart, { organizationId, endpointId: id, after, upTo: endOfIds, now })
	const isAll = part.length < partSize
	if (!isAll) await db.run(noteAgain, { organizationId, id, after: lastOf(part) })
	return { count: part.length, isAll }
}

const lastOf = (part: readonly { id: string }[]) =>
	part
		.map(({ id }) => id)
		.toSorted()
		.at(-1) ?? ''

interface Backlog extends EndpointKey {
	readonly deletedAt: number | null
	readonly skipUpTo: string | null
	readonly againAfter: string | null
	readonly againUpTo: string | null
}

const hasBacklog = `("skipUpTo" is not null or "againUpTo" is not null)`

const backlogs = query<object, EndpointKey>((knex) =>
	knex('webhook_endpoints').whereRaw(hasBacklog).select('organizationId', 'id'),
)

/** The endpoints of which something is left to do. */
export const findBacklogs = (db: Db) => db.all(backlogs, {})

/** Changes of an endpoint's key columns aside, nothing waits for this lock but other changes of the endpoint. */
const lockBacklog = query<EndpointKey, Backlog>((knex, key, dialect) => {
	const row = knex('webhook_endpoints').where(key).whereRaw(hasBacklog)
	const columns = row.select('organizationId', 'id', 'deletedAt', 'skipUpTo', 'againAfter', 'againUpTo')
	return dialect === 'sqlite' ? columns : columns.forNoKeyUpdate().skipLocked()
})

const noteLeft = query<Omit<Backlog, 'deletedAt'>>((knex, { organizationId, id, ...left }) =>
	knex('webhook_endpoints').where({ organizationId, id }).update(left),
)

/** New deliveries may have been written behind those that were skipped since, if the endpoint is active again. */
const letGo = query<{ organizationId: string; endpointId: string; now: number }>((knex, { organizationId, endpointId, now }) =>
	knex.raw(
		`update webhook_deliveries as behind set "nextAttemptAt" = ?
		where "organizationId" = ? and "endpointId" = ? and status = 'pending' and "nextAttemptAt" is null and not ${hasEarlier('behind')}`,
		[now, organizationId, endpointId],
	),
)

/** Goes on with one endpoint by one part; false when nothing is left of it, or another process is at it. */
export const workOffPart = (db: Database, key: EndpointKey, now: number): Promise<boolean> =>
	db.transaction(
		async (tx) => {
			const backlog = await tx.get(lockBacklog, { organizationId: key.organizationId, id: key.id })
			if (!backlog) return false
			return backlog.skipUpTo === null ? goOnAgain(tx, backlog, now) : goOnEnding(tx, backlog, backlog.skipUpTo, now)
		},
		// A power cut may undo the part together with the note of what is left.
		{ durable: false },
	)

async function goOnEnding(tx: Db, { organizationId, id, deletedAt }: Backlog, upTo: string, now: number): Promise<boolean> {
	const status = deletedAt === null ? 'skipped' : 'cancelled'
	const count = await tx.run(endPart, { organizationId, endpointId: id, status, upTo, now })
	if (count >= partSize) return true
	await tx.run(letGo, { organizationId, endpointId: id, now })
	await tx.run(noteLeft, { organizationId, id, skipUpTo: null, againAfter: null, againUpTo: null })
	return false
}

async function goOnAgain(tx: Db, { organizationId, id, againAfter, againUpTo }: Backlog, now: number): Promise<boolean> {
	const range = { organizationId, endpointId: id, after: againAfter ?? '', upTo: againUpTo ?? '' }
	const part = await tx.all(againPart, { ...range, now })
	const isLeft = part.length >= partSize
	const left = isLeft ? { againAfter: lastOf(part), againUpTo } : { againAfter: null, againUpTo: null }
	await tx.run(noteLeft, { organizationId, id, skipUpTo: null, ...left })
	return isLeft
}

const skipping = query<EndpointKey, EndpointKey>((knex, { organizationId, id }) =>
	knex('webhook_endpoints').where({ organizationId, id }).whereNotNull('skipUpTo').select('organizationId', 'id'),
)

/** Whether deliveries of an endpoint, which may be active again by now, are still to be skipped. */
export const isSkipping = async (db: Db, { organizationId, id }: EndpointKey): Promise<boolean> =>
	(await db.get(skipping, { organizationId, id })) !== undefined
