// Makes deliveries of an endpoint again, of which there may be millions: a first part in the request, and the rest by backlog-store.ts.

import type { RedeliverStatus } from '../../generated/contract.ts'
import { beginningOf } from '../../platform/base/ids.ts'
import { asNumber, type Db, type Dialect, query } from '../../platform/db/database.ts'
import { isHolding, isLeased, ofRecord } from '../../platform/events/fan-out-store.ts'
import type { EndpointKey } from './endpoint-store.ts'

/** Deliveries that one transaction looks at and makes again: some 10 ms on SQLite, where all wait for it. */
const partSize = 250

/** After all ids of deliveries. */
export const endOfIds = 'whd_~'

/** The status that a redelivery asks for; null for all that was not delivered. */
export type Wanted = RedeliverStatus | null

const undelivered = `('skipped', 'exhausted', 'retrying')`

/** SQL: the condition of the index of them. SQLite uses it only where a query has these words. */
const isUndelivered = `status in ${undelivered}`

interface Choice {
	/** SQL: what bounds the deliveries to look at, besides their endpoint and their ids. */
	readonly among: string
	/** SQL: the deliveries to make again. */
	readonly statuses: string
}

const only = (status: string): Choice => ({ among: `and ${isUndelivered}`, statuses: `('${status}')` })
const choices: Record<RedeliverStatus | 'undelivered', Choice> = {
	undelivered: { among: `and ${isUndelivered}`, statuses: undelivered },
	skipped: only('skipped'),
	exhausted: only('exhausted'),
	retrying: only('retrying'),
	succeeded: { among: '', statuses: `('succeeded')` },
	all: { among: '', statuses: `('skipped', 'exhausted', 'retrying', 'succeeded')` },
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
const hasEarlierToCome = (statuses: string, dialect: Dialect) => `exists (select 1 ${ofRecord('a."endpointId"', dialect)}
	where b."organizationId" = a."organizationId" and b."resourceId" = a."resourceId" and b.sequence < a.sequence
	and (${isHolding('d')} or (d.status in ${statuses} and d.id > ? and d.id <= ?)))`

const inRange = `"organizationId" = ? and "endpointId" = ? and id > ? and id <= ?`

const queriesOf = ({ among, statuses }: Choice) => ({
	/** How many deliveries the next part has to look at, and the last of them. */
	stretch: query<Range, { count: number; last: string | null }>((knex, { organizationId, endpointId, after, upTo }) =>
		knex
			.from(
				knex.raw(`(select id from webhook_deliveries where ${inRange} ${among} order by id limit ${partSize}) as part`, [
					organizationId,
					endpointId,
					after,
					upTo,
				]),
			)
			.count({ count: '*' })
			.max({ last: 'id' }),
	),

	/**
	 * Of a record's deliveries only the first becomes due: the others wait for it. The status is asked for again in the end: on PostgreSQL
	 * the engine may have claimed the delivery meanwhile.
	 */
	again: query<Range & { last: string; now: number }, { id: string }>(
		(knex, { organizationId, endpointId, after, last, upTo, now }, dialect) =>
			knex.raw(
				`with part as (select id, row_number() over (partition by "resourceId" order by sequence) as place
					from webhook_deliveries where ${inRange} ${among} and status in ${statuses} and not ${isLeased})
				update webhook_deliveries as a set status = 'pending', "retryCount" = 0, "scheduledAt" = null, "holdsUntil" = null, "outOfOrder" = false, "updatedAt" = ?,
					"nextAttemptAt" = case when part.place = 1 and not ${hasEarlierToCome(statuses, dialect)} then ${asInteger(dialect)} end
				from part where a."organizationId" = ? and a.id = part.id and a.status in ${statuses} and not ${isLeased}
				returning ${dialect === 'sqlite' ? '' : 'a.'}id`,
				[organizationId, endpointId, after, last, now, after, upTo, now, organizationId],
			),
	),

	counted: query<Omit<Range, 'upTo'>, { looked: number; matching: number; last: string | null }>(
		(knex, { organizationId, endpointId, after }) =>
			knex
				.from(
					knex('webhook_deliveries')
						.where({ organizationId, endpointId })
						.where('id', '>', after)
						.whereRaw(`true ${among}`)
						.orderBy('id')
						.limit(asNumber(countRange), { skipBinding: true })
						.select('id', 'status', 'leased', 'leaseEnd')
						.as('some'),
				)
				.count({ looked: '*' })
				.max({ last: 'id' })
				.select(knex.raw(`count(case when status in ${statuses} and not ${isLeased} then 1 end) as matching`)),
	),
})

const asInteger = (dialect: Dialect) => (dialect === 'sqlite' ? '?' : '?::bigint')

const countRange = 5_000

/** Deliveries that a request looks at to count them. */
const mostLookedAt = 50_000

const queries = Object.fromEntries(
	Object.entries(choices).map(([name, choice]) => [name, queriesOf(choice)]),
) as unknown as Record<keyof typeof choices, ReturnType<typeof queriesOf>>

/**
 * The number of an endpoint's deliveries of this status that were written from `since` on. Not in a transaction: on SQLite it lets
 * others in between. Of more than `mostLookedAt` it counts the first.
 */
export async function countAgain(db: Db, key: EndpointKey, wanted: Wanted, since: number): Promise<number> {
	const { counted } = queries[wanted ?? 'undelivered']
	const { organizationId, id: endpointId } = key
	let [total, lookedAt] = [0, 0]
	for (let after: string | null = beginningOf('whd', since); after !== null; ) {
		const found: { looked: number; matching: number; last: string | null } | undefined = await db.get(counted, {
			organizationId,
			endpointId,
			after,
		})
		total += found?.matching ?? 0
		lookedAt += found?.looked ?? 0
		after = (found?.looked ?? 0) < countRange || lookedAt >= mostLookedAt ? null : (found?.last ?? null)
		await new Promise((resolve) => setImmediate(resolve))
	}
	return total
}

/** Makes the next part of a range again. Returns how many that were, and the last delivery it looked at; null at the end of the range. */
export async function againPart(
	db: Db,
	wanted: Wanted,
	range: Range,
	now: number,
): Promise<{ count: number; last: string | null }> {
	const { stretch, again } = queries[wanted ?? 'undelivered']
	const found = await db.get(stretch, range)
	if (!found || found.last === null) return { count: 0, last: null }
	const made = await db.all(again, { ...range, last: found.last, now })
	return { count: made.length, last: found.count < partSize ? null : found.last }
}

const noteAgain = query<EndpointKey & { after: string; wanted: Wanted }>((knex, { organizationId, id, after, wanted }) =>
	knex.raw(
		`update webhook_endpoints set "againAfter" = ?, "againStatus" = ?, "againUpTo" = (
			select max(d.id) from webhook_deliveries d where d."organizationId" = webhook_endpoints."organizationId"
			and d."endpointId" = webhook_endpoints.id)
		where "organizationId" = ? and id = ?`,
		[after, wanted, organizationId, id],
	),
)

/**
 * Makes an endpoint's deliveries of this status due again, those written from `since` on: a first part now, the rest soon.
 * Returns how many the part has, and whether it was all. The caller holds the endpoint's lock.
 */
export async function deliverAllAgain(db: Db, { organizationId, id }: EndpointKey, wanted: Wanted, since: number, now: number) {
	const range = { organizationId, endpointId: id, after: beginningOf('whd', since), upTo: endOfIds }
	const { count, last } = await againPart(db, wanted, range, now)
	if (last !== null) await db.run(noteAgain, { organizationId, id, after: last, wanted })
	return { count, isAll: last === null }
}
