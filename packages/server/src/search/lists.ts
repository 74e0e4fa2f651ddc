// Lists with a `search`.
import type { Db } from '../db/database.ts'
import type { CountedPage, Order, PageQuery } from '../db/pages.ts'
import { findText, mostChosen } from './store.ts'
import type { SearchedTable } from './texts.ts'

/** The filters of a list, with what its search has found, or looks for. */
export type Searched<Filter> = Omit<Filter, 'search'> & { readonly ids?: readonly string[]; readonly words?: readonly string[] }

/** The column that triggers make the index of. */
export interface SearchText {
	readonly searchText: string
}

interface Lists<Filter> {
	readPage(db: Db, organizationId: string, page: Searched<Filter> & PageQuery, order?: Order): Promise<CountedPage>
}

/** Who asks what has changed wants the changes in their order. */
const changes: Order = { column: 'updatedAt', direction: 'asc' }

/** Whether anything but `search` chooses the records. */
const isChosen = ({ limit, offset, after, ...filters }: object & Partial<PageQuery>) =>
	Object.values(filters).some((value) => value !== undefined)

/**
 * Reads pages of a list: of what `search` finds, or of all. Alone a search has the best of what it finds; in an order that is asked for, or
 * beside filters, all of it.
 */
export const searchedPage =
	<Filter extends object>(table: SearchedTable, { readPage }: Lists<Filter>) =>
	async (
		db: Db,
		organizationId: string,
		query: Filter & { readonly search?: string } & PageQuery,
		order?: Order,
		isSorted = false,
	): Promise<CountedPage> => {
		const { search, ...others } = query
		const isComplete = isSorted || isChosen(others)
		const found = await findText(db, organizationId, table, search, isComplete ? mostChosen : undefined)
		const isWalked = isComplete && found?.isCut
		const searched = found && (isWalked ? { words: found.words } : { ids: found.ids })
		const page = { ...(others as unknown as Searched<Filter> & PageQuery), ...searched }
		const read = await readPage(db, organizationId, page, order ?? ('updatedSince' in page ? changes : undefined))
		return found?.isCut && !isWalked ? { ...read, isCut: true } : read
	}
