// Lists with a `search`.
import type { Db } from '../db/database.ts'
import type { CountedPage, Order, PageQuery } from '../db/pages.ts'
import { findText } from './store.ts'
import type { SearchedTable } from './texts.ts'

/** The filters of a list, with what its search has found. */
export type Searched<Filter> = Omit<Filter, 'search'> & { readonly ids?: readonly string[] }

/** The column that triggers make the index of. */
export interface SearchText {
	readonly searchText: string
}

interface Lists<Filter> {
	readPage(db: Db, organizationId: string, page: Searched<Filter> & PageQuery, order?: Order): Promise<CountedPage>
}

/** Who asks what has changed wants the changes in their order. */
const changes: Order = { column: 'updatedAt', direction: 'asc' }

/** Reads pages of a list: of what `search` finds, or of all. */
export const searchedPage =
	<Filter extends object>(table: SearchedTable, { readPage }: Lists<Filter>) =>
	async (
		db: Db,
		organizationId: string,
		query: Filter & { readonly search?: string } & PageQuery,
		order?: Order,
	): Promise<CountedPage> => {
		const { search, ...others } = query
		const found = await findText(db, organizationId, table, search)
		const page = { ...(others as unknown as Searched<Filter> & PageQuery), ...(found && { ids: found.ids }) }
		const read = await readPage(db, organizationId, page, order ?? ('updatedSince' in page ? changes : undefined))
		return found?.isCut ? { ...read, isCut: true } : read
	}
