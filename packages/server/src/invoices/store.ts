import type { Knex } from 'knex'
import { dayMs, type Today } from '../base/dates.ts'
import { ApiError } from '../base/errors.ts'
import { asNumber, type Db, type Dialect, type Placeholders, query } from '../db/database.ts'
import { jsonColumn, jsonValue } from '../db/json.ts'
import {
	cutPage,
	type JsonPageQuery,
	type Order,
	onPage,
	type PageJson,
	type PageParameters,
	type PageQuery,
	pageOf,
	pageParameters,
	readPage,
	skipTo,
	stepOf,
} from '../db/pages.ts'
import { readSized, type Sized, storedBytes, unlessLong } from '../events/long-records-store.ts'
import type { Invoice } from '../generated/contract.ts'
import { fields } from '../generated/tables.ts'
import type { Call } from '../http/handler.ts'
import { blankParty, hiddenFlags, type StoredInvoice } from './invoice.ts'
import { blankLine } from './pricing/lines.ts'

interface Clock {
	/** Today in the organization's time zone, as a date and as an instant (base/dates.ts). */
	readonly todayDate: number
	readonly todayInstant: number
}

interface Key extends Clock {
	readonly organizationId: string
	readonly id: string
}

/** A plain date is that calendar day everywhere; a date-time lies in a day of the organization's time zone. */
const isPastDue = (knex: Knex, { todayDate, todayInstant }: Placeholders<Clock>) =>
	knex.raw(`"dueDate" < case when "dueDate" % ${dayMs} = 0 then cast(? as bigint) else cast(? as bigint) end`, [
		todayDate,
		todayInstant,
	])

const settled = '"amountPaidCents" + "amountCreditedCents"'

/** Whether money covers a total that is not 0. A total of 0 is paid when its status says so. */
const isCovered = `(("totalCents" > 0 and ${settled} >= "totalCents") or ("totalCents" < 0 and ${settled} <= "totalCents"))`

const isOverdue = (knex: Knex, clock: Placeholders<Clock>) =>
	knex.raw(`(status in ('sent', 'overdue') and not ${isCovered} and "dueDate" is not null and ?)`, [isPastDue(knex, clock)])

const amountDue = (knex: Knex) =>
	knex.raw(`case when status = 'cancelled' then 0 else "totalCents" - "amountPaidCents" - "amountCreditedCents" end`)

const paymentState = (knex: Knex) =>
	knex.raw(`case when ${isCovered} or ("totalCents" = 0 and status = 'paid') then 'paid'
		when "amountPaidCents" = 0 then 'unpaid' else 'partially_paid' end`)

const derived = (knex: Knex, params: Placeholders<Clock>) => ({
	isOverdue: isOverdue(knex, params),
	amountDueCents: amountDue(knex),
	paymentState: paymentState(knex),
})

const invoiceJson = (knex: Knex, params: Placeholders<Clock>, dialect: Dialect) =>
	jsonColumn(knex, dialect, fields.Invoice, derived(knex, params))

const byId = query<Key, { json: string; version: number; viewCount: number; overdue: number | boolean }>(
	(knex, { organizationId, id, ...clock }, dialect) =>
		knex('invoices')
			.where({ organizationId, id })
			.select(invoiceJson(knex, clock, dialect), 'version', 'viewCount', knex.raw('? as overdue', [isOverdue(knex, clock)])),
)

/** An invoice as JSON text, with its version and whether it is overdue. */
export const readInvoice = (db: Db, organizationId: string, id: string, today: Today) =>
	db.get(byId, { organizationId, id, todayDate: today.date, todayInstant: today.instant })

export const invoiceNotFound = (id: string) => new ApiError('invoice_not_found', `There is no invoice ${id}.`)

type Flags = Record<(typeof hiddenFlags)[number], boolean>
type StoredRow = { json: string } & Record<keyof Flags, number | boolean> & Pick<StoredInvoice, 'statusBeforePayment'>

const one = (knex: Knex, { organizationId, id, ...clock }: Placeholders<Key>, dialect: Dialect) =>
	knex('invoices')
		.where({ organizationId, id })
		.select(invoiceJson(knex, clock, dialect), ...hiddenFlags, 'statusBeforePayment')

const stored = query<Key, StoredRow>(one)
const locked = query<Key, StoredRow>((knex, key, dialect) => one(knex, key, dialect).forUpdate())

/** The invoice as it is stored. */
export const findInvoice = async (db: Db, organizationId: string, id: string) =>
	parsed(await db.get(stored, { organizationId, id, todayDate: 0, todayInstant: 0 }))

/** The invoice as it is stored, locked until the transaction ends. */
export const lockInvoice = async (db: Db, organizationId: string, id: string) =>
	parsed(await db.get(locked, { organizationId, id, todayDate: 0, todayInstant: 0 }))

/** The invoice as it is stored, or 404. */
export const requireInvoice = async (db: Db, organizationId: string, id: string) =>
	existing(await findInvoice(db, organizationId, id), id)

/** The same, locked until the transaction ends. */
export const requireLockedInvoice = async (db: Db, organizationId: string, id: string) =>
	existing(await lockInvoice(db, organizationId, id), id)

function existing(invoice: StoredInvoice | undefined, id: string): StoredInvoice {
	if (!invoice) throw invoiceNotFound(id)
	return invoice
}

function parsed(row: StoredRow | undefined): StoredInvoice | undefined {
	if (!row) return undefined
	const { amountDueCents, paymentState, isOverdue, ...stored } = JSON.parse(row.json) as Invoice
	const flags = Object.fromEntries(hiddenFlags.map((flag) => [flag, Boolean(row[flag])])) as Flags
	const { billTo, billFrom, lineItems } = stored
	return {
		...stored,
		billTo: billTo && completed(billTo, blankParty),
		billFrom: billFrom && completed(billFrom, blankParty),
		lineItems: lineItems.map((line) => completed(line, blankLine)),
		...flags,
		statusBeforePayment: row.statusBeforePayment,
	}
}

/** With the members that a server of the version before, which runs on for a while beside this one, did not know when it stored the rest. */
const completed = <T extends object>(stored: T, blank: object): T =>
	Object.keys(blank).every((name) => name in stored) ? stored : { ...stored, ...blank, ...stored }

type Filters = Omit<Call<'invoices.list'>['query'], keyof PageQuery | 'cursor'> & { organizationId: string }

type PageParams = Filters & Clock & PageParameters

const newestFirst: Order = { column: 'createdAt', direction: 'desc' }

const matching = (knex: Knex, filters: Placeholders<Filters>) => knex('invoices').where(filters)

function pageRows(knex: Knex, params: Placeholders<PageParams>): Knex.QueryBuilder {
	const { limit, offset, afterKey, afterId, todayDate, todayInstant, ...filters } = params
	return onPage(matching(knex, filters), { limit, offset, afterKey, afterId } as Placeholders<PageParameters>, newestFirst)
}

const step = stepOf(matching, newestFirst)

const pageBy = (
	columns: (knex: Knex, params: Placeholders<PageParams>, dialect: Dialect) => Knex.Raw,
): JsonPageQuery<PageParams> =>
	query((knex, params, dialect) => {
		const rows = pageRows(knex, params)
		return pageOf(knex, dialect, { table: 'invoices', rows, order: newestFirst, columns: columns(knex, params, dialect) })
	})

const page = pageBy(invoiceJson)

/** Each row null when the organization may have long invoices. */
const shortPage = pageBy((knex, params, dialect) => {
	const json = jsonValue(knex, dialect, fields.Invoice, derived(knex, params))
	return knex.raw('? as json', [unlessLong(knex, params.organizationId, json)])
})

const pageSizes = query<PageParams, Sized>((knex, params, dialect) =>
	pageRows(knex, params).select('id', knex.raw(`${storedBytes('lineItems', dialect)} as bytes`)),
)

/** A page of invoices as JSON, newest first. */
export async function readInvoices(db: Db, filters: Filters, asked: PageQuery, today: Today) {
	const at = await skipTo(db, 'invoices', step, filters, asked)
	if (at === undefined) return { rows: [], hasMore: false }
	const { limit } = asked
	const params = { ...filters, ...pageParameters(at), todayDate: today.date, todayInstant: today.instant }
	const { rows: short, ...found } = await readPage(db, shortPage, params, limit)
	if (short) return { rows: short, ...found }
	const sizes = cutPage(await db.all(pageSizes, params), limit).rows
	const rows = await readSized<PageJson>(
		sizes,
		async () => (await readPage(db, page, params, limit)).rows ?? [],
		async (id) => (await readInvoice(db, filters.organizationId, id, today))?.json,
	)
	return { rows, ...found }
}

const insert = query<StoredInvoice>((knex, row) =>
	knex('invoices').insert(row).onConflict(['organizationId', 'invoiceNumber']).ignore(),
)

/** Stores a new invoice; false when its number is taken. */
export const insertInvoice = async (db: Db, invoice: StoredInvoice) => (await db.run(insert, invoice)) === 1

const update = query<StoredInvoice>((knex, { organizationId, id, ...columns }) =>
	knex('invoices').where({ organizationId, id }).update(columns),
)

/** Stores an invoice that was read with `lockInvoice`. Throws UniqueViolation when its number is taken. */
export const updateInvoice = (db: Db, invoice: StoredInvoice) => db.run(update, invoice)

const countView = query<{ organizationId: string; id: string; now: number }>((knex, { organizationId, id, now }) =>
	knex('invoices')
		.where({ organizationId, id })
		.update({
			viewCount: knex.raw('?? + 1', ['viewCount']),
			viewedAt: knex.raw('coalesce(??, cast(? as bigint))', ['viewedAt', now]),
		}),
)

/** Counts a view by the client. The invoice's version stays, since nobody changed the invoice. */
export const countInvoiceView = (db: Db, organizationId: string, id: string, now: number) =>
	db.run(countView, { organizationId, id, now })

const remove = query<{ organizationId: string; id: string }>((knex, key) => knex('invoices').where(key).delete())
const removeDocuments = query<{ organizationId: string; invoiceId: string }>((knex, key) => knex('documents').where(key).delete())

/** Removes an invoice, and the PDFs that are kept of it. */
export async function removeInvoice(db: Db, organizationId: string, id: string): Promise<void> {
	await db.run(removeDocuments, { organizationId, invoiceId: id })
	await db.run(remove, { organizationId, id })
}

const openOfDeal = query<{ organizationId: string; dealId: string }, { id: string }>((knex, key) =>
	knex('invoices')
		.where(key)
		.whereIn('status', ['sent', 'overdue'])
		.whereRaw(`not ${isCovered}`)
		.select('id')
		.limit(1, { skipBinding: true }),
)

/** Whether an invoice of the deal is sent and neither paid, by its status or by money, nor cancelled. */
export const hasOpenInvoices = async (db: Db, organizationId: string, dealId: string) =>
	(await db.get(openOfDeal, { organizationId, dealId })) !== undefined

interface PastDue extends Clock {
	readonly organizationId: string
	/** The later of the clock's two values: the bound that the index can use. */
	readonly before: number
	readonly limit: number
}

const pastDue = query<PastDue, { id: string }>((knex, { organizationId, before, limit, ...clock }) =>
	knex('invoices')
		.where({ organizationId, status: 'sent' })
		.where('dueDate', '<', before)
		.whereRaw('?', [isPastDue(knex, clock)])
		.whereRaw(`not ${isCovered}`)
		.orderBy('dueDate')
		.select('id')
		.limit(asNumber(limit)),
)

/** Sent invoices that owe something and whose due day is past, the longest overdue first. */
export const findPastDue = (db: Db, organizationId: string, { date, instant }: Today, limit: number) =>
	db.all(pastDue, { organizationId, todayDate: date, todayInstant: instant, before: Math.max(date, instant), limit })

/** The due dates of sent invoices that owe something, of the first days that have any: which of them ends first depends on the time zone. */
const firstDue = query<{ organizationId: string }, { dueDate: number }>((knex, { organizationId }) => {
	const sent = () =>
		knex('invoices').where({ organizationId, status: 'sent' }).whereNotNull('dueDate').whereRaw(`not ${isCovered}`)
	return sent()
		.where('dueDate', '<=', sent().select(knex.raw(`min("dueDate") + ${2 * dayMs}`)))
		.distinct('dueDate')
})

export const findFirstDue = async (db: Db, organizationId: string): Promise<number[]> =>
	(await db.all(firstDue, { organizationId })).map(({ dueDate }) => dueDate)
