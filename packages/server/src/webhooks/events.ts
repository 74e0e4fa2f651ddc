// Every change leaves an event in its own transaction: what happened to which record, who did it, and the record as a GET
// then answers. There is no event without its change and no change without its event.
import { isDeepStrictEqual } from 'node:util'
import { type Db, query } from '../db.ts'
import { newTimedId } from '../ids.ts'

export type EventType =
	| `invoice.${'created' | 'updated' | 'sent' | 'viewed' | 'paid' | 'overdue' | 'cancelled' | 'deleted'}`
	| `company.${'created' | 'updated' | 'deleted'}`
	| 'deal.stage_changed'
	| `time_entry.${'created' | 'updated' | 'deleted'}`

export type Resource = 'invoice' | 'company' | 'deal' | 'time_entry'

/** Who did something: a key's holder, a client through a link, a payment processor, or Remit itself. */
export interface Actor {
	readonly type: 'api_key' | 'client_link' | 'payment_processor' | 'system'
	readonly id: string | null
}

/** Where a change comes from. */
export interface Origin {
	readonly actor: Actor
	/** The request that asked for it; null when none did. */
	readonly requestId: string | null
	readonly now: number
}

/** What Remit does by itself. */
export const bySystem = (now: number): Origin => ({ actor: { type: 'system', id: null }, requestId: null, now })

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

/** Writes the event of a change, in the change's transaction. */
export async function recordEvent(db: Db, origin: Origin, event: NewEvent): Promise<void> {
	const { resource, changes = null, ...rest } = event
	await db.run(insert, {
		...rest,
		id: newTimedId('evt', origin.now),
		resourceType: resource,
		timestamp: origin.now,
		actor: origin.actor,
		requestId: origin.requestId,
		changes,
	})
}

/** Not news: every change has these. */
const always = new Set(['updatedAt', 'version'])

/** What differs between a record before and after a change. */
export function changesBetween<T extends object>(before: T, after: T): Changes {
	const fields = Object.keys(after).filter((field) => !always.has(field)) as (keyof T & string)[]
	const changed = fields.filter((field) => !isDeepStrictEqual(before[field], after[field]))
	return Object.fromEntries(changed.map((field) => [field, { from: before[field], to: after[field] }]))
}
