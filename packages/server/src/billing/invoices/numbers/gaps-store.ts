// Which numbers of a series no invoice has, and what is known of them. All numbers of a series with as many digits are a stretch of an
// index in which they stand in order (migration 0070), so that a query sees no more of them than it is asked for.
import type { Knex } from 'knex'
import { asNumber, type Db, type Dialect, type Placeholders, query } from '../../../platform/db/database.ts'
import type { Gone, Range } from './gaps.ts'
import type { Skip } from './store.ts'

interface Key {
	readonly organizationId: string
	readonly series: string
}

/** No counter comes to 16 digits. */
const lengths = Array.from({ length: 15 }, (_, index) => index + 1)

type Bounds = Readonly<Record<`${'low' | 'high'}${number}`, string>>

interface Stretch extends Bounds {
	readonly organizationId: string
	/** Where the digits begin. */
	readonly digitsAt: number
}

/** The numbers from `first` to `last`, as they are written with each number of digits. */
function stretchOf({ organizationId, series }: Key, first: number, last: number): Stretch {
	const bounds = lengths.flatMap((length) => {
		const written = (number: number) => series + String(Math.min(number, 10 ** length - 1)).padStart(length, '0')
		// Too large for so few digits: nothing is between these bounds.
		const low = first < 10 ** length ? written(first) : `${series}~`
		return [
			[`low${length}`, low],
			[`high${length}`, written(last)],
		]
	})
	return { organizationId, digitsAt: series.length + 1, ...Object.fromEntries(bounds) }
}

const digits = `substr("invoiceNumber", cast(? as integer))`

const parts = (dialect: Dialect) =>
	dialect === 'sqlite'
		? { number: '"invoiceNumber"', isNumber: `${digits} not glob '*[^0-9]*'` }
		: { number: '"invoiceNumber" collate "C"', isNumber: `${digits} !~ '[^0-9]'` }

interface Cut {
	readonly order: 'asc' | 'desc'
	readonly limit: Knex.Value | number
}

/** The rows of a stretch, with their number as `n`; of each number of digits only the first or the last when `cut` says so. */
function numbered(knex: Knex, table: string, stretch: Placeholders<Stretch>, dialect: Dialect, cut?: Cut): Knex.QueryBuilder {
	const { organizationId, digitsAt } = stretch
	const { number, isNumber } = parts(dialect)
	// SQLite is told the index: it would take the order of the numbers themselves, and test the length of each.
	const from = dialect === 'sqlite' ? knex.raw(`${table} indexed by ${table}_by_length_and_number`) : table
	const branches = lengths.map((length) => {
		const rows = knex(from)
			.where({ organizationId })
			.whereRaw(`length("invoiceNumber") = cast(? as integer) + ${length - 1}`, [digitsAt])
			.whereRaw(`${number} >= ?`, [stretch[`low${length}`] as Knex.Value])
			.whereRaw(`${number} <= ?`, [stretch[`high${length}`] as Knex.Value])
			.whereRaw(isNumber, [digitsAt])
			.select(table === 'invoices' ? [] : ['invoiceId', 'deletedBy', 'deletedAt'])
			.select(knex.raw(`cast(${digits} as bigint) as n`, [digitsAt]))
		if (cut) rows.orderByRaw(`${number} ${cut.order}`).limit(asNumber(cut.limit), { skipBinding: typeof cut.limit === 'number' })
		return knex.select('*').from(rows.as(`of_${length}`))
	})
	const [first, ...others] = branches as [Knex.QueryBuilder, ...Knex.QueryBuilder[]]
	return first.unionAll(others)
}

const end = (table: string, order: 'asc' | 'desc') =>
	query<Stretch, { n: number | null }>((knex, stretch, dialect) => {
		const ends = numbered(knex, table, stretch, dialect, { order, limit: 1 }).as('ends')
		return order === 'asc' ? knex.from(ends).min({ n: 'n' }) : knex.from(ends).max({ n: 'n' })
	})

const [smallest, largest, largestRetired] = [end('invoices', 'asc'), end('invoices', 'desc'), end('invoice_tombstones', 'desc')]

const missing = query<Stretch, Range>((knex, stretch, dialect) => {
	const numbers = knex
		.from(numbered(knex, 'invoices', stretch, dialect).as('found'))
		.distinct('n')
		.as('numbers')
	const pairs = knex.from(numbers).select('n', knex.raw('lag(n) over (order by n) as previous')).as('pairs')
	return knex
		.from(pairs)
		.whereRaw('n - previous > 1')
		.select(knex.raw('previous + 1 as "firstNumber"'), knex.raw('n - 1 as "lastNumber"'))
		.orderBy('n')
})

const retired = query<Stretch & { limit: number }, Gone>((knex, { limit, ...stretch }, dialect) =>
	knex
		.from(numbered(knex, 'invoice_tombstones', stretch as Placeholders<Stretch>, dialect, { order: 'asc', limit }).as('found'))
		.select({ number: 'n', invoiceId: 'invoiceId', by: 'deletedBy', at: 'deletedAt' })
		.orderBy('n')
		.limit(asNumber(limit)),
)

const skips = query<Key & { first: number; last: number; limit: number }, Skip>((knex, { first, last, limit, ...key }) =>
	knex('number_skips')
		.where(key)
		.where('firstNumber', '<=', last)
		.where('lastNumber', '>=', first)
		.orderBy('firstNumber')
		.limit(asNumber(limit))
		.select('*'),
)

const counted = query<{ organizationId: string }, { series: string }>((knex, key) =>
	knex('number_series').where(key).select('series').orderBy('series'),
)

/** The series that an organization has used, and `current`. */
export async function listSeries(db: Db, organizationId: string, current: string): Promise<string[]> {
	const found = (await db.all(counted, { organizationId })).map(({ series }) => series)
	return [...new Set(['INV-', ...found, current])].sort()
}

const most = 10 ** lengths.length - 1

/** The greatest number that a series has used; 0 when it has none. */
export async function largestUsed(db: Db, organizationId: string, series: string): Promise<number> {
	const all = stretchOf({ organizationId, series }, 0, most)
	const [live, gone] = [await db.get(largest, all), await db.get(largestRetired, all)]
	return Math.max(Number(live?.n ?? 0), Number(gone?.n ?? 0))
}

/** The first number of an invoice from this one on; undefined when there is none. */
export async function findNumber(db: Db, key: Key, from: number): Promise<number | undefined> {
	const n = (await db.get(smallest, stretchOf(key, from, most)))?.n
	return n === undefined || n === null ? undefined : Number(n)
}

/** What is missing between the numbers of a stretch, and the last of them. */
export async function readMissing(db: Db, key: Key, first: number, last: number): Promise<{ ranges: Range[]; last: number }> {
	const stretch = stretchOf(key, first, last)
	const ranges = (await db.all(missing, stretch)).map(({ firstNumber, lastNumber }) => ({
		firstNumber: Number(firstNumber),
		lastNumber: Number(lastNumber),
	}))
	return { ranges, last: Number((await db.get(largest, stretch))?.n ?? first) }
}

/** What is known of this many numbers without an invoice: the deleted by number, the skipped with the newest first. */
export async function readKnown(db: Db, key: Key, first: number, last: number, limit: number) {
	const gone = await db.all(retired, { ...stretchOf(key, first, last), limit })
	const spans = await db.all(skips, { ...key, first, last, limit })
	return {
		gone: gone.map((row) => ({ ...row, number: Number(row.number), at: Number(row.at) })),
		skips: spans.sort((a, b) => Number(b.skippedAt) - Number(a.skippedAt) || (a.id < b.id ? -1 : 1)),
	}
}
