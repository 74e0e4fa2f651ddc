// The stored events of an organization, and a check of each against the contract.

import type { EventType } from '../src/generated/contract.ts'
import { eventTypes } from '../src/generated/tables.ts'
import type { Actor } from '../src/platform/base/origin.ts'
import { type Database, query } from '../src/platform/db/database.ts'
import type { Changes } from '../src/platform/events/changes.ts'
import { type EventRow, eventColumns, eventText } from '../src/platform/events/store.ts'
import { checkSchema } from './contract.ts'
import { watch } from './leaks.ts'

export interface StoredEvent {
	readonly type: EventType
	readonly resourceId: string
	readonly sequence: number
	readonly timestamp: number
	readonly actor: Actor
	readonly requestId: string | null
	readonly changes: Changes | null
	// biome-ignore lint/suspicious/noExplicitAny: the record of any resource, as its GET answers.
	readonly data: any
}

type Row = { readonly [Field in keyof StoredEvent]: StoredEvent[Field] | string }

const inOrder = query<{ organizationId: string; resourceId?: string }, Row>((knex, filters) =>
	knex('events')
		.where(filters)
		.orderBy('position')
		.select('type', 'resourceId', 'sequence', 'timestamp', 'actor', 'requestId', 'changes', 'data'),
)

/** The events of one record, or of the whole organization, in the order in which they were written. */
export async function eventsOf(
	{ db }: { db: Database },
	{ organizationId }: { organizationId: string },
	resourceId?: string,
): Promise<StoredEvent[]> {
	const rows = await db.all(inOrder, { organizationId, ...(resourceId !== undefined && { resourceId }) })
	return rows.map((row) => {
		const json = { actor: parsed(row.actor), changes: parsed(row.changes), data: parsed(row.data) }
		return { ...row, ...json } as StoredEvent
	})
}

/** SQLite returns JSON as text. */
const parsed = (json: unknown) => (typeof json === 'string' ? JSON.parse(json) : json)

const everyEvent = query<object, EventRow>((knex, _, dialect) => knex('events as e').select(...eventColumns(knex, dialect)))

/** Throws when an event of any organization does not fit its model in the contract. Notes secrets in events. */
export async function checkEvents(db: Database): Promise<void> {
	for (const row of await db.all(everyEvent, {})) {
		const text = eventText(row)
		watch(`the event ${row.type}`, text)
		checkSchema(eventTypes[row.type], JSON.parse(text))
	}
}
