// A change of a record with events writes its event in the same transaction: what happened to which record, the actor, and the
// record as a GET then answers it. So there is no event without its change and no such change without its event.
import { hourMs } from '../base/dates.ts'
import { newTimedId } from '../base/ids.ts'
import type { Origin } from '../base/origin.ts'
import { patternsOf } from '../contract/event-patterns.ts'
import type { Db } from '../db/database.ts'
import type { EventType } from '../generated/contract.ts'
import { scheduleJob } from '../work/jobs-store.ts'
import { jobKinds } from '../work/kinds.ts'
import type { Changes } from './changes.ts'
import { insertDeliveries } from './fan-out-store.ts'
import { isLong, markLong } from './long-records-store.ts'
import { insertEvent, type Resource } from './store.ts'

export interface NewEvent {
	readonly type: EventType
	readonly organizationId: string
	readonly resource: Resource
	readonly resourceId: string
	/** The record as JSON text; of a deleted one, its last state. */
	readonly data: string
	readonly changes?: Changes
	/** The only endpoint that gets the event; absent for all that subscribe to it. */
	readonly onlyTo?: string
}

/** Writes the event of a change and its deliveries, in the change's transaction; returns the event's id. */
export async function recordEvent(db: Db, origin: Origin, event: NewEvent): Promise<string> {
	const { resource, changes = null, onlyTo, ...rest } = event
	const isFirst = event.type === `${resource}.created`
	const id = newTimedId('evt', origin.now)
	if (origin.meter) origin.meter.bytes += event.data.length
	const to = onlyTo === undefined ? { patterns: patternsOf(event.type) } : { endpointId: onlyTo }
	const deliveries = { organizationId: event.organizationId, eventId: id, now: origin.now, ...to, ...(isFirst && { isFirst }) }
	await Promise.all([
		isLong(event.data) && markLong(db, event.organizationId),
		insertEvent(db, {
			...rest,
			id,
			resourceType: resource,
			timestamp: origin.now,
			actor: origin.actor,
			requestId: origin.requestId,
			changes,
			...(isFirst && { sequence: 1 }),
		}),
		insertDeliveries(db, deliveries),
		scheduleRetention(db, event.organizationId, origin.now),
	])
	return id
}

/** Organizations to remember; beyond that, all are asked for again. */
const maxRemembered = 10_000
/** Until when an organization has a job that removes its old events: this process makes it due once an hour, not with each event. */
const remembered = new Map<string, number>()

/**
 * An event that is rolled back takes the job with it; one of the next hour makes it due again. Remembered before the job is stored: a hundred
 * events that are written together need it once.
 */
async function scheduleRetention(db: Db, organizationId: string, now: number): Promise<void> {
	if ((remembered.get(organizationId) ?? 0) > now) return
	if (remembered.size >= maxRemembered) remembered.clear()
	const dueAt = now + hourMs
	remembered.set(organizationId, dueAt)
	await scheduleJob(db, { organizationId, kind: jobKinds.retention, resourceId: '', dueAt })
}
