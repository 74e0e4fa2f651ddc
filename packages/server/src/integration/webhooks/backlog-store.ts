// What pausing, deleting, redelivering and a recovery do to an endpoint's deliveries, of which there may be millions. The request changes a
// first part; what is left is noted on the endpoint, and the engine's part of backlogs.ts goes on with it, also after a kill.
import type { Knex } from 'knex'
import { type Database, type Db, type Dialect, type Placeholders, query } from '../../platform/db/database.ts'
import { hasEarlier, isFreeOfAll } from '../../platform/events/fan-out-store.ts'
import type { EndpointKey } from './endpoint-store.ts'
import { type Forward, forwardPart } from './recovery-store.ts'
import { againPart, endOfIds, type Wanted } from './redelivery-store.ts'

/** Deliveries that one transaction changes at most, twice that when they wait in two indexes: some 10 ms on SQLite, where all wait for it. */
const partSize = 250

interface Ending {
	readonly organizationId: string
	readonly endpointId: string
	readonly status: 'skipped' | 'cancelled'
	readonly upTo: string
	readonly now: number
}

type Waiting = Pick<Ending, 'organizationId' | 'endpointId' | 'upTo' | 'now'>

/**
 * A delivery that waits is in one of two indexes: of what is due, or behind another. One under way is left to its result. By itself
 * SQLite would walk all deliveries of the endpoint, done or not.
 */
const waiting = (
	knex: Knex,
	{ organizationId, endpointId, upTo, now }: Placeholders<Waiting>,
	dialect: Dialect,
	end: string,
	isFree = knex.raw(isFreeOfAll, [now, now]),
) => {
	const from = (index: string) =>
		`from webhook_deliveries ${dialect === 'sqlite' ? `indexed by ${index}` : ''} where "organizationId" = ? and "endpointId" = ?`
	const mine = [organizationId, endpointId]
	return knex.raw(
		`select id from (select id ${from('webhook_deliveries_due')} and "nextAttemptAt" is not null and id <= ?
			and ? ${end}) as due
		union all
		select id from (select id ${from('webhook_deliveries_behind')} and status = 'pending' and "nextAttemptAt" is null
			and id <= ? ${end}) as behind`,
		[...mine, upTo, isFree, ...mine, upTo],
	)
}

/** PostgreSQL leaves out what another transaction has, such as one that makes it due: each could wait for a row of the other. */
const endPart = query<Ending>((knex, { organizationId, status, now, ...of }, dialect) => {
	const end = `limit ${partSize} ${dialect === 'sqlite' ? '' : 'for update skip locked'}`
	return knex.raw(
		`update webhook_deliveries set status = ?, leased = false, "leaseEnd" = null, "nextAttemptAt" = null, "scheduledAt" = null, "holdsUntil" = null, "updatedAt" = ?
		where "organizationId" = ? and ${isIn[dialect]}`,
		[status, now, organizationId, waiting(knex, { organizationId, now, ...of }, dialect, end)],
	)
})

/** PostgreSQL computes an array once, but may run the subquery of an `in` again for every row of the table. */
const isIn = { sqlite: 'id in (?)', postgres: 'id = any(array(?))' }

const anyLeft = {
	skipped: query<Waiting>((knex, of, dialect) => firstOf(knex, waiting(knex, of, dialect, 'limit 1'))),
	/** Also one under way, whose result may be written by a statement that began before the endpoint was deleted, and does not see it. */
	cancelled: query<Waiting>((knex, of, dialect) => firstOf(knex, waiting(knex, of, dialect, 'limit 1', knex.raw('true')))),
}

const firstOf = (knex: Knex, rows: Knex.Raw) => knex.from(rows.wrap('(', ') as any_left')).select('id').limit(1)

/** How many deliveries have been ended, and whether others are left. */
async function end(db: Db, { status, ...of }: Ending): Promise<{ isFull: boolean; isLeft: boolean }> {
	const isFull = (await db.run(endPart, { status, ...of })) >= partSize
	return { isFull, isLeft: isFull || (db.dialect === 'postgres' && (await db.get(anyLeft[status], of)) !== undefined) }
}

/** Notes what is left up to the endpoint's newest delivery. A redelivery that was still under way ends. */
const noteEnding = query<EndpointKey & { isLeft: boolean }>((knex, { organizationId, id, isLeft }) =>
	knex.raw(
		`update webhook_endpoints set "againAfter" = null, "againUpTo" = null, "forwardAfter" = null, "forwardFrom" = null, "skipUpTo" = case when ? then (
			select max(d.id) from webhook_deliveries d where d."organizationId" = webhook_endpoints."organizationId"
			and d."endpointId" = webhook_endpoints.id) end
		where "organizationId" = ? and id = ?`,
		[isLeft, organizationId, id],
	),
)

/** Skips what waits for a paused or disabled endpoint, or cancels what waits for a deleted one. The caller holds its lock. */
export async function endWaiting(db: Db, key: EndpointKey, status: Ending['status'], now: number): Promise<void> {
	const { organizationId, id } = key
	const { isLeft } = await end(db, { organizationId, endpointId: id, status, upTo: endOfIds, now })
	await db.run(noteEnding, { organizationId, id, isLeft })
}

interface Backlog extends EndpointKey, Omit<Forward, 'forwardAfter'> {
	readonly deletedAt: number | null
	readonly skipUpTo: string | null
	readonly againAfter: string | null
	readonly againUpTo: string | null
	readonly againStatus: Wanted
	readonly forwardAfter: string | null
}

/** As the index of them says it: an endpoint that fails again has nothing brought forward until it works. */
const hasBacklog = `("skipUpTo" is not null or "againUpTo" is not null or ("forwardAfter" is not null and "failingSince" is null))`

const backlogs = query<object, EndpointKey>((knex) =>
	knex('webhook_endpoints').whereRaw(hasBacklog).select('organizationId', 'id'),
)

/** The endpoints of which something is left to do. */
export const findBacklogs = (db: Db) => db.all(backlogs, {})

/** Changes of an endpoint's key columns aside, nothing waits for this lock but other changes of the endpoint. */
const lockBacklog = query<EndpointKey, Backlog>((knex, key, dialect) => {
	const row = knex('webhook_endpoints').where(key).whereRaw(hasBacklog)
	const columns = row
		.select('organizationId', 'id', 'deletedAt', 'skipUpTo', 'againAfter', 'againUpTo', 'againStatus')
		.select('forwardAfter', 'forwardFrom', 'forwardTo')
	return dialect === 'sqlite' ? columns : columns.forNoKeyUpdate().skipLocked()
})

type Left = Partial<Pick<Backlog, 'skipUpTo' | 'againAfter' | 'againUpTo' | 'forwardAfter'>> & { readonly forwardFrom?: null }

const noteLeft = query<EndpointKey & Left>((knex, { organizationId, id, ...left }) =>
	knex('webhook_endpoints').where({ organizationId, id }).update(left),
)

/** New deliveries may have been written behind those that were skipped since, if the endpoint is active again. */
const letGo = query<{ organizationId: string; endpointId: string; now: number }>(
	(knex, { organizationId, endpointId, now }, dialect) =>
		knex.raw(
			`update webhook_deliveries as behind set "nextAttemptAt" = ?
		where "organizationId" = ? and "endpointId" = ? and status = 'pending' and "nextAttemptAt" is null and not ${hasEarlier('behind', dialect)}`,
			[now, organizationId, endpointId],
		),
)

/** Goes on with one endpoint by one part; false when nothing is left of it but what another transaction has, or another process is at it. */
export const workOffPart = (db: Database, key: EndpointKey, now: number): Promise<boolean> =>
	db.transaction(
		async (tx) => {
			const backlog = await tx.get(lockBacklog, { organizationId: key.organizationId, id: key.id })
			if (!backlog) return false
			if (backlog.skipUpTo !== null) return goOnEnding(tx, backlog, backlog.skipUpTo, now)
			if (backlog.againUpTo !== null) return goOnAgain(tx, backlog, backlog.againUpTo, now)
			return goOnForward(tx, backlog, now)
		},
		// A power cut may undo the part together with the note of what is left.
		{ durable: false },
	)

async function goOnEnding(tx: Db, { organizationId, id, deletedAt }: Backlog, upTo: string, now: number): Promise<boolean> {
	const status = deletedAt === null ? 'skipped' : 'cancelled'
	const { isFull, isLeft } = await end(tx, { organizationId, endpointId: id, status, upTo, now })
	if (isLeft) return isFull
	await tx.run(letGo, { organizationId, endpointId: id, now })
	await tx.run(noteLeft, { organizationId, id, skipUpTo: null, againAfter: null, againUpTo: null })
	return false
}

async function goOnAgain(tx: Db, backlog: Backlog, upTo: string, now: number): Promise<boolean> {
	const { organizationId, id, againAfter, againStatus, forwardAfter } = backlog
	const { last } = await againPart(tx, againStatus, { organizationId, endpointId: id, after: againAfter ?? '', upTo }, now)
	await tx.run(noteLeft, { organizationId, id, againAfter: last, againUpTo: last === null ? null : upTo })
	return last !== null || forwardAfter !== null
}

async function goOnForward(tx: Db, { organizationId, id, forwardAfter, ...left }: Backlog, now: number): Promise<boolean> {
	const last = await forwardPart(tx, { organizationId, id }, { ...left, forwardAfter: forwardAfter ?? '' }, now)
	const end = last === null && { forwardFrom: null }
	if (last !== forwardAfter) await tx.run(noteLeft, { organizationId, id, forwardAfter: last, ...end })
	return last !== null && last !== forwardAfter
}

const noted = query<EndpointKey, Pick<Backlog, 'skipUpTo' | 'againUpTo'>>((knex, { organizationId, id }) =>
	knex('webhook_endpoints').where({ organizationId, id }).whereRaw(hasBacklog).select('skipUpTo', 'againUpTo'),
)

/** What goes on of an endpoint's deliveries: they are skipped, though it may be active again by now, or made again. */
export async function findUnderWay(db: Db, { organizationId, id }: EndpointKey): Promise<'skipping' | 'again' | undefined> {
	const backlog = await db.get(noted, { organizationId, id })
	if (backlog && backlog.skipUpTo !== null) return 'skipping'
	return backlog && backlog.againUpTo !== null ? 'again' : undefined
}
