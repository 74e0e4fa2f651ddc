// Invoice numbers. Each series has one counter, which advances in the transaction that stores the invoice, so that no number is lost
// or given twice. The number of a deleted invoice is never used again, and what is skipped leaves a row that says why.
import type { Knex } from 'knex'
import { newId } from '../../../platform/base/ids.ts'
import { type Db, type Dialect, type Placeholders, query, type SharedTransaction } from '../../../platform/db/database.ts'
import { type Part, RowList } from '../../../platform/db/row-lists.ts'
import { formatNumber, type NumberSettings, parseNumber } from './series.ts'

/** The series whose counter is a column of the organization: servers of older versions, which know no other, count by it too. */
const firstSeries = 'INV-'

interface SeriesKey {
	readonly organizationId: string
	readonly series: string
}

type Counter = SeriesKey & { readonly next: number }

const keys = new RowList<SeriesKey>({ organizationId: 'text', series: 'text' })
const increment = query<Part<SeriesKey>, Omit<Counter, 'series'>>((knex, part, dialect) =>
	knex.raw(
		`update organizations set "nextInvoiceNumber" = organizations."nextInvoiceNumber" + 1 from ?
		where organizations."organizationId" = r."organizationId"
		returning organizations."organizationId", organizations."nextInvoiceNumber" as next`,
		[keys.table(knex, part, dialect)],
	),
)
const incrementSeries = query<Part<SeriesKey>, Omit<Counter, 'series'>>((knex, part, dialect) =>
	knex.raw(
		`insert into number_series ("organizationId", "series", "nextNumber") select r."organizationId", r.series, 2 from ? where true
		on conflict ("organizationId", "series") do update set "nextNumber" = number_series."nextNumber" + 1
		returning "organizationId", "nextNumber" as next`,
		[keys.table(knex, part, dialect)],
	),
)

const counters = new RowList<Counter>({ organizationId: 'text', series: 'text', next: 'bigint' })

/** What the counters give next: of several rows of one, the last. */
const given = (knex: Knex, part: Placeholders<Part<Counter>>, dialect: Dialect) =>
	knex
		.from(counters.table(knex, part, dialect))
		.groupBy('organizationId', 'series')
		.select('organizationId', 'series')
		.max({ next: 'next' })
		.as('r')
const moveFirst = query<Part<Counter>>((knex, part, dialect) =>
	knex.raw(
		'update organizations set "nextInvoiceNumber" = r.next from ? where organizations."organizationId" = r."organizationId"',
		[given(knex, part, dialect)],
	),
)
const moveSeries = query<Part<Counter>>((knex, part, dialect) =>
	knex.raw(
		`update number_series set "nextNumber" = r.next from ?
		where number_series."organizationId" = r."organizationId" and number_series.series = r.series`,
		[given(knex, part, dialect)],
	),
)
const firstCounters = { tables: ['organizations'], query: moveFirst }
const otherCounters = { tables: ['number_series'], query: moveSeries }

/** A caller's number does not advance the counter to this or beyond: a JavaScript number could no longer hold it exactly. */
const maxCounter = 9_000_000_000_000_000

/** What a change knows of a counter that one before it in its transaction has locked. */
const nameOf = ({ organizationId, series }: SeriesKey) => `counter ${organizationId} ${series}`

/**
 * Takes the next number of a series, which may be used already. The counter stays locked until the transaction ends: whoever comes behind in it knows what it gives, and
 * one statement moves it for all of them.
 */
async function advance(db: Db, key: SeriesKey): Promise<number> {
	const { organizationId, series } = key
	const { shared } = db
	const known = shared?.recall<number>(nameOf(key))
	if (shared && known !== undefined) {
		const next = known + 1
		shared.remember(nameOf(key), next)
		shared.later(series === firstSeries ? firstCounters : otherCounters, { ...key, next })
		return known
	}
	const moved = await keys.one(db, series === firstSeries ? increment : incrementSeries, key)
	if (!moved) throw new Error(`organization ${organizationId} is gone`)
	const next = Number(moved.next)
	shared?.remember(nameOf(key), next)
	return next - 1
}

/** Takes the next number of a series that is free, for an invoice that is stored. */
export async function takeNumber(db: Db, key: SeriesKey, settings: NumberSettings): Promise<string> {
	for (;;) {
		const number = await advance(db, key)
		const invoiceNumber = formatNumber(key.series, number, settings)
		if (!(await isNumberUsed(db, key.organizationId, invoiceNumber))) return invoiceNumber
	}
}

interface Insertions<I> {
	/** Fails with the transaction when the number is taken. */
	insertLater(shared: SharedTransaction, invoice: I): void
	/** Returns false when the number is taken. */
	insertIfFree(db: Db, invoice: I): Promise<boolean>
}

/** Stores a new invoice under the next number of a series that is free. */
export async function insertNumbered<I extends { organizationId: string }>(
	db: Db,
	invoice: I,
	series: string,
	settings: NumberSettings,
	{ insertLater, insertIfFree }: Insertions<I & { invoiceNumber: string }>,
): Promise<I & { invoiceNumber: string }> {
	const { organizationId } = invoice
	for (;;) {
		const number = await advance(db, { organizationId, series })
		const numbered = { ...invoice, invoiceNumber: formatNumber(series, number, settings) }
		if (db.shared?.beginsAgain) {
			insertLater(db.shared, numbered)
			return numbered
		}
		if (await insertIfFree(db, numbered)) return numbered
	}
}

const current = query<{ organizationId: string }, { nextNumber: number }>((knex, key) =>
	knex('organizations').where(key).select({ nextNumber: 'nextInvoiceNumber' }),
)
const currentOfSeries = query<SeriesKey, { nextNumber: number }>((knex, key) =>
	knex('number_series').where(key).select('nextNumber'),
)
const lockedCounter = query<{ organizationId: string }, { nextNumber: number }>((knex, key) =>
	knex('organizations').where(key).select({ nextNumber: 'nextInvoiceNumber' }).forUpdate(),
)
const lockedOfSeries = query<SeriesKey, { nextNumber: number }>((knex, key) =>
	knex('number_series').where(key).select('nextNumber').forUpdate(),
)
const beginSeries = query<SeriesKey>((knex, key) =>
	knex('number_series')
		.insert({ ...key, nextNumber: 1 })
		.onConflict(['organizationId', 'series'])
		.ignore(),
)

/** The number that the next invoice of a series gets, unless it is used by then. */
export async function readNext(db: Db, { organizationId, series }: SeriesKey): Promise<number> {
	const row = await (series === firstSeries
		? db.get(current, { organizationId })
		: db.get(currentOfSeries, { organizationId, series }))
	return Number(row?.nextNumber ?? 1)
}

/** Reads and locks a counter. A series that has none gets one first: nothing can be locked that is not there. */
async function lockNext(db: Db, { organizationId, series }: SeriesKey): Promise<number> {
	if (series === firstSeries) return Number((await db.get(lockedCounter, { organizationId }))?.nextNumber ?? 1)
	const lock = () => db.get(lockedOfSeries, { organizationId, series })
	const row = (await lock()) ?? (await db.run(beginSeries, { organizationId, series }).then(lock))
	return Number(row?.nextNumber ?? 1)
}

const set = query<{ organizationId: string; next: number }>((knex, { organizationId, next }) =>
	knex('organizations').where({ organizationId }).update({ nextInvoiceNumber: next }),
)
const setSeries = query<Counter>((knex, { next, ...key }) => knex('number_series').where(key).update({ nextNumber: next }))

/** Why numbers of a series have no invoice. */
export interface Skip extends SeriesKey {
	readonly id: string
	readonly firstNumber: number
	readonly lastNumber: number
	readonly reason: 'setting' | 'own_number' | 'renumbered'
	readonly invoiceId: string | null
	readonly skippedBy: string
	readonly skippedAt: number
}

const skip = query<Skip>((knex, row) => knex('number_skips').insert(row))

type Why = Pick<Skip, 'reason' | 'invoiceId' | 'skippedBy' | 'skippedAt'>

/** Sets what the counter of a series gives next, and notes the numbers that it skips. Returns what it gave before. */
export async function setNext(db: Db, key: SeriesKey, next: number, why: Why): Promise<number> {
	const before = await lockNext(db, key)
	await writeNext(db, key, next)
	if (next > before) await insertSkip(db, key, before, next - 1, why)
	return before
}

/** Of a counter that is locked. */
const writeNext = (db: Db, { organizationId, series }: SeriesKey, next: number) => {
	db.shared?.remember(nameOf({ organizationId, series }), next)
	return series === firstSeries ? db.run(set, { organizationId, next }) : db.run(setSeries, { organizationId, series, next })
}

const insertSkip = (db: Db, key: SeriesKey, firstNumber: number, lastNumber: number, why: Why) =>
	db.run(skip, { ...key, ...why, id: newId('skp'), firstNumber, lastNumber })

/** Advances the counter past a caller's own number that has the form of a generated one. */
export async function advanceCounter(
	db: Db,
	organizationId: string,
	invoiceNumber: string,
	settings: NumberSettings,
	why: Omit<Why, 'reason'>,
): Promise<void> {
	const parsed = parseNumber(invoiceNumber, settings)
	if (!parsed || parsed.number === 0 || parsed.number >= maxCounter) return
	const key = { organizationId, series: parsed.series }
	const next = await lockNext(db, key)
	if (parsed.number < next) return
	await writeNext(db, key, parsed.number + 1)
	if (parsed.number > next) await insertSkip(db, key, next, parsed.number - 1, { ...why, reason: 'own_number' })
}

/** Notes that an invoice has no longer the number that it had. */
export async function noteRenumbered(
	db: Db,
	organizationId: string,
	old: string,
	settings: NumberSettings,
	why: Omit<Why, 'reason'>,
): Promise<void> {
	const parsed = parseNumber(old, settings)
	if (!parsed || parsed.number >= maxCounter) return
	const { series, number } = parsed
	await insertSkip(db, { organizationId, series }, number, number, { ...why, reason: 'renumbered' })
}

interface NumberKey {
	readonly organizationId: string
	readonly invoiceNumber: string
}

/** The tombstone of a number, if a deleted invoice had it. It may be ahead of a counter, such as that of a prefix that was not in use. */
export const retiredNumber = (knex: Knex, { organizationId, invoiceNumber }: Placeholders<NumberKey>) =>
	knex('invoice_tombstones').where({ organizationId, invoiceNumber }).select('invoiceId').limit(1, { skipBinding: true })

const retired = query<NumberKey, { invoiceId: string }>(retiredNumber)
const live = query<NumberKey, { id: string }>((knex, key) =>
	knex('invoices').where(key).select('id').limit(1, { skipBinding: true }),
)

/** Whether a deleted invoice had this number. */
export const isNumberRetired = async (db: Db, organizationId: string, invoiceNumber: string) =>
	(await db.get(retired, { organizationId, invoiceNumber })) !== undefined

const isNumberUsed = async (db: Db, organizationId: string, invoiceNumber: string) =>
	(await db.get(live, { organizationId, invoiceNumber })) !== undefined || isNumberRetired(db, organizationId, invoiceNumber)

interface Tombstone extends NumberKey {
	readonly invoiceId: string
	readonly totalCents: number
	readonly currency: string
	readonly deletedBy: string
	readonly deletedAt: number
}

const insertion = query<Tombstone>((knex, row) => knex('invoice_tombstones').insert(row))

/** Stores a tombstone, which explains the gap in the numbers. */
export const insertTombstone = (db: Db, tombstone: Tombstone) => db.run(insertion, tombstone)
