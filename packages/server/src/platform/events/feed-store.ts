// Reads the feed: the events of an organization in the order of their places.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Knex } from 'knex'
import type { EventType } from '../../generated/contract.ts'
import { beginningOf } from '../base/ids.ts'
import { asNumber, type Database, type Db, type Dialect, type Placeholders, query } from '../db/database.ts'
import { countBound, countRows, cutPage, isBeyond, strides } from '../db/pages.ts'
import { readSized, type Sized, storedBytes, unlessLong } from './long-records-store.ts'
import { maxPlaceBatches, place, placeAll } from './places-store.ts'
import { type EventRow, envelopeColumns, eventColumns, eventText, jsonText, readEvent } from './store.ts'

interface Filters {
	readonly organizationId: string
	readonly type?: EventType
	readonly resourceId?: string
	/** Only events of this time and later. */
	readonly since?: number
}

interface Page {
	readonly limit: number
	readonly offset: number
	/** Only events after this place. */
	readonly after: number
	/** Newest first, only events before this place; absent for oldest first. */
	readonly before?: number
}

/**
 * The place of an event in the feed. On SQLite it is the position, because transactions commit in the order of their events'
 * positions.
 */
const placeColumn = (dialect: Dialect) => (dialect === 'sqlite' ? 'position' : 'place')

type Types = readonly EventType[] | undefined

/**
 * The events of one record have their places in the order of their sequence, by which an index finds them. As expressions the other columns
 * lead the planner to no other index, which would hold all events of the organization; the one of the place not even as one that has all with a place.
 */
function pageOf(
	knex: Knex,
	{ limit, offset, after, before, since, type, ...filters }: Placeholders<Filters & Page>,
	dialect: Dialect,
) {
	const isOfRecord = filters.resourceId !== undefined
	const place = isOfRecord ? `coalesce(${placeColumn(dialect)}, 0)` : placeColumn(dialect)
	const rows = knex('events as e').where(filters).whereRaw(`${place} > ?`, [after])
	if (before !== undefined) rows.whereRaw(`${place} < ?`, [before])
	if (since !== undefined) rows.where('timestamp', '>=', since)
	if (type !== undefined) rows.whereRaw(isOfRecord ? "type || '' = ?" : 'type = ?', [type])
	return rows
		.orderBy(isOfRecord ? 'sequence' : placeColumn(dialect), before === undefined ? 'asc' : 'desc')
		.limit(asNumber(limit))
		.offset(asNumber(offset))
}

type ShortRow = Omit<EventRow, 'data'> & { readonly place: number; readonly data: string | null }

/** The queries of the feed, of all events or of these types alone. */
const feedQueries = (types: Types) => {
	const rows = (knex: Knex, params: Placeholders<Filters & Page>, dialect: Dialect) => {
		const all = pageOf(knex, params, dialect)
		if (!types) return all
		if (params.resourceId === undefined) return all.whereRaw(...firstOfEach(types, params, dialect))
		return all.whereRaw(`type || '' in ('${types.join(`', '`)}')`)
	}
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

		/** The place of a row. */
		step: query<Filters & Page, { place: number }>((knex, params, dialect) =>
			rows(knex, params, dialect).select({ place: placeColumn(dialect) }),
		),

		/** A part of the feed: how many events it has, and the place of the last. */
		part: query<Filters & Page, { total: number; last: number }>((knex, params, dialect) =>
			knex
				.from(
					rows(knex, params, dialect)
						.select({ place: placeColumn(dialect) })
						.as('part'),
				)
				.count({ total: '*' })
				.max({ last: 'place' }),
		),

		count: query<Filters & { from?: string }, { total: number }>((knex, { since, from, ...filters }) => {
			const all = knex('events as e').where(filters)
			if (from !== undefined) all.where('id', '>=', from)
			return countRows(knex, types ? all.whereIn('type', types) : all)
		}),
	}
}

/** Among the first events of each type, or the last: the index of types finds them, however many events of other types lie between. */
function firstOfEach(
	types: readonly EventType[],
	{ organizationId, after, before, since, limit, offset }: Placeholders<Filters & Page>,
	dialect: Dialect,
): [sql: string, values: Knex.Value[]] {
	const place = placeColumn(dialect)
	const branch = (type: EventType) =>
		`select ${place} from (select ${place} from events where "organizationId" = ? and type = '${type}' and ${place} > ?
			${before === undefined ? '' : `and ${place} < ?`} ${since === undefined ? '' : 'and timestamp >= ?'}
			order by ${place} ${before === undefined ? '' : 'desc'} limit cast(? as bigint) + cast(? as bigint)) as of_type`
	const bounds = [before, since].filter((bound) => bound !== undefined)
	const values = [organizationId, after, ...bounds, limit, offset]
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

const lastPlace = query<{ organizationId: string }, { place: number }>((knex, { organizationId }, dialect) =>
	knex('events')
		.where({ organizationId })
		.whereNotNull(placeColumn(dialect))
		.orderBy(placeColumn(dialect), 'desc')
		.limit(1)
		.select({ place: placeColumn(dialect) }),
)

/** The place of the newest event. */
export async function findEnd(db: Database, organizationId: string): Promise<number> {
	await placeAll(db, organizationId)
	return (await db.get(lastPlace, { organizationId }))?.place ?? 0
}

const placeBefore = query<{ organizationId: string; end: string }, { place: number | null }>(
	(knex, { organizationId, end }, dialect) =>
		knex('events')
			.where({ organizationId })
			.where('id', '<', end)
			.orderBy('id', 'desc')
			.limit(1)
			.select({ place: placeColumn(dialect) }),
)

/** No transaction takes so long: an event that began earlier has its place before all that begin now. */
const longestWriteMs = 600_000

/** A place before which there are no events of this time or later: the reader need not walk over all that are older. */
export async function findPlaceBefore(db: Database, organizationId: string, since: number): Promise<number> {
	const end = beginningOf('evt', Math.max(0, since - longestWriteMs))
	// Another reader may be giving the places, and there may be more to give than one time gives.
	for (let times = 0; times < 100; times++) {
		await placeAll(db, organizationId)
		const found = await db.get(placeBefore, { organizationId, end })
		if (found === undefined) return 0
		if (found.place !== null) return found.place
	}
	return 0
}

/** Places are lower. */
export const endOfFeed = Number.MAX_SAFE_INTEGER

/** Skips most of a deep offset, as `skipTo` (platform/db/pages.ts); undefined when there is no event there. */
async function skip(db: Database, filters: Filters, at: Page, types: Types): Promise<Page | undefined> {
	// Of several types, each is read as far as the page ends.
	const stride = Math.ceil(strides[db.dialect] / (types?.length ?? 1))
	if (at.offset < stride) return at
	if (await isBeyond(db, 'events', at.offset)) return undefined
	let left = at
	while (left.offset >= stride) {
		const found = await db.get(feedOf(types).step, { ...filters, ...left, limit: 1, offset: stride - 1 })
		if (!found) return undefined
		const { place } = found
		left = { ...left, ...(at.before === undefined ? { after: place } : { before: place }), offset: left.offset - stride }
		await nextTurn()
	}
	return left
}

interface FeedPage {
	/** JSON texts; those of a long page are read while they are sent. */
	readonly rows: readonly string[] | AsyncIterable<string>
	readonly length: number
	readonly hasMore: boolean
	/** The place of the last event. */
	readonly last: number | undefined
}

/** Events as JSON texts, in the order of the page; only those of `types` when it is there. */
export async function readEvents(db: Database, filters: Filters, asked: Page, types?: readonly EventType[]): Promise<FeedPage> {
	const none = { rows: [], length: 0, hasMore: false, last: undefined }
	if (types?.length === 0) return none
	const { before } = asked
	if (before !== undefined) await placeAll(db, filters.organizationId)
	const at = await skip(db, filters, asked, types)
	if (!at) return none
	// One more, which tells whether there are more.
	const limit = asked.limit + 1
	const params = { ...filters, ...at, limit }
	const { page, shortPage, sizes } = feedOf(types)
	const read = () => db.all(shortPage, params)
	let rows = await read()
	for (
		let times = 0;
		db.dialect === 'postgres' && before === undefined && rows.length < limit && times < maxPlaceBatches;
		times++
	) {
		if ((await place(db, filters.organizationId)) === 0) break
		rows = await read()
	}
	const { rows: short, hasMore } = cutPage(rows, asked.limit)
	const found = { length: short.length, hasMore, last: short.at(-1)?.place }
	if (rows[0]?.data !== null) return { ...found, rows: (short as EventRow[]).map(eventText) }
	const long = await readSized(
		(await db.all(sizes, params)).slice(0, asked.limit),
		async () => (await db.all(page, params)).slice(0, asked.limit).map(eventText),
		(id) => readEvent(db, filters.organizationId, id),
	)
	return { ...found, rows: long }
}

/** How many events with a time SQLite looks at in one statement: it reads each row for it. */
const partSize = 1_000

/** Counts events to the bound, after a place before which there are none of `since` or later. */
export async function countEvents(db: Db, filters: Filters, after: number, types?: readonly EventType[]): Promise<number> {
	if (types?.length === 0) return 0
	const { since, type, resourceId } = filters
	const { part, count } = feedOf(types)
	if (since === undefined) return (await db.get(count, filters))?.total ?? 0
	// An index of ids alone has the times.
	const isByTime = (type ?? resourceId ?? types) === undefined
	if (isByTime || db.dialect === 'postgres')
		return (await db.get(count, { ...filters, from: beginningOf('evt', since) }))?.total ?? 0
	let total = 0
	for (let from = after; total <= countBound; await nextTurn()) {
		const found = await db.get(part, { ...filters, after: from, limit: partSize, offset: 0 })
		total += found?.total ?? 0
		if (!found || found.total < partSize) break
		from = found.last
	}
	return total
}
