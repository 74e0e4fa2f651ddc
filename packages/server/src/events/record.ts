// Every change leaves an event in its own transaction: what happened to which record, who did it, and the record as a GET
// then answers. There is no event without its change and no change without its event.
import { isDeepStrictEqual } from 'node:util'
import { newTimedId } from '../base/ids.ts'
import type { Actor, Origin } from '../base/origin.ts'
import { patternsOf } from '../contract/event-patterns.ts'
import { type Db, query } from '../db/database.ts'
import type { EventType, WebhookEvent } from '../generated/contract.ts'
import { insertDeliveries } from '../webhooks/engine/queue.ts'

export type { EventType }

export type Resource = WebhookEvent['resource']['type']

/** The fields that changed, each from what to what. */
export type Changes = Record<string, { readonly from: unknown; readonly to: unknown }>

export interface NewEvent {
	readonly type: EventType
	readonly organizationId: string
	readonly resource: Resource
	readonly resourceId: string
	/** The record as JSON text; of a deleted one, its last state. */
	readonly data: string
	readonly changes?: Changes
	/** The one endpoint that gets it; absent for all that subscribe to it. */
	readonly onlyTo?: string
}

interface EventRow {
	readonly organizationId: string
	readonly id: string
	readonly type: EventType
	readonly resourceType: Resource
	readonly resourceId: string
	readonly timestamp: number
	readonly actor: Actor
	readonly requestId: string | null
	readonly changes: Changes | null
	readonly data: string
}

/** The sequence of a record's events has no gaps: whoever writes one holds the record's lock. */
const insert = query<EventRow>((knex, row) => {
	const { organizationId, resourceId } = row
	const sequence = knex('events').where({ organizationId, resourceId }).select(knex.raw('coalesce(max(sequence), 0) + 1'))
	return knex('events').insert({ ...row, sequence })
})

/** Writes the event of a change and its deliveries, in the change's transaction; returns the event's id. */
export async function recordEvent(db: Db, origin: Origin, event: NewEvent): Promise<string> {
	const { resource, changes = null, onlyTo, ...rest } = event
	const id = newTimedId('evt', origin.now)
	await db.run(insert, {
		...rest,
		id,
		resourceType: resource,
		timestamp: origin.now,
		actor: origin.actor,
		requestId: origin.requestId,
		changes,
	})
	const to = onlyTo === undefined ? { patterns: patternsOf(event.type) } : { endpointId: onlyTo }
	await insertDeliveries(db, { organizationId: event.organizationId, eventId: id, now: origin.now, ...to })
	return id
}

/** Not news: every change has these. */
const always = new Set(['updatedAt', 'version'])

/** What differs between a record before and after a change. */
export function changesBetween<T extends object>(before: T, after: T): Changes {
	const fields = Object.keys(after).filter((field) => !always.has(field)) as (keyof T & string)[]
	const changed = fields.filter((field) => !isDeepStrictEqual(before[field], after[field]))
	return Object.fromEntries(changed.map((field) => [field, { from: before[field], to: after[field] }]))
}
