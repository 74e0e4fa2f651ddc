// Which numbers of a series no invoice has, and what is known of them.
import type { Knex } from 'knex'
import { type Db, type Dialect, type Placeholders, query } from '../../db/database.ts'
import type { Gone, Range } from './gaps.ts'
import type { Skip } from './store.ts'

interface Key {
	readonly organizationId: string
	readonly series: string
	/** Where the digits begin. */
	readonly digitsAt: number
}

/** The rows of a table whose number is of the series, with that number as `n`. No counter comes to 16 digits. */
function numbered(knex: Knex, table: string, { organizationId, series, digitsAt }: Placeholders<Key>, dialect: Dialect) {
	const digits = `substr("invoiceNumber", cast(? as integer))`
	const isNumber =
		dialect === 'sqlite'
			? `${digits} not glob '*[^0-9]*' and length(${digits}) between 1 and 15`
			: `${digits} ~ '^[0-9]+$' and length(${digits}) between 1 and 15`
	return knex(table)
		.where({ organizationId })
		.whereRaw('substr("invoiceNumber", 1, cast(? as integer) - 1) = ?', [digitsAt, series])
		.whereRaw(isNumber, [digitsAt, digitsAt])
		.select('*', knex.raw(`cast(${digits} as bigint) as n`, [digitsAt]))
}

const missing = query<Key, Range>((knex, key, dialect) => {
	const numbers = knex
		.from(numbered(knex, 'invoices', key, dialect).as('found'))
		.distinct('n')
		.as('numbers')
	const pairs = knex.from(numbers).select('n', knex.raw('lag(n, 1, 0) over (order by n) as previous')).as('pairs')
	return knex
		.from(pairs)
		.whereRaw('n - previous > 1')
		.select(knex.raw('previous + 1 as "firstNumber"'), knex.raw('n - 1 as "lastNumber"'))
		.orderBy('n')
})

const largest = (table: string) =>
	query<Key, { n: number | null }>((knex, key, dialect) =>
		knex.from(numbered(knex, table, key, dialect).as('found')).max({ n: 'n' }),
	)
const [largestLive, largestRetired] = [largest('invoices'), largest('invoice_tombstones')]

const retired = query<Key, Gone>((knex, key, dialect) =>
	knex
		.from(numbered(knex, 'invoice_tombstones', key, dialect).as('found'))
		.select({ number: 'n', invoiceId: 'invoiceId', by: 'deletedBy', at: 'deletedAt' })
		.orderBy('n'),
)

const skips = query<{ organizationId: string; series: string }, Skip>((knex, key) =>
	knex('number_skips').where(key).select('*').orderBy('skippedAt', 'desc').orderBy('id'),
)

const counted = query<{ organizationId: string }, { series: string }>((knex, key) =>
	knex('number_series').where(key).select('series').orderBy('series'),
)

const keyOf = (organizationId: string, series: string): Key => ({ organizationId, series, digitsAt: series.length + 1 })

/** The series that an organization has used, and `current`. */
export async function listSeries(db: Db, organizationId: string, current: string): Promise<string[]> {
	const found = (await db.all(counted, { organizationId })).map(({ series }) => series)
	return [...new Set(['INV-', ...found, current])].sort()
}

/** The greatest number that a series has used; 0 when it has none. */
export async function largestUsed(db: Db, organizationId: string, series: string): Promise<number> {
	const key = keyOf(organizationId, series)
	const [live, gone] = [await db.get(largestLive, key), await db.get(largestRetired, key)]
	return Math.max(Number(live?.n ?? 0), Number(gone?.n ?? 0))
}

/** What is missing below the next number of a series, with the deleted invoices and the skipped numbers of it. */
export async function readGaps(db: Db, organizationId: string, series: string, next: number) {
	const key = keyOf(organizationId, series)
	const ranges = (await db.all(missing, key)).map(({ firstNumber, lastNumber }) => ({
		firstNumber: Number(firstNumber),
		lastNumber: Number(lastNumber),
	}))
	const last = Number((await db.get(largestLive, key))?.n ?? 0)
	if (last + 1 < next) ranges.push({ firstNumber: last + 1, lastNumber: next - 1 })
	const gone = (await db.all(retired, key)).map((row) => ({ ...row, number: Number(row.number), at: Number(row.at) }))
	return { ranges, gone, skips: await db.all(skips, { organizationId, series }) }
}
