// Stores events and reads them as JSON text, which is the same in every delivery and in the feed.
import type { Knex } from 'knex'
import type { Actor } from '../base/origin.ts'
import { asNumber, type Database, type Db, type Dialect, type Placeholders, query } from '../db/database.ts'
import type { ListFilter } from '../db/records.ts'
import type { EventType, WebhookEvent } from '../generated/contract.ts'
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
}

/** The sequence of a record's events has no gaps, because a transaction that writes an event holds the record's lock. */
const insertion = query<NewEventRow>((knex, row) => {
	const { organizationId, resourceId } = row
	const sequence = knex('events').where({ organizationId, resourceId }).select(knex.raw('coalesce(max(sequence), 0) + 1'))
	return knex('events').insert({ ...row, sequence })
})

export const insertEvent = (db: Db, row: NewEventRow) => db.run(insertion, row)

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
	'e.id as eventId',
	...['type', 'timestamp', 'organizationId', 'resourceType', 'resourceId', 'sequence'].map((name) => `e.${name}`),
	...['actor', 'changes', 'data'].map((name) =>
		dialect === 'sqlite' ? `e.${name}` : knex.raw('??::text as ??', [`e.${name}`, name]),
	),
]

/** The event as JSON text. Ids and types need no escaping. */
export function eventText(row: EventRow): string {
	const { eventId, type, organizationId, resourceType, resourceId, sequence, actor, changes, data } = row
	const timestamp = new Date(row.timestamp).toISOString()
	return `{"id":"${eventId}","type":"${type}","timestamp":"${timestamp}","organizationId":"${organizationId}",\
"resource":{"type":"${resourceType}","id":"${resourceId}"},"sequence":${sequence},"actor":${actor},\
${changes === null ? '' : `"changes":${changes},`}"data":${data}}`
}

const one = query<{ organizationId: string; id: string }, EventRow>((knex, key, dialect) =>
	knex('events as e')
		.where(key)
		.select(...eventColumns(knex, dialect)),
)

export async function readEvent(db: Db, organizationId: string, id: string): Promise<string | undefined> {
	const row = await db.get(one, { organizationId, id })
	return row && eventText(row)
}

type Filters = Omit<ListFilter<'webhooks.events.list'>, 'cursor'> & { readonly organizationId: string }

interface Page {
	readonly limit: number
	readonly offset: number
	/** The page begins after this place. */
	readonly after: number
}

/**
 * The place of an event in the feed. On SQLite it is the position, because transactions commit in the order of their events'
 * positions.
 */
const placeColumn = (dialect: Dialect) => (dialect === 'sqlite' ? 'position' : 'place')

const matching = (knex: Knex, filters: Placeholders<Filters>) => knex('events as e').where(filters)

const page = query<Filters & Page, EventRow & { place: number }>((knex, { limit, offset, after, ...filters }, dialect) => {
	const place = placeColumn(dialect)
	return matching(knex, filters)
		.where(place, '>', after)
		.orderBy(place)
		.select({ place }, ...eventColumns(knex, dialect))
		.limit(asNumber(limit))
		.offset(asNumber(offset))
})

const count = query<Filters, { total: number }>((knex, filters) => matching(knex, filters).count({ total: '*' }))

/** How many events get their places in one transaction. */
const placeBatch = 1_000
/** How many transactions one read runs at most: a long feed that nobody has read gets its places over several reads. */
const maxPlaceBatches = 10

/** `materialized`, because PostgreSQL may run a plain subquery again for every row, and take new numbers each time. */
const assignPlaces = query<{ organizationId: string }>((knex, { organizationId }) =>
	knex.raw(
		`with first as materialized (
			select id from events where "organizationId" = ? and place is null order by position limit ${placeBatch}
		), next as materialized (select id, nextval('event_places') as place from first)
		update events set place = next.place from next where events."organizationId" = ? and events.id = next.id`,
		[organizationId, organizationId],
	),
)

/** Gives places to committed events without one, and returns how many. The lock lets one reader do so at a time. */
const place = (db: Database, organizationId: string) =>
	db.transaction(
		async (tx) => ((await tx.tryLock(`event places ${organizationId}`)) ? tx.run(assignPlaces, { organizationId }) : 0),
		{ organizationId },
	)

/** Events as JSON texts, oldest first, and the place of the last. */
export async function readEvents(db: Database, filters: Filters, { limit, offset, after }: Page) {
	const read = () => db.all(page, { ...filters, limit, offset, after })
	let rows = await read()
	for (let times = 0; db.dialect === 'postgres' && rows.length < limit && times < maxPlaceBatches; times++) {
		if ((await place(db, filters.organizationId)) === 0) break
		rows = await read()
	}
	return { rows: rows.map(eventText), last: rows.at(-1)?.place }
}

export const countEvents = async (db: Db, filters: Filters): Promise<number> => (await db.get(count, { ...filters }))?.total ?? 0
