// What the search in all kinds shows of the records that it has found.
import type { Knex } from 'knex'
import { type Db, madeOnce, query } from '../../../platform/db/database.ts'
import { byIds } from '../store.ts'
import type { SearchedTable } from '../texts.ts'

interface Named {
	readonly id: string
	readonly title: string
	readonly subtitle: string | null
}

interface ByIds {
	readonly organizationId: string
	readonly ids: readonly string[]
}

const company = (knex: Knex) =>
	knex('companies as c').whereRaw('c."organizationId" = r."organizationId" and c.id = r."companyId"').select('c.name')

const titles: Record<SearchedTable, (knex: Knex) => Record<'title' | 'subtitle', string | Knex.QueryBuilder | Knex.Raw>> = {
	companies: () => ({ title: 'r.name', subtitle: 'r.domain' }),
	contacts: () => ({ title: 'r.name', subtitle: 'r.email' }),
	deals: (knex) => ({ title: 'r.name', subtitle: company(knex) }),
	invoices: (knex) => ({ title: 'r.invoiceNumber', subtitle: company(knex) }),
	time_entries: (knex) => ({
		title: knex.raw(`substr(coalesce(r."taskName", r."deliverableName", r.description, ''), 1, 200)`),
		subtitle: knex.raw('substr(r.description, 1, 200)'),
	}),
}

const named = madeOnce((table: SearchedTable) =>
	query<ByIds, Named>((knex, { organizationId, ids }, dialect) =>
		knex
			.from(byIds(knex, dialect, table, ids))
			.whereRaw('r."organizationId" = ? and r.id = "foundId"', [organizationId])
			.orderBy('n')
			.select({ id: 'r.id', ...titles[table](knex) }),
	),
)

/** The records as a search shows them, in the order of the ids. */
export const readNamed = (db: Db, organizationId: string, table: SearchedTable, ids: readonly string[]): Promise<Named[]> =>
	db.all(named(table), { organizationId, ids })
