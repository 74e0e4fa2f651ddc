// One invoice, and lists that an index has in the order of creation: of all, a company, a deal, a status.
import type { Knex } from 'knex'
import type { InvoiceStatus, SortOrder } from '../../../generated/contract.ts'
import type { Today } from '../../../platform/base/dates.ts'
import { type Db, type Dialect, madeOnce, type Placeholders, type Query, query } from '../../../platform/db/database.ts'
import {
	countRows,
	cutPage,
	type Order,
	onPage,
	type PageJson,
	type PageParameters,
	type PageQuery,
	type PageRow,
	type Place,
	pageOf,
	pageParameters,
	readPage,
	skipTo,
	stepOf,
} from '../../../platform/db/pages.ts'
import { isAnyOf } from '../../../platform/db/records.ts'
import { readSized, type Sized, storedBytes, unlessLong } from '../../../platform/events/long-records-store.ts'
import { type Clock, invoiceJson, isOverdue, type Shape, whole } from './invoice-json.ts'

/** Makes what each shape has of its own, once. */
const byShape = <T>(make: (shape: Shape) => T) => madeOnce(make, ({ name }) => name)

interface Key extends Clock {
	readonly organizationId: string
	readonly id: string
}

const clockOf = ({ date, instant }: Today): Clock => ({ todayDate: date, todayInstant: instant })

type Found = { json: string; version: number; viewCount: number; overdue: number | boolean }

const byId = byShape((shape) =>
	query<Key, Found>((knex, { organizationId, id, ...clock }, dialect) =>
		knex('invoices')
			.where({ organizationId, id })
			.select(
				knex.raw('? as json', [invoiceJson(knex, clock, dialect, shape)]),
				'version',
				'viewCount',
				knex.raw('? as overdue', [isOverdue(knex, clock)]),
			),
	),
)

/** An invoice as JSON text, with its version and whether it is overdue. */
export const readInvoice = (db: Db, organizationId: string, id: string, today: Today, shape = whole) =>
	db.get(byId(shape), { organizationId, id, ...clockOf(today) })

/** Filters that have an index each, and any two of which have one, in the order of creation. */
export interface Filters {
	readonly organizationId: string
	readonly companyId?: string | undefined
	readonly dealId?: string | undefined
	readonly status?: InvoiceStatus | undefined
}

const matching = (knex: Knex, filters: Placeholders<Filters>) => knex('invoices').where(filters)

type PageParams = Filters & Clock & PageParameters

/** The statements of a list in one direction. */
function listIn(direction: SortOrder) {
	const order: Order = { column: 'createdAt', direction }

	function pageRows(knex: Knex, params: Placeholders<PageParams>): Knex.QueryBuilder {
		const { limit, offset, afterKey, afterId, todayDate, todayInstant, ...filters } = params
		return onPage(matching(knex, filters), { limit, offset, afterKey, afterId } as Placeholders<PageParameters>, order)
	}

	const pageBy = (json: (knex: Knex, params: Placeholders<PageParams>, dialect: Dialect) => Knex.Raw) =>
		query<PageParams, PageRow>((knex, params, dialect) => {
			const columns = knex.raw('? as json', [json(knex, params, dialect)])
			return pageOf(knex, dialect, { table: 'invoices', rows: pageRows(knex, params), order, columns })
		})

	return {
		step: stepOf(matching, order),
		page: byShape((shape) => pageBy((knex, params, dialect) => invoiceJson(knex, params, dialect, shape))),
		shortPage: byShape((shape) => pageBy(shortJson(shape))),
		sizes: query<PageParams, Sized>((knex, params, dialect) => pageRows(knex, params).select('id', bytesOf(knex, dialect))),
	}
}

const lists = { asc: listIn('asc'), desc: listIn('desc') }

const bytesOf = (knex: Knex, dialect: Dialect) => knex.raw(`${storedBytes('lineItems', dialect)} as bytes`)

/** Null when the organization may have long invoices. A summary is never long. */
const shortJson =
	(shape: Shape) =>
	(knex: Knex, params: Placeholders<Clock & { organizationId: string }>, dialect: Dialect): Knex.Raw => {
		const json = invoiceJson(knex, params, dialect, shape)
		return shape.summary ? json : unlessLong(knex, params.organizationId, json)
	}

/** Invoices as JSON; a long page is read while it is sent. */
type InvoiceRows = PageJson | AsyncIterable<string>

/** A page of a list. */
export interface InvoicePage {
	readonly rows: InvoiceRows
	readonly hasMore: boolean
	/** Where the next page begins; absent on the last. */
	readonly end?: Place
}

/** A page of invoices, newest first unless `direction` says otherwise. */
export async function readInvoices(
	db: Db,
	filters: Filters,
	asked: PageQuery,
	today: Today,
	{ shape = whole, direction = 'desc' }: { shape?: Shape; direction?: SortOrder } = {},
): Promise<InvoicePage> {
	const list = lists[direction]
	const at = await skipTo(db, 'invoices', list.step, filters, asked)
	if (at === undefined) return { rows: [], hasMore: false }
	const { limit } = asked
	const params = { ...filters, ...pageParameters(at), ...clockOf(today) }
	const { rows: short, ...found } = await readPage(db, list.shortPage(shape), params, limit)
	if (short) return { rows: short, ...found }
	const rows = await readSized<PageJson>(
		cutPage(await db.all(list.sizes, params), limit).rows,
		async () => (await readPage(db, list.page(shape), params, limit)).rows ?? [],
		async (id) => (await readInvoice(db, filters.organizationId, id, today, shape))?.json,
	)
	return { rows, ...found }
}

const count = query<Filters, { total: number }>((knex, filters) => countRows(knex, matching(knex, filters)))

/** How many invoices a list has: one more than the bound for all that are beyond it. */
export const countInvoices = async (db: Db, filters: Filters) => (await db.get(count, filters))?.total

interface Named extends Clock {
	readonly organizationId: string
	readonly ids: readonly string[]
}

const named = (knex: Knex, { organizationId, ids }: Placeholders<Named>, dialect: Dialect) =>
	knex('invoices').where({ organizationId }).whereRaw(isAnyOf('id', dialect), [ids])

type NamedQuery = Query<Named, { id: string; json: string | null }>

const namedBy = (json: (knex: Knex, params: Placeholders<Named>, dialect: Dialect) => Knex.Raw): NamedQuery =>
	query((knex, params, dialect) =>
		named(knex, params, dialect).select('id', knex.raw('? as json', [json(knex, params, dialect)])),
	)

const byIds = byShape((shape) => namedBy((knex, params, dialect) => invoiceJson(knex, params, dialect, shape)))
const shortByIds = byShape((shape) => namedBy(shortJson(shape)))
const sizesByIds = query<Named, Sized>((knex, params, dialect) =>
	named(knex, params, dialect).select('id', bytesOf(knex, dialect)),
)

/** The invoices with these ids, as JSON texts in the order of the ids. One that is gone meanwhile is left out. */
export async function readNamed(
	db: Db,
	organizationId: string,
	ids: readonly string[],
	today: Today,
	shape: Shape,
): Promise<InvoiceRows> {
	if (ids.length === 0) return []
	const params = { organizationId, ids, ...clockOf(today) }
	const short = await db.all(shortByIds(shape), params)
	if (short[0]?.json !== null) return inOrder(ids, short).map(({ json }) => json as string)
	return readSized(
		inOrder(ids, await db.all(sizesByIds, params)),
		async () => inOrder(ids, await db.all(byIds(shape), params)).map(({ json }) => json as string),
		async (id) => (await readInvoice(db, organizationId, id, today, shape))?.json,
	)
}

function inOrder<Row extends { readonly id: string }>(ids: readonly string[], rows: readonly Row[]): Row[] {
	const found = new Map(rows.map((row) => [row.id, row]))
	return ids.flatMap((id) => found.get(id) ?? [])
}
