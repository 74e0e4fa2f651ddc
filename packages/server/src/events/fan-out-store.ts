// The deliveries of an event, one for each endpoint that subscribes to it: written in the event's transaction.
//
// Of the deliveries of one record's events to one endpoint only the first that is not done has a `nextAttemptAt`; the others
// wait with null until it is done. So an endpoint sees a record's `sequence` rise, and the index of what is due holds only
// what may be claimed: a dead endpoint with a million waiting deliveries costs a claim nothing.
import { type Db, type Dialect, query } from '../db/database.ts'

/** A delivery that is not done. */
export const isWaiting = `"status" in ('pending', 'delivering', 'retrying')`

interface NewDeliveries {
	readonly organizationId: string
	readonly eventId: string
	readonly now: number
	/** What an endpoint must subscribe to; absent when `endpointId` names the one that gets it. */
	readonly patterns?: readonly string[]
	readonly endpointId?: string
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

/** The id of an event's delivery to an endpoint, and below the same in SQL. */
export const deliveryIdOf = (eventId: string, endpointId: string): string => `whd_${eventId.slice(4)}${endpointId.slice(4)}`

const deliveryId = (eventId: string, endpointId: string) => `'whd_' || substr(${eventId}, 5) || substr(${endpointId}, 5)`

/** Deliveries `d` to an endpoint of the events `b` of one record: found by the events' index, so that they need none. */
export const ofRecord = (endpointId: string) =>
	`from events b join webhook_deliveries d on d."organizationId" = b."organizationId"
		and d.id = ${deliveryId('b.id', endpointId)}`

/**
 * Whether the delivery of the event before waits. PostgreSQL locks it: its end, which lets the next one go, then comes after
 * this transaction, and finds this delivery.
 */
const isBlocked = (dialect: Dialect) =>
	`coalesce((select d.${isWaiting} ${ofRecord('p.id')} where b."organizationId" = e."organizationId"
		and b."resourceId" = e."resourceId" and b.sequence < e.sequence
		order by b.sequence desc limit 1${dialect === 'sqlite' ? '), 0)' : ' for share of d), false)'}`

/** Whether a delivery of any earlier event of the record waits, for the deliveries of that name. */
export const hasEarlier = (name: string) =>
	`exists (select 1 ${ofRecord(`${name}."endpointId"`)} where b."organizationId" = ${name}."organizationId"
		and b."resourceId" = ${name}."resourceId" and b.sequence < ${name}.sequence and d.${isWaiting})`

const subscribes = (dialect: Dialect) =>
	dialect === 'sqlite'
		? 'exists (select 1 from json_each(p."eventTypes") s where s.value in (select value from json_each(?)))'
		: 'p."eventTypes"::jsonb \\?| array(select jsonb_array_elements_text(?::jsonb))'

const insertion = query<NewDeliveries>((knex, { organizationId, eventId, now, patterns, endpointId }, dialect) => {
	const rows = knex('events as e')
		.join('webhook_endpoints as p', 'p.organizationId', 'e.organizationId')
		.where({ 'e.organizationId': organizationId, 'e.id': eventId })
		.whereNull('p.deletedAt')
		.select('e.organizationId', knex.raw(deliveryId('e.id', 'p.id')), 'p.id', 'e.id', 'e.type')
		.select('e.resourceId', 'e.sequence', knex.raw("case p.status when 'active' then 'pending' else 'skipped' end"))
		.select(knex.raw('0'), knex.raw('0'))
		.select(knex.raw(`case when p.status = 'active' and not ${isBlocked(dialect)} then ${asInteger(dialect)} end`, [now]))
		.select(knex.raw(asInteger(dialect), [now]), knex.raw(asInteger(dialect), [now]))
	if (endpointId !== undefined) rows.where('p.id', endpointId)
	else rows.whereRaw(subscribes(dialect), [patterns ?? null])
	return knex.into(knex.raw('?? (??)', ['webhook_deliveries', columns])).insert(rows)
})

/** PostgreSQL takes a bare parameter of a select for text. */
const asInteger = (dialect: Dialect) => (dialect === 'sqlite' ? '?' : '?::bigint')

/** Writes an event's deliveries, in the event's transaction: waiting, or skipped by endpoints that are not active. */
export const insertDeliveries = (db: Db, deliveries: NewDeliveries) => db.run(insertion, deliveries)
