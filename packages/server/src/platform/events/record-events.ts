// Records events whose data is the record that they are about, as a GET answers it.

import type { EventType } from '../../generated/contract.ts'
import type { Origin } from '../base/origin.ts'
import type { Db } from '../db/database.ts'
import { changesBetween } from './changes.ts'
import { recordEvent, recordEvents } from './record.ts'
import type { Resource } from './store.ts'

interface Subject {
	readonly organizationId: string
	readonly id: string
}

interface Known<R> {
	/** The record before the change: the event then has its `changes`. */
	readonly before?: R
	/** The record as JSON text, where it is at hand. */
	readonly data?: string
}

/** Returns a function that writes events about a kind of record. */
export const eventsAbout =
	<R extends Subject, Type extends EventType>(resource: Resource) =>
	(db: Db, origin: Origin, type: Type, record: R, known: Known<R> = {}): Promise<string> =>
		recordEvent(db, origin, eventOf(resource, type, record, known))

/** Writes the events of changes of one type, each of another record of an organization. */
export const recordUpdates = <R extends Subject>(
	db: Db,
	origin: Origin,
	[resource, type]: readonly [Resource, EventType],
	changes: readonly { readonly before: R; readonly after: R }[],
): Promise<void> =>
	recordEvents(
		db,
		origin,
		changes.map(({ before, after }) => eventOf(resource, type, after, { before })),
	)

const eventOf = <R extends Subject>(
	resource: Resource,
	type: EventType,
	record: R,
	{ before, data = JSON.stringify(record) }: Known<R>,
) => ({
	type,
	organizationId: record.organizationId,
	resource,
	resourceId: record.id,
	data,
	...(before && { changes: changesBetween(before, record) }),
})
