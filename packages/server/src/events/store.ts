// Stores events and reads them as JSON text, which is the same in every delivery and in the feed.
import type { Knex } from 'knex'
import type { Actor } from '../base/origin.ts'
import { asNumber, type Database, type Db, type Dialect, type Placeholders, query } from '../db/database.ts'
import type { ListFilter } from '../db/records.ts'
import type { EventType, WebhookEvent } from '../generated/contract.ts'
import type { Changes } from './changes.ts'
import { type PageRows, readSized, type Sized, storedBytes, unlessLong } from './long-records-store.ts'

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
	...envelopeColumns(knex, dialect),
	...['changes', 'data'].map((name) => knex.raw('? as ??', [jsonText(knex, dialect, name), name])),
]

const envelopeColumns = (knex: Knex, dialect: Dialect) => [
	'e.id as eventId',
	...['type', 'timestamp', 'organizationId', 'resourceType', 'resourceId', 'sequence'].map((name) => `e.${name}`),
	knex.raw('? as ??', [jsonText(knex, dialect, 'actor'), 'actor']),
]

const jsonText = (knex: Knex, dialect: Dialect, name: string) => knex.raw(dialect === 'sqlite' ? '??' : '??::text', [`e.${name}`])

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

type Types = readonly EventType[] | undefined

const pageOf = (knex: Knex, { limit, offset, after, ...filters }: Placeholders<Filters & Page>, dialect: Dialect) =>
	matching(knex, filters)
		.where(placeColumn(dialect), '>', after)
		.orderBy(placeColumn(dialect))
		.limit(asNumber(limit))
		.offset(asNumber(offset))

type ShortRow = Omit<EventRow, 'data'> & { readonly place: number; readonly data: string | null }

/** The queries of the feed, of all events or of these types alone. */
const feedQueries = (types: Types) => {
	const rows = (knex: Knex, params: Placeholders<Filters & Page>, dialect: Dialect) =>
		types ? pageOf(knex, params, dialect).whereRaw(...firstOfEach(types, params, dialect)) : pageOf(knex, params, dialect)
	return {
		page: query<Filters & Page, EventRow>((knex, params, dialect) =>
			rows(knex, params, dialect).select(...eventColumns(knex, dialect)),
		),

		/** `data` and `changes` are null when the organization may have long records. */
		shortPage: query<Filters & Page, ShortRow>((knex, params, dialect) => {
			const { organizationId } = params
			const columns = Object.fromEntries(
				(['changes', 'data'] as const).map((name) => [name, unlessLong(knex, organizationId, jsonText(knex, dialect, name))]),
			)
			return rows(knex, params, dialect).select({ place: placeColumn(dialect) }, ...envelopeColumns(knex, dialect), columns)
		}),

		sizes: query<Filters & Page, Sized>((knex, params, dialect) => {
			const bytes = ['changes', 'data'].map((name) => storedBytes(name, dialect)).join(' + ')
			return rows(knex, params, dialect).select('id', knex.raw(`${bytes} as bytes`))
		}),

		count: query<Filters, { total: number }>((knex, filters) => {
			const all = matching(knex, filters)
			return (types ? all.whereIn('type', types) : all).count({ total: '*' })
		}),
	}
}

/** Among the first events of each type: the index of types finds them, however many events of other types lie between. */
function firstOfEach(
	types: readonly EventType[],
	{ organizationId, after, limit, offset }: Placeholders<Filters & Page>,
	dialect: Dialect,
): [sql: string, values: Knex.Value[]] {
	const place = placeColumn(dialect)
	const branch = (type: EventType) =>
		`select ${place} from (select ${place} from events where "organizationId" = ? and type = '${type}' and ${place} > ?
			order by ${place} limit cast(? as bigint) + cast(? as bigint)) as of_type`
	const values = [organizationId, after, limit, offset]
	return [`e.${place} in (${types.map(branch).join(' union all ')})`, types.flatMap(() => values)]
}

const feeds = new Map<string, ReturnType<typeof feedQueries>>()

/** A feed's queries, made once for each set of types. */
function feedOf(types: Types): ReturnType<typeof feedQueries> {
	const name = String(types)
	const known = feeds.get(name) ?? feedQueries(types)
	feeds.set(name, known)
	return known
}

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

/** Events as JSON texts, oldest first, and the place of the last; only those of `types` when it is there. */
export async function readEvents(
	db: Database,
	filters: Filters,
	{ limit, offset, after }: Page,
	types?: readonly EventType[],
): Promise<{ rows: PageRows; last: number | undefined }> {
	if (types?.length === 0) return { rows: [], last: undefined }
	const params = { ...filters, limit, offset, after }
	const { page, shortPage, sizes } = feedOf(types)
	const read = () => db.all(shortPage, params)
	let rows = await read()
	for (let times = 0; db.dialect === 'postgres' && rows.length < limit && times < maxPlaceBatches; times++) {
		if ((await place(db, filters.organizationId)) === 0) break
		rows = await read()
	}
	const last = rows.at(-1)?.place
	if (rows[0]?.data !== null) return { rows: (rows as EventRow[]).map(eventText), last }
	const long = await readSized(
		await db.all(sizes, params),
		async () => (await db.all(page, params)).map(eventText),
		(id) => readEvent(db, filters.organizationId, id),
	)
	return { rows: long, last }
}

export const countEvents = async (db: Db, filters: Filters, types?: readonly EventType[]): Promise<number> =>
	types?.length === 0 ? 0 : ((await db.get(feedOf(types).count, { ...filters }))?.total ?? 0)
