// Lists of long records are not read whole: a hundred invoices of a thousand lines are 67 MB. An organization that has ever
// written a long record is marked, so that nobody else's lists pay for finding out.
import type { Knex } from 'knex'
import { type Db, type Dialect, query } from '../db/database.ts'

/** Characters of JSON from which a record is long. A page of a hundred others is 3.2 MB at most. */
const longRecord = 32_000

/** Stored bytes of a page from which its records are read one by one, as the caller takes them. */
const longPage = 256_000

const mark = query<{ organizationId: string }>((knex, row) =>
	knex('long_records').insert(row).onConflict('organizationId').ignore(),
)

export const isLong = (json: string) => json.length > longRecord

/** Marks an organization that writes a long record. */
export const markLong = (db: Db, organizationId: string) => db.run(mark, { organizationId })

/** SQL for a value of a list, or null when the organization may have long records. */
export const unlessLong = (knex: Knex, organizationId: Knex.Value, value: Knex.Raw) =>
	knex.raw('case when exists (select 1 from long_records where "organizationId" = ?) then null else ? end', [
		organizationId,
		value,
	])

/** SQL for the bytes of a JSON column. SQLite does not read the column for it. PostgreSQL must, as what it stores is compressed. */
export const storedBytes = (column: string, dialect: Dialect) =>
	`coalesce(octet_length(${dialect === 'sqlite' ? `"${column}"` : `"${column}"::text`}), 0)`

export interface Sized {
	readonly id: string
	readonly bytes: number
}

/**
 * Reads a page that may be long. A long one has the records and the order of `sizes`, and each record as it is when its turn
 * comes; one that was deleted by then is left out.
 */
export async function readSized<Page>(
	sizes: readonly Sized[],
	whole: () => Promise<Page>,
	one: (id: string) => Promise<string | undefined>,
): Promise<Page | AsyncIterable<string>> {
	const bytes = sizes.reduce((sum, row) => sum + row.bytes, 0)
	return bytes < longPage ? whole() : oneByOne(sizes, one)
}

async function* oneByOne(rows: readonly Sized[], one: (id: string) => Promise<string | undefined>): AsyncGenerator<string> {
	for (const { id } of rows) {
		const text = await one(id)
		if (text !== undefined) yield text
	}
}
