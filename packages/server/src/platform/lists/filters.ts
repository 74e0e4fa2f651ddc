// Filters of lists that are more than a column with a value.
import type { Knex } from 'knex'
import { ApiError } from '../base/errors.ts'
import type { Dialect, Placeholders } from '../db/database.ts'
import type { Bounds } from '../db/list-of.ts'
import { contains, hasWords, isAnyOf } from '../db/records.ts'

/**
 * A parameter that is not the value of the column of its name: its column, and how it is compared. `any of` takes a list with commas, `in
 * any case` looks the lower case up in an index of it.
 */
type Comparisons = Readonly<Record<string, readonly [column: string, as: '>=' | '<' | '<=' | 'any of' | 'in any case']>>

interface Named {
	readonly table: string
	readonly organizationId: Knex.Value
	readonly ids: Knex.Value
}

/** Keeps the rows of these ids. The databases would walk the list in its order and look each row up among the ids. */
export function among(
	rows: Knex.QueryBuilder,
	knex: Knex,
	{ table, organizationId, ids }: Named,
	dialect: Dialect,
): Knex.QueryBuilder {
	if (dialect === 'postgres') {
		const found = knex(table).where({ organizationId }).whereRaw(isAnyOf('id', dialect), [ids])
		return rows.from(knex.raw('(? offset 0) as ??', [found, table]))
	}
	const found = knex.raw('(select value as "foundId" from json_each(?)) as found cross join ??', [ids, table])
	return rows.from(found).whereRaw('??.id = "foundId"', [table])
}

/**
 * Filters of a table: comparisons, the `ids` that a search found or the `words` that it looks for with the two longest of them, and for each
 * other parameter the column of its name.
 */
export function filterBy(table: string, comparisons: Comparisons = {}) {
	const namesOf = (wanted: string, as: readonly string[]) =>
		Object.entries(comparisons).flatMap(([name, [column, compared]]) => (column === wanted && as.includes(compared) ? name : []))

	function filter<F>(rows: Knex.QueryBuilder, knex: Knex, filters: Placeholders<F>, dialect: Dialect): Knex.QueryBuilder {
		const { ids, longest, longer, words, ...others } = filters as Record<string, Knex.Value>
		for (const [name, value] of Object.entries(others)) {
			const [column, as] = comparisons[name] ?? [name, '=']
			if (as === 'any of') rows.whereRaw(isAnyOf(column, dialect), [value])
			else if (as === 'in any case') rows.whereRaw(`lower("${column}") = ?`, [value])
			else rows.where(column, as, value)
		}
		if (longest !== undefined && longer !== undefined) rows.whereRaw(contains('"searchText"', dialect), [longest, longer])
		if (words !== undefined) rows.whereRaw(hasWords('"searchText"', dialect), [words])
		return ids === undefined
			? rows
			: among(rows, knex, { table, organizationId: others.organizationId as Knex.Value, ids }, dialect)
	}

	/** The filters that bound a column. */
	const boundsOf = (column: string): Bounds => ({ least: namesOf(column, ['>=']), most: namesOf(column, ['<', '<=']) })
	return Object.assign(filter, { boundsOf })
}

/** Throws 400 where the end of a range lies before its beginning. */
export function requireRanges(query: object, ranges: readonly (readonly [from: string, to: string])[]): void {
	const given = query as Record<string, number | undefined>
	const errors = ranges.flatMap(([from, to]) => {
		const [begin, end] = [given[from], given[to]]
		if (begin === undefined || end === undefined || begin <= end) return []
		return { parameter: to, code: 'range', detail: `must not be less than ${from}` }
	})
	if (errors.length === 0) return
	const detail = errors.map((error) => `${error.parameter} ${error.detail}`).join('; ')
	throw new ApiError('invalid_request', `${detail}.`, { errors })
}
