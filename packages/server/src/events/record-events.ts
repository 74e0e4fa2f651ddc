// The events of the records that are events' only subject: created, updated, deleted, with the record as a GET answers it.
import type { Origin } from '../base/origin.ts'
import type { Db } from '../db/database.ts'
import type { EventType } from '../generated/contract.ts'
import { changesBetween } from './changes.ts'
import { recordEvent } from './record.ts'
import type { Resource } from './store.ts'

interface Subject {
	readonly organizationId: string
	readonly id: string
}

/** Writes an event about a record of a kind; with the record before a change, the event names the fields that differ. */
export const eventsAbout =
	<R extends Subject, Type extends EventType>(resource: Resource) =>
	(db: Db, origin: Origin, type: Type, record: R, before?: R): Promise<string> =>
		recordEvent(db, origin, {
			type,
			organizationId: record.organizationId,
			resource,
			resourceId: record.id,
			data: JSON.stringify(record),
			...(before && { changes: changesBetween(before, record) }),
		})
