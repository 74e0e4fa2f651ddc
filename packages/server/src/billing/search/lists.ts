// Lists with a `search`.
import type { Db } from '../../platform/db/database.ts'
import type { CountedPage, Order, PageQuery, PageRows } from '../../platform/db/pages.ts'
import { findText, longestFirst } from './store.ts'
import type { SearchedTable } from './texts.ts'

interface Words {
	readonly words: readonly string[]
	/** The two longest of them, for a look that costs less. */
	readonly longest: string
	readonly longer: string
}

/** The filters of a list, with what its search has found, or looks for. */
export type Searched<Filter> = Omit<Filter, 'search'> & { readonly ids?: readonly string[] } & Partial<Words>

/** The column that triggers make the index of. */
export interface SearchText {
	readonly searchText: string
}

interface Lists<Filter> {
	readPage(db: Db, organizationId: string, page: Searched<Filter> & PageQuery, order?: Order): Promise<CountedPage>
	readRows(db: Db, organizationId: string, page: Searched<Filter> & PageQuery, order?: Order): Promise<PageRows>
}

/** Who asks what has changed wants the changes in their order. */
const changes: Order = { column: 'updatedAt', direction: 'asc' }

/** Whether anything but `search` chooses the records. */
const isChosen = ({ limit, offset, after, ...filters }: object & Partial<PageQuery>) =>
	Object.values(filters).some((value) => value !== undefined)

/** What a search, or a filter, leaves of a list. */
export interface Left<Filter> {
	/** The records that match; the filter itself where these are more than are read and sorted. */
	readonly filter: { readonly ids: readonly string[] } | Filter
	/** How many match, or at least. */
	readonly found: number
	/** Whether more match. */
	readonly isCut: boolean
}

/** Searches for all that match. Undefined where `search` is blank. */
export async function leftBySearch(
	db: Db,
	organizationId: string,
	table: SearchedTable,
	search: string | undefined,
): Promise<Left<Words> | undefined> {
	const found = await findText(db, organizationId, table, search, true)
	if (!found) return undefined
	const { ids, words, isCut } = found
	const [longest = '', longer = ''] = longestFirst(words)
	return { filter: isCut ? { words, longest, longer } : { ids }, found: ids.length, isCut }
}

/**
 * Reads pages of a list: of what `search` finds, or of all. Alone a search has the best of what it finds; in an order that is asked for, or
 * beside filters, all of it.
 */
export const searchedPage =
	<Filter extends object>(table: SearchedTable, { readPage, readRows }: Lists<Filter>) =>
	async (
		db: Db,
		organizationId: string,
		query: Filter & { readonly search?: string } & PageQuery,
		order?: Order,
		isSorted = false,
	): Promise<CountedPage> => {
		const { search, ...others } = query
		const best = isSorted || isChosen(others) ? undefined : await findText(db, organizationId, table, search)
		if (best) {
			const { ids, isCut } = best
			const page = { ...(others as unknown as Searched<Filter> & PageQuery), ids }
			const rows = await readRows(db, organizationId, page, order)
			return { ...rows, total: query.after ? null : ids.length, ...(isCut && { isCut }) }
		}
		const left = await leftBySearch(db, organizationId, table, search)
		const page = { ...(others as unknown as Searched<Filter> & PageQuery), ...left?.filter }
		return readPage(db, organizationId, page, order ?? ('updatedSince' in page ? changes : undefined))
	}
