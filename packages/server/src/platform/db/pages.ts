// Pages of lists. What a page costs does not grow with its list: rows are counted up to a bound, a page behind a place (the sort key and
// the id of a record) is found by an index, and an offset is skipped in strides that leave turns to others.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Knex } from 'knex'
import { ApiError } from '../base/errors.ts'
import { asNumber, type Db, type Dialect, madeOnce, type Placeholders, type Query, query } from './database.ts'
import { pageWith } from './json.ts'

/** Rows are counted up to this number; a list of more has no total. The contract says it, too. */
export const countBound = 10_000

export interface Order {
	/** A column that is never null; `id` when the order is that of the ids. */
	readonly column: string
	readonly direction: 'asc' | 'desc'
}

/** The sort key and the id of a record, after which a page begins. */
export interface Place {
	readonly key: string | number
	readonly id: string
}

export interface PageQuery {
	readonly limit: number
	readonly offset: number
	readonly after?: Place | undefined
}

/** `PageQuery` as the parameters of a query. */
export interface PageParameters {
	readonly limit: number
	readonly offset: number
	readonly afterKey?: string | number
	readonly afterId?: string
}

/** One row more than the page has, which tells whether there are more. */
export const pageParameters = ({ limit, offset, after }: PageQuery): PageParameters => ({
	limit: limit + 1,
	offset,
	...(after && { afterKey: after.key, afterId: after.id }),
})

/** Ties go by id. */
const orderBy = ({ column, direction }: Order) =>
	(column === 'id' ? ['id'] : [column, 'id']).map((name) => ({ column: name, order: direction }))

/** The rows of a page in their order, without its columns. */
export function onPage(
	rows: Knex.QueryBuilder,
	{ limit, offset, afterKey, afterId }: Placeholders<PageParameters>,
	order: Order,
): Knex.QueryBuilder {
	if (afterKey !== undefined && afterId !== undefined) behind(rows, order, afterKey, afterId)
	return rows.orderBy(orderBy(order)).limit(asNumber(limit)).offset(asNumber(offset))
}

export function behind(rows: Knex.QueryBuilder, { column, direction }: Order, key: Knex.Value, id: Knex.Value): void {
	const beyond = direction === 'asc' ? '>' : '<'
	if (column === 'id') rows.where('id', beyond, id)
	else rows.whereRaw(`("${column}", id) ${beyond} (?, ?)`, [key, id])
}

/** Records as JSON with commas between them. */
export interface JsonRows {
	readonly json: Uint8Array
	readonly length: number
}

/** The records of a page as JSON: the database joins them, so that nothing has to parse and write them again. */
export type PageJson = readonly string[] | JsonRows

/** A page is read as one row. A row of a page is an object that lives until the answer is written, and costs as much as its query. */
export interface PageRow {
	/** Text on PostgreSQL; null when the records' JSON is. */
	readonly joined: Uint8Array | string | null
	/** Of each record its id and the size of its JSON, with spaces between them; null when the page has no record. */
	readonly sizes: string | null
	/** The sort keys as a JSON array. */
	readonly keys: string
}

const joins: Readonly<Record<Dialect, string>> = {
	sqlite: `cast(group_concat(json) as blob) as joined, group_concat(id || ' ' || ifnull(octet_length(json), 0), ' ') as sizes, json_group_array("key") as keys`,
	postgres: `string_agg(json, ',') as joined, string_agg(id || ' ' || coalesce(octet_length(json), 0), ' ') as sizes, json_agg("key")::text as keys`,
}

export type JsonPageQuery<P extends object> = Query<P, PageRow>

/** A page of records; `columns` is a record as the column `json`. To be read with `readPage`. */
export function pageOf(
	knex: Knex,
	dialect: Dialect,
	{ table, rows, order, columns }: { table: string; rows: Knex.QueryBuilder; order: Order; columns: Knex.Raw },
): Knex.QueryBuilder {
	const page = pageWith(knex, dialect, { table, rows, order: orderBy(order), columns }).select({ key: order.column }, 'id')
	return knex.from(page.as('page')).select(knex.raw(joins[dialect]))
}

/** Reads a page that was asked for with a row more than it has. Its rows are undefined when a record's JSON is null. */
export async function readPage<P extends object>(
	db: Db,
	page: JsonPageQuery<P>,
	params: P,
	limit: number,
): Promise<Omit<PageRows, 'rows'> & { rows: PageJson | undefined }> {
	const found = await db.get(page, params)
	if (!found || found.sizes === null) return { rows: [], hasMore: false }
	const sizes = found.sizes.split(' ')
	const length = sizes.length / 2
	const hasMore = length > limit
	const at = Math.min(limit, length) - 1
	const end = endOf(hasMore, { key: hasMore ? JSON.parse(found.keys)[at] : '', id: sizes[2 * at] as string })
	if (found.joined === null) return { rows: undefined, ...end }
	const joined = typeof found.joined === 'string' ? Buffer.from(found.joined) : found.joined
	const json = hasMore ? joined.subarray(0, -1 - Number(sizes[2 * limit + 1])) : joined
	return { rows: { json, length: at + 1 }, ...end }
}

const endOf = (hasMore: boolean, last: Place | undefined) => ({
	hasMore,
	...(hasMore && last && { end: { key: last.key, id: last.id } }),
})

/** The records of several pages without the first `offset`. */
export const joined = (pages: readonly PageJson[], offset: number): string[] =>
	pages
		.flatMap((rows) => parseRows(rows))
		.slice(offset)
		.map((record) => JSON.stringify(record))

/** The records of a page, parsed. */
export const parseRows = <R>(rows: PageJson): R[] =>
	'json' in rows ? JSON.parse(`[${Buffer.from(rows.json).toString()}]`) : rows.map((text) => JSON.parse(text))

/** Counts rows, but no more than one beyond the bound. */
export const countRows = (knex: Knex, rows: Knex.QueryBuilder) =>
	knex
		.from(
			rows
				.select(knex.raw('1 as one'))
				.limit(countBound + 1)
				.as('counted'),
		)
		.count({ total: '*' })

/** The total of a list of which a page was read: without counting where the page ends the list. `count` counts to the bound. */
export async function totalOf(
	{ offset }: PageQuery,
	{ length, hasMore }: { length: number; hasMore: boolean },
	count: () => Promise<number | undefined>,
): Promise<number | null> {
	const isEnd = !hasMore && (length > 0 || offset === 0)
	const total = isEnd ? offset + length : ((await count()) ?? 0)
	return total > countBound ? null : total
}

/** The rows of a page of those that were read for it. */
export const cutPage = <Row>(rows: readonly Row[], limit: number): { rows: Row[]; hasMore: boolean } => ({
	rows: rows.slice(0, limit),
	hasMore: rows.length > limit,
})

/**
 * How many rows of an index a statement skips: less than 2 ms on SQLite, where everybody waits for it; on PostgreSQL each statement is a
 * round trip.
 */
export const strides: Readonly<Record<Dialect, number>> = { sqlite: 5_000, postgres: 100_000 }

export type StepQuery<Filters extends object> = Query<Filters & PageParameters, Place>

/** Finds the place of the last row that an offset skips. `matching` are the rows of the list. */
export const stepOf = <Filters extends object>(matching: Matching<Filters>, order: Order): StepQuery<Filters> =>
	query<Filters & PageParameters, Place>((knex, { limit, offset, afterKey, afterId, ...filters }, dialect) =>
		onPage(
			matching(knex, filters as unknown as Placeholders<Filters>, dialect),
			{ limit, offset, afterKey, afterId } as Placeholders<PageParameters>,
			order,
		).select({ key: order.column }, 'id'),
	)

const lastRow = madeOnce((table: string) => query<object, { most: number | null }>((knex) => knex(table).max({ most: 'rowid' })))

/** Whether an offset is beyond all rows of a table. Only SQLite can tell in one step: each row has its own number. */
export async function isBeyond(db: Db, table: string, offset: number): Promise<boolean> {
	if (db.dialect === 'postgres') return false
	return offset >= ((await db.get(lastRow(table), {}))?.most ?? 0)
}

/**
 * Skips most of a deep offset, stride by stride, with a turn for others after each. Returns the page that is left to read; undefined when
 * the list has no row there.
 */
export async function skipTo<Filters extends object>(
	db: Db,
	table: string,
	step: StepQuery<Filters>,
	filters: Filters | ((after: Place | undefined) => Filters),
	page: PageQuery,
): Promise<PageQuery | undefined> {
	const stride = strides[db.dialect]
	if (page.offset < stride) return page
	if (await isBeyond(db, table, page.offset)) return undefined
	let { offset, after } = page
	while (offset >= stride) {
		const limited = typeof filters === 'function' ? filters(after) : filters
		after = await db.get(step, { ...limited, ...pageParameters({ limit: 0, offset: stride - 1, after }) })
		if (after === undefined) return undefined
		offset -= stride
		await nextTurn()
	}
	return { limit: page.limit, offset, after }
}

/** A page as JSON. */
export interface PageRows {
	readonly rows: PageJson
	readonly hasMore: boolean
	/** Where the next page begins; absent on the last. */
	readonly end?: Place
}

/** A page, and how many records its list has; null for more than are counted, and after a place. */
export interface CountedPage extends PageRows {
	readonly total: number | null
	/** Whether a search found more than it ranks. */
	readonly isCut?: true
}

export type Matching<Filters> = (knex: Knex, filters: Placeholders<Filters>, dialect: Dialect) => Knex.QueryBuilder

/** Where no index says how far an offset goes, what it skips counts among what a page looks at. */
export function offsetTooDeep(): ApiError {
	const detail = 'is too deep for a list that is searched or filtered like this; follow the cursor of each page'
	return new ApiError('invalid_request', `offset ${detail}.`, { errors: [{ parameter: 'offset', code: 'range', detail }] })
}
