// Writes the deliveries of an event, one for each endpoint that subscribes to it, in the event's transaction.
//
// Of the deliveries to one endpoint about one record, only the first that is not done has a `nextAttemptAt`; the others wait
// with null until it is done, or holds them back no longer (engine/queue-store.ts). So an endpoint gets the events of a record in the
// order of their `sequence`, and the index of due deliveries holds only those that the engine may claim: a dead endpoint with a million
// waiting deliveries costs a claim nothing. With `ordering: none` nothing waits.
import type { Knex } from 'knex'
import { type Db, type Dialect, query } from '../db/database.ts'
import { isAnyOf } from '../db/records.ts'
import { type Part, RowList } from '../db/row-lists.ts'

/** A delivery that is not done; a server of an older version beside this one writes `delivering`. */
export const isWaiting = `"status" in ('pending', 'delivering', 'retrying')`

/** A lease ends no later than this: 75 s are the most that an engine takes, and the clocks of two processes may differ. */
const longestLeaseMs = 90_000

/** SQL: whether a delivery is under way, or was when its process died. A server of an older version beside this one writes `leased`. */
export const isLeased = `(leased or "leaseEnd" is not null)`

/**
 * SQL: whether no engine holds a delivery. A lease that ends later than any can is from before the clock was set back. It takes `now`. On
 * PostgreSQL no index has the column, so that a claim writes none: the few that are held are passed over row by row.
 */
export const isFree = `("leaseEnd" is null or "leaseEnd" - ? not between 1 and ${longestLeaseMs})`

/** SQL: the same, and no server of an older version holds it either, which puts the end of its lease into `nextAttemptAt`. It takes `now` twice. */
export const isFreeOfAll = `(${isFree} and (not leased or "nextAttemptAt" <= ?))`

/** SQL: whether a delivery holds the later ones of its record back; `name` is its table or alias in the query. */
export const isHolding = (name: string) => `(${name}.${isWaiting} and not ${name}."outOfOrder")`

/**
 * SQL of a recursive table `waiting`: the organization `o` and id `e` of each endpoint for which a delivery waits or is under way, and
 * `due`, when the first is due that the engine may claim. It goes from one endpoint to the next by the index of due deliveries, in which the others are
 * not: an endpoint for which nothing waits costs nothing.
 */
export const waitingEndpoints = (knex: Knex, dialect: Dialect, now: Knex.Value) =>
	knex.raw(
		`${pairs(dialect)}, waiting(o, e, due) as (
			select o, e, (select "nextAttemptAt" from webhook_deliveries where "nextAttemptAt" is not null
				and "organizationId" = o and "endpointId" = e and ${isFree} order by "nextAttemptAt" limit 1)
			from pairs where e is not null)`,
		[now],
	)

function pairs(dialect: Dialect): string {
	const next = (columns: string, after = '') =>
		`(select ${columns} from webhook_deliveries d where "nextAttemptAt" is not null ${after}
			order by "organizationId", "endpointId", "nextAttemptAt" limit 1)`
	const pair = '"organizationId", "endpointId"'
	if (dialect === 'postgres')
		return `pairs(o, e) as (select * from ${next(pair)} as first union all
			select n.* from pairs w cross join lateral ${next(pair, `and (${pair}) > (w.o, w.e)`)} as n)`
	// SQLite would look for the pair by its first part alone.
	const here = next('"endpointId"', 'and "organizationId" = w.o and "endpointId" > w.e')
	const [organization, endpoint] = ['"organizationId"', '"endpointId"'].map((column) =>
		next(column, 'and "organizationId" > w.o'),
	)
	return `pairs(o, e) as (select * from ${next(pair)} as first union all
			select case when ${here} is null then ${organization} else w.o end, coalesce(${here}, ${endpoint})
			from pairs w where w.e is not null)`
}

interface NewDeliveries {
	readonly organizationId: string
	/** Of one event, or `eventIds` of several. */
	readonly eventId?: string
	readonly eventIds?: readonly string[]
	readonly now: number
	/** An endpoint that subscribes to one of these gets the event; absent when `endpointId` names the only endpoint. */
	readonly patterns?: readonly string[]
	readonly endpointId?: string
	/** Whether it is the first event of its record, which nothing can block. */
	readonly isFirst?: true
}

const columns = [
	'organizationId',
	'id',
	'endpointId',
	'eventId',
	'eventType',
	'resourceId',
	'sequence',
	'status',
	'attemptCount',
	'retryCount',
	'nextAttemptAt',
	'createdAt',
	'updatedAt',
]

/** The id of an event's delivery to an endpoint. `deliveryId` is the same in SQL. */
export const deliveryIdOf = (eventId: string, endpointId: string): string => `whd_${eventId.slice(4)}${endpointId.slice(4)}`

const deliveryId = (eventId: string, endpointId: string) => `'whd_' || substr(${eventId}, 5) || substr(${endpointId}, 5)`

const joined = (endpointId: string) =>
	`from events b join webhook_deliveries d on d."organizationId" = b."organizationId"
		and d.id = ${deliveryId('b.id', endpointId)}`

/**
 * Joins a record's events `b` to their deliveries `d` to an endpoint, by the index of events: deliveries need no index for it. `limit 1`, since
 * PostgreSQL would read all that wait in the organization if none did when it counted them.
 */
export const ofRecord = (endpointId: string, dialect: Dialect) =>
	dialect === 'sqlite'
		? joined(endpointId)
		: `from events b cross join lateral (select * from webhook_deliveries where "organizationId" = b."organizationId"
			and id = ${deliveryId('b.id', endpointId)} limit 1) as d`

/** Deliveries out of order that are passed over at most to find the one before them: a record may have nothing else. */
const passedOver = 20

/**
 * Whether the delivery of the record's previous event, but for those out of order, still holds it back. PostgreSQL locks it: the engine
 * can then complete it only after this transaction, and so finds the new delivery, which it must make due.
 */
const isBlocked = (dialect: Dialect) =>
	`coalesce((select holds from (select ${isHolding('d')} as holds, d."outOfOrder" as late ${joined('p.id')}
		where b."organizationId" = e."organizationId" and b."resourceId" = e."resourceId" and b.sequence < e.sequence
		order by b.sequence desc limit ${passedOver}${dialect === 'sqlite' ? '' : ' for share of d'}) as before
		where not before.late limit 1), ${dialect === 'sqlite' ? '0' : 'false'})`

/** Whether a delivery of any earlier event of the record holds it back; `name` is the delivery's table or alias in the query. */
export const hasEarlier = (name: string, dialect: Dialect) =>
	`exists (select 1 ${ofRecord(`${name}."endpointId"`, dialect)} where b."organizationId" = ${name}."organizationId"
		and b."resourceId" = ${name}."resourceId" and b.sequence < ${name}.sequence and ${isHolding('d')})`

const subscribes = (dialect: Dialect) =>
	dialect === 'sqlite'
		? 'exists (select 1 from json_each(p."eventTypes") s where s.value in (select value from json_each(?)))'
		: 'p."eventTypes"::jsonb \\?| array(select jsonb_array_elements_text(?::jsonb))'

/** Whether the endpoint is limited to no kinds of records, or to some with this one. */
const reaches = (dialect: Dialect) =>
	`(p.resources is null or ${
		dialect === 'sqlite'
			? 'e."resourceType" in (select value from json_each(p.resources))'
			: 'p.resources::jsonb \\? e."resourceType"'
	})`

const insertion = query<NewDeliveries>(
	(knex, { organizationId, eventId, eventIds, now, patterns, endpointId, isFirst }, dialect) => {
		const events = knex('events as e').where('e.organizationId', organizationId)
		if (eventIds === undefined) events.where('e.id', eventId as Knex.Value)
		else events.whereRaw(isAnyOf('e.id', dialect), [eventIds])
		// A person waits for a test, and one before may wait for its next attempt.
		const isDue =
			isFirst || endpointId !== undefined
				? "p.status = 'active'"
				: `p.status = 'active' and (p.ordering = 'none' or not ${isBlocked(dialect)})`
		const rows = toEndpoints(knex, events, isDue, knex.raw(asInteger(dialect), [now]))
		if (endpointId !== undefined) rows.where('p.id', endpointId)
		else rows.whereRaw(subscribes(dialect), [patterns ?? null]).whereRaw(reaches(dialect))
		return intoDeliveries(knex, rows)
	},
)

/** The deliveries of events `e` to the endpoints `p` of their organizations. */
const toEndpoints = (knex: Knex, events: Knex.QueryBuilder, isDue: string, now: Knex.Raw) =>
	events
		.join('webhook_endpoints as p', 'p.organizationId', 'e.organizationId')
		.whereNull('p.deletedAt')
		.select('e.organizationId', knex.raw(deliveryId('e.id', 'p.id')), 'p.id', 'e.id', 'e.type', 'e.resourceId', 'e.sequence')
		.select(knex.raw("case p.status when 'active' then 'pending' else 'skipped' end"), knex.raw('0'), knex.raw('0'))
		.select(knex.raw(`case when ${isDue} then ? end`, [now]), now, now)

const intoDeliveries = (knex: Knex, rows: Knex.QueryBuilder) =>
	knex.into(knex.raw('?? (??)', ['webhook_deliveries', columns])).insert(rows)

interface FirstEvent {
	readonly organizationId: string
	readonly eventId: string
	readonly now: number
	/** As JSON. */
	readonly patterns: string
}

const firstEvents = new RowList<FirstEvent>({ organizationId: 'text', eventId: 'text', now: 'bigint', patterns: 'text' })

/** The deliveries of events that are each the first of its record, to all endpoints that subscribe to them. On PostgreSQL. */
const insertionOfFirst = query<Part<FirstEvent>>((knex, part, dialect) => {
	const events = knex
		.from(firstEvents.table(knex, part, dialect))
		.joinRaw('join events as e on e."organizationId" = r."organizationId" and e.id = r."eventId"')
	const rows = toEndpoints(knex, events, "p.status = 'active'", knex.raw('r.now'))
	return intoDeliveries(knex, rows.whereRaw(subscribes(dialect), [knex.raw('r.patterns')]).whereRaw(reaches(dialect)))
})
const insertionsOfFirst = { tables: ['webhook_deliveries'], query: insertionOfFirst }

/** PostgreSQL takes a bare parameter of a select for text. */
const asInteger = (dialect: Dialect) => (dialect === 'sqlite' ? '?' : '?::bigint')

const anyEndpoint = query<{ organizationId: string }>((knex, { organizationId }) =>
	knex('webhook_endpoints').where({ organizationId }).whereNull('deletedAt').select(knex.raw('1')).limit(1),
)

/** Writes the deliveries of events in their transaction: pending, or skipped when the endpoint is not active. */
export async function insertDeliveries(db: Db, deliveries: NewDeliveries): Promise<void> {
	const { organizationId, eventId, now, patterns, isFirst } = deliveries
	if (db.shared && isFirst && patterns && eventId !== undefined) {
		db.shared.later(insertionsOfFirst, {
			organizationId,
			eventId,
			now,
			patterns: JSON.stringify(patterns),
		})
		return
	}
	// An insert that finds nothing costs SQLite fifty times this question; PostgreSQL, as much as a round trip.
	if (db.dialect === 'sqlite' && !(await db.get(anyEndpoint, { organizationId }))) return
	await db.run(insertion, deliveries)
}
