// Lists of what is in memory: all of it is there, so a cursor is the position.
import type { PageQuery } from '../db/pages.ts'

/** A page of an array. */
export function pageOfAll<T>(all: readonly T[], { limit, offset, after }: PageQuery) {
	const from = Number(after?.key ?? 0) + offset
	const rows = all.slice(from, from + limit)
	const end = from + rows.length
	const hasMore = end < all.length
	return { rows, total: all.length, hasMore, ...(hasMore && { end: { key: end, id: '' } }) }
}
