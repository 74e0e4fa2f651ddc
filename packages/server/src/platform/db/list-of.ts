// A list of records in one order. What an index has in that order is read from it; other filters are walked, in parts that leave turns to
// others (docs/decisions/lists.md).
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Knex } from 'knex'
import { type Db, type Dialect, type Placeholders, query } from './database.ts'
import {
	behind,
	type CountedPage,
	countRows,
	type JsonPageQuery,
	joined,
	type Matching,
	type Order,
	offsetTooDeep,
	onPage,
	type PageJson,
	type PageParameters,
	type PageQuery,
	type PageRows,
	type Place,
	pageOf,
	pageParameters,
	readPage,
	skipTo,
	stepOf,
	totalOf,
} from './pages.ts'

/** Filters that bound a column, by their names. */
export interface Bounds {
	readonly least: readonly string[]
	readonly most: readonly string[]
}

export interface ListOf<Filters> {
	readonly table: string
	readonly order: Order
	/** The filters that bound the column of the order. */
	readonly bounds?: Bounds | undefined
	/** The rows of the list. */
	readonly matching: Matching<Filters>
	/** A record as the column `json`. */
	readonly columns: (knex: Knex, dialect: Dialect) => Knex.Raw
	/** Those of the filters that no index has together with the list's order and the other filters. */
	readonly sparse?: (filters: Record<string, unknown>) => readonly string[]
}

const without = <Filters extends object>(filters: Filters, names: readonly string[]) =>
	names.length === 0
		? filters
		: (Object.fromEntries(Object.entries(filters).filter(([name]) => !names.includes(name))) as Filters)

/** A page by sparse filters looks at so many rows in one go, and at so many in all: it may be short, or empty, and still have a next one. */
const sparseStride = 1_000
const sparseStrides = 10

interface UpTo {
	readonly upToKey?: string | number
	readonly upToId?: string
}

/** A list in one order. */
export function listOf<Filters extends object>(list: ListOf<Filters>) {
	const { table, order, bounds = { least: [], most: [] }, matching, columns, sparse = () => [] } = list
	const step = stepOf(matching, order)
	const [begin, end] = order.direction === 'asc' ? [bounds.least, bounds.most] : [bounds.most, bounds.least]
	/**
	 * The filters without those that two places of the list imply. Of two bounds at one side SQLite looks up one, and would read from the
	 * beginning of the range to the place: a page far behind took 100 ms.
	 */
	const between = (filters: Filters, after: Place | undefined, upTo?: Place) =>
		without(filters, [...(after ? begin : []), ...(upTo ? end : [])])
	/** The rows of the list up to a place. */
	function matchingUpTo(knex: Knex, params: Placeholders<Filters & UpTo>, dialect: Dialect): Knex.QueryBuilder {
		const { upToKey, upToId, ...filters } = params
		const rows = matching(knex, filters as unknown as Placeholders<Filters>, dialect)
		return upToKey === undefined
			? rows
			: rows.whereRaw(`("${order.column}", id) ${order.direction === 'asc' ? '<=' : '>='} (?, ?)`, [
					upToKey,
					upToId as Knex.Value,
				])
	}
	const page: JsonPageQuery<Filters & PageParameters & UpTo> = query((knex, params, dialect) => {
		const { limit, offset, afterKey, afterId, ...filters } = params
		const rows = matchingUpTo(knex, filters as unknown as Placeholders<Filters & UpTo>, dialect)
		const at = { limit, offset, afterKey, afterId } as Placeholders<PageParameters>
		return pageOf(knex, dialect, { table, rows: onPage(rows, at, order), order, columns: columns(knex, dialect) })
	})
	const countPart = query<Filters & UpTo & Pick<PageParameters, 'afterKey' | 'afterId'>, { total: number }>(
		(knex, params, dialect) => {
			const { afterKey, afterId, ...filters } = params
			const rows = matchingUpTo(knex, filters as unknown as Placeholders<Filters & UpTo>, dialect)
			if (afterKey !== undefined && afterId !== undefined) behind(rows, order, afterKey, afterId)
			return rows.count({ total: '*' })
		},
	)
	const count = query<Filters, { total: number }>((knex, filters, dialect) => countRows(knex, matching(knex, filters, dialect)))

	/** What a search has found is little: none of its filters is sparse. The words of one that finds much are in no index of an order. */
	const sparseOf = (filters: object) => {
		const given = filters as Record<string, unknown>
		return given.ids === undefined
			? [...sparse(given), 'longest', 'longer', 'words'].filter((name) => given[name] !== undefined)
			: []
	}

	/** Walks the list without its sparse filters, and looks for rows between one place and the next. */
	async function readSparse(db: Db, filters: Filters, { limit, offset, after }: PageQuery): Promise<PageRows> {
		const names = sparseOf(filters)
		const walked = without(filters, names)
		const found: PageJson[] = []
		let [toSkip, from] = [offset, after]
		for (let [left, strides] = [limit, 0]; left > 0 && strides < sparseStrides; strides++) {
			const at = pageParameters({ limit: 0, offset: sparseStride - 1, after: from })
			const to = await db.get(step, { ...between(walked, from), ...at })
			const upTo = to && { upToKey: to.key, upToId: to.id }
			const given = between(filters, from, to)
			if (upTo && toSkip >= sparseStride) {
				const behindPlace = from && { afterKey: from.key, afterId: from.id }
				toSkip -= (await db.get(countPart, { ...given, ...behindPlace, ...upTo }))?.total ?? 0
			} else {
				const wanted = toSkip + left
				const params = { ...given, ...pageParameters({ limit: wanted, offset: 0, after: from }), ...upTo }
				const { rows = [], end } = await readPage(db, page, params, wanted)
				const kept = toSkip > 0 ? joined([rows], toSkip) : rows
				found.push(kept)
				toSkip -= rows.length - kept.length
				left -= kept.length
				if (end) return { rows: joined(found, 0), hasMore: true, end }
				if (to === undefined) return { rows: joined(found, 0), hasMore: false }
			}
			from = to
			await nextTurn()
		}
		if (toSkip > 0) throw offsetTooDeep()
		return { rows: joined(found, 0), hasMore: true, ...(from && { end: from }) }
	}

	async function read(db: Db, filters: Filters, asked: PageQuery): Promise<PageRows> {
		if (sparseOf(filters).length > 0) return readSparse(db, filters, asked)
		const at = await skipTo(db, table, step, (after) => between(filters, after), asked)
		if (at === undefined) return { rows: [], hasMore: false }
		const params = { ...between(filters, at.after), ...pageParameters(at) }
		const { rows = [], ...found } = await readPage(db, page, params, asked.limit)
		return { rows, ...found }
	}

	return {
		read,
		async readCounted(db: Db, filters: Filters, asked: PageQuery): Promise<CountedPage> {
			const found = await read(db, filters, asked)
			if (asked.after) return { ...found, total: null }
			const { rows, hasMore } = found
			const counted = async () =>
				sparseOf(filters).length > 0 ? Number.POSITIVE_INFINITY : (await db.get(count, filters))?.total
			return { ...found, total: await totalOf(asked, { length: rows.length, hasMore }, counted) }
		},
	}
}
