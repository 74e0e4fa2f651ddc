// Makes the words anew by which records are found that an older version has written, which knew fewer spellings.
import { type Database, madeOnce, query, type Transaction } from '../../../platform/db/database.ts'
import type { JobHandler } from '../../../platform/work/jobs.ts'
import { type RowKey, walk } from '../../../platform/work/walk.ts'
import { kinds } from '../store.ts'
import { type SearchedTable, searchedFields, searchTexts } from '../texts.ts'

/** Rows that a part looks at: on SQLite all requests wait for it, and a description may be long. */
const batch = 100

type Row = RowKey & { readonly searchText: string | null }

const nextRows = madeOnce((table: SearchedTable) =>
	query<RowKey, Row>((knex, { organizationId, id }) =>
		knex(table)
			.whereRaw('("organizationId", id) > (?, ?)', [organizationId, id])
			.orderBy(['organizationId', 'id'])
			.limit(batch, { skipBinding: true })
			.select('organizationId', 'id', 'searchText', ...searchedFields[table]),
	),
)

/** What was changed since it was read keeps the words that it got then. */
const renew = madeOnce((table: SearchedTable) =>
	query<{ texts: readonly (readonly (string | null)[])[] }>((knex, { texts }, dialect) => {
		const rows = dialect === 'sqlite' ? 'json_each(?)' : 'jsonb_array_elements(cast(? as jsonb))'
		const same = dialect === 'sqlite' ? 'is' : 'is not distinct from'
		return knex.raw(
			`update ${table} set "searchText" = f.value ->> 3 from ${rows} as f
				where ${table}."organizationId" = f.value ->> 0 and ${table}.id = f.value ->> 1 and ${table}."searchText" ${same} (f.value ->> 2)`,
			[texts],
		)
	}),
)

const tables = Object.keys(kinds) as SearchedTable[]

/** Walks all records once. */
export const renewSearchTexts = (db: Database): JobHandler =>
	walk(
		tables,
		(table, after) => db.all(nextRows(table), after),
		async (job, table, rows, checkpoint) => {
			const textOf = searchTexts[table] as (row: object) => string
			const texts = rows
				.map((row) => [row.organizationId, row.id, row.searchText, textOf(row)])
				.filter(([, , before, after]) => before !== after)
			const write = async (tx: Transaction) => {
				if (texts.length > 0) await tx.run(renew(table), { texts })
			}
			await job.part(write, { checkpoint, durable: false })
		},
	)
