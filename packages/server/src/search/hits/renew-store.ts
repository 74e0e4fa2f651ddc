// Makes the words anew by which records are found that an older version has written, which knew fewer spellings.
import { type Database, madeOnce, query, type Transaction } from '../../db/database.ts'
import type { JobHandler } from '../../work/jobs.ts'
import { inParts } from '../../work/parts.ts'
import { kinds } from '../store.ts'
import { type SearchedTable, searchedFields, searchTexts } from '../texts.ts'

/** Rows that a part looks at: on SQLite all requests wait for it, and a description may be long. */
const batch = 100

interface Place {
	/** The number of the table. */
	readonly table: number
	readonly organizationId: string
	readonly id: string
}

type Row = Omit<Place, 'table'> & { readonly searchText: string | null }

const nextRows = madeOnce((table: SearchedTable) =>
	query<Omit<Place, 'table'>, Row>((knex, { organizationId, id }) =>
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
export const renewSearchTexts =
	(db: Database): JobHandler =>
	async (job) => {
		let at: Place = job.checkpoint === null ? { table: 0, organizationId: '', id: '' } : JSON.parse(job.checkpoint)
		await inParts(async () => {
			const table = tables[at.table]
			if (!table) return false
			const rows = await db.all(nextRows(table), { organizationId: at.organizationId, id: at.id })
			const textOf = searchTexts[table] as (row: object) => string
			const texts = rows
				.map((row) => [row.organizationId, row.id, row.searchText, textOf(row)])
				.filter(([, , before, after]) => before !== after)
			const last = rows.at(-1)
			at = last
				? { ...at, organizationId: last.organizationId, id: last.id }
				: { table: at.table + 1, organizationId: '', id: '' }
			const write = async (tx: Transaction) => {
				if (texts.length > 0) await tx.run(renew(table), { texts })
			}
			await job.part(write, { checkpoint: JSON.stringify(at), durable: false })
			return true
		}, job.signal)
		return at.table < tables.length ? { dueAt: job.now, checkpoint: JSON.stringify(at) } : undefined
	}
