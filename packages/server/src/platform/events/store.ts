// Stores events and reads them as JSON text, which is the same in every delivery and in the feed.
import type { Knex } from 'knex'
import type { EventType, WebhookEvent } from '../../generated/contract.ts'
import type { Actor } from '../base/origin.ts'
import { type Db, type Dialect, query } from '../db/database.ts'
import { type Part, RowList } from '../db/row-lists.ts'
import type { Changes } from './changes.ts'

/** The kind of record that an event is about. */
export type Resource = WebhookEvent['resource']['type']

interface NewEventRow {
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
	/** 1 for the first event of a record; otherwise absent, and found. */
	readonly sequence?: 1
}

/** The sequence of a record's events has no gaps, because a transaction that writes an event holds the record's lock. */
const insertion = query<NewEventRow>((knex, row) => {
	const { organizationId, resourceId } = row
	const next = knex('events').where({ organizationId, resourceId }).select(knex.raw('coalesce(max(sequence), 0) + 1'))
	return knex('events').insert({ sequence: next, ...row })
})

const list = new RowList<Record<keyof NewEventRow, unknown>>({
	organizationId: 'text',
	id: 'text',
	type: 'text',
	resourceType: 'text',
	resourceId: 'text',
	timestamp: 'bigint',
	actor: 'json',
	requestId: 'text',
	changes: 'json',
	data: 'json',
	sequence: 'bigint',
})

const insertionOfMany = query<Part<Record<keyof NewEventRow, unknown>>>((knex, part, dialect) => {
	const given = list.columns.filter((name) => name !== 'sequence')
	const next = `coalesce(sequence, (select coalesce(max(b.sequence), 0) + 1 from events b where b."organizationId" = r."organizationId" and b."resourceId" = r."resourceId"))`
	const rows = knex.from(list.table(knex, part, dialect)).select(...given, knex.raw(next))
	return knex.into(knex.raw('?? (??)', ['events', [...given, 'sequence']])).insert(rows)
})

const textsOf = (row: NewEventRow) => ({
	...row,
	actor: JSON.stringify(row.actor),
	changes: row.changes && JSON.stringify(row.changes),
})

const insertions = { tables: ['events'], query: insertionOfMany }

/** The first event of a record, of which nothing depends on another, waits for those of other records. */
export async function insertEvent(db: Db, row: NewEventRow): Promise<void> {
	if (row.sequence && db.shared) db.shared.later(insertions, textsOf(row))
	else await db.run(insertion, row)
}

/** Stores the next events of several records with one statement. */
export const insertEvents = (db: Db, rows: readonly NewEventRow[]) => list.run(db, insertionOfMany, rows.map(textsOf))

/** An event as it is stored, with JSON as text. */
export interface EventRow {
	readonly eventId: string
	readonly type: EventType
	readonly timestamp: number
	readonly organizationId: string
	readonly resourceType: string
	readonly resourceId: string
	readonly sequence: number
	readonly actor: string
	readonly changes: string | null
	readonly data: string
}

/** The columns of `EventRow`, from the table `events` with the alias `e`. */
export const eventColumns = (knex: Knex, dialect: Dialect) => [
	...envelopeColumns(knex, dialect),
	...['changes', 'data'].map((name) => knex.raw('? as ??', [jsonText(knex, dialect, name), name])),
]

export const envelopeColumns = (knex: Knex, dialect: Dialect) => [
	'e.id as eventId',
	...['type', 'timestamp', 'organizationId', 'resourceType', 'resourceId', 'sequence'].map((name) => `e.${name}`),
	knex.raw('? as ??', [jsonText(knex, dialect, 'actor'), 'actor']),
]

export const jsonText = (knex: Knex, dialect: Dialect, name: string) =>
	knex.raw(dialect === 'sqlite' ? '??' : '??::text', [`e.${name}`])

/** The event as JSON text. Ids and types need no escaping. */
export function eventText(row: EventRow): string {
	const { eventId, type, organizationId, resourceType, resourceId, sequence, actor, changes, data } = row
	const timestamp = new Date(row.timestamp).toISOString()
	return `{"id":"${eventId}","type":"${type}","timestamp":"${timestamp}","organizationId":"${organizationId}",\
"resource":{"type":"${resourceType}","id":"${resourceId}"},"sequence":${sequence},"actor":${actor},\
${changes === null ? '' : `"changes":${changes},`}"data":${data}}`
}

export interface EventKey {
	readonly organizationId: string
	readonly id: string
}

const keys = new RowList<EventKey>({ organizationId: 'text', id: 'text' })

/** PostgreSQL would read all events of the organization to join them, if there were few when it counted them. */
const eventOfRow = {
	sqlite: 'join events as e on e."organizationId" = r."organizationId" and e.id = r.id',
	postgres: 'cross join lateral (select * from events where "organizationId" = r."organizationId" and id = r.id limit 1) as e',
}

const some = query<Part<EventKey>, EventRow>((knex, part, dialect) =>
	knex
		.from(keys.table(knex, part, dialect))
		.joinRaw(eventOfRow[dialect])
		.select(...eventColumns(knex, dialect)),
)

/** Events as they are stored, in any order. */
export const readEventRows = (db: Db, events: readonly EventKey[]): Promise<EventRow[]> => keys.all(db, some, events)

const one = query<EventKey, EventRow>((knex, key, dialect) =>
	knex('events as e')
		.where(key)
		.select(...eventColumns(knex, dialect)),
)

/** The event as JSON text; undefined when there is none, or none of `types`. */
export async function readEvent(
	db: Db,
	organizationId: string,
	id: string,
	types?: readonly EventType[],
): Promise<string | undefined> {
	const row = await db.get(one, { organizationId, id })
	return row && (types?.includes(row.type) ?? true) ? eventText(row) : undefined
}
