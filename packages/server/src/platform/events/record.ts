// A change of a record with events writes its event in the same transaction: what happened to which record, the actor, and the
// record as a GET then answers it. So there is no event without its change and no such change without its event.

import type { EventType } from '../../generated/contract.ts'
import { hourMs } from '../base/dates.ts'
import { newTimedId } from '../base/ids.ts'
import type { Origin } from '../base/origin.ts'
import { patternsOf } from '../contract/event-patterns.ts'
import { type Db, sent } from '../db/database.ts'
import { scheduleJob } from '../work/jobs-store.ts'
import { jobKinds } from '../work/kinds.ts'
import type { Changes } from './changes.ts'
import { insertDeliveries } from './fan-out-store.ts'
import { isLong, markLong } from './long-records-store.ts'
import { insertEvent, insertEvents, type Resource } from './store.ts'

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
	const { type, organizationId, resource, onlyTo } = event
	const isFirst = type === `${resource}.created`
	const row = rowOf(origin, event)
	const { id: eventId } = row
	const to = onlyTo === undefined ? { patterns: patternsOf(type) } : { endpointId: onlyTo }
	const statements = [
		isLong(event.data) && markLong(db, organizationId),
		insertEvent(db, { ...row, ...(isFirst && { sequence: 1 }) }),
		insertDeliveries(db, { organizationId, eventId, now: origin.now, ...to, ...(isFirst && { isFirst }) }),
		scheduleRetention(db, organizationId, origin.now),
	]
	await sent(db, Promise.all(statements))
	return eventId
}

/** Writes the events of one type of an organization's records, one of each. */
export async function recordEvents(db: Db, origin: Origin, events: readonly NewEvent[]): Promise<void> {
	const [first] = events
	if (!first) return
	const { type, organizationId } = first
	const rows = events.map((event) => rowOf(origin, event))
	const eventIds = rows.map(({ id }) => id)
	const statements = [
		events.some(({ data }) => isLong(data)) && markLong(db, organizationId),
		insertEvents(db, rows),
		insertDeliveries(db, { organizationId, eventIds, now: origin.now, patterns: patternsOf(type) }),
		scheduleRetention(db, organizationId, origin.now),
	]
	await sent(db, Promise.all(statements))
}

function rowOf(origin: Origin, { type, organizationId, resource, resourceId, data, changes }: NewEvent) {
	if (origin.meter) origin.meter.bytes += Buffer.byteLength(data)
	const { now, actor, requestId } = origin
	const id = newTimedId('evt', now)
	return {
		organizationId,
		id,
		type,
		resourceType: resource,
		resourceId,
		timestamp: now,
		actor,
		requestId,
		changes: changes ?? null,
		data,
	}
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
