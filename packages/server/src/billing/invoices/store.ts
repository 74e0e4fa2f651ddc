import type { Knex } from 'knex'
import type { Invoice } from '../../generated/contract.ts'
import { dayMs, type Today } from '../../platform/base/dates.ts'
import { ApiError } from '../../platform/base/errors.ts'
import {
	asNumber,
	type Db,
	type Dialect,
	madeOnce,
	type Placeholders,
	query,
	type RowsStatement,
	type SharedTransaction,
} from '../../platform/db/database.ts'
import type { SearchText } from '../search/lists.ts'
import { searchTexts } from '../search/texts.ts'
import { blankParty, hiddenFlags, type StoredInvoice } from './invoice.ts'
import { retiredNumber } from './numbers/store.ts'
import { blankLine } from './pricing/lines.ts'
import { type Clock, canBeLate, invoiceJson, isOutstanding, isPastDue } from './reading/invoice-json.ts'

interface Key extends Clock {
	readonly organizationId: string
	readonly id: string
}

export const invoiceNotFound = (id: string) => new ApiError('invoice_not_found', `There is no invoice ${id}.`)

type Flags = Record<(typeof hiddenFlags)[number], boolean>
type StoredRow = { json: string } & Record<keyof Flags, number | boolean> & Pick<StoredInvoice, 'statusBeforePayment'>

const one = (knex: Knex, { organizationId, id, ...clock }: Placeholders<Key>, dialect: Dialect) =>
	knex('invoices')
		.where({ organizationId, id })
		.select(knex.raw('? as json', [invoiceJson(knex, clock, dialect)]), ...hiddenFlags, 'statusBeforePayment')

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

/** The table, and those that refer to it. */
export const tablesOfInvoices = ['invoices', 'time_entries', 'client_links']

/** On PostgreSQL. */
const insertionsOf = madeOnce(
	(columns: readonly string[]): RowsStatement => ({
		tables: tablesOfInvoices,
		query: query((knex, { rows }) => {
			const row = { organizationId: knex.ref('r.organizationId'), invoiceNumber: knex.ref('r.invoiceNumber') }
			// The statement has to fail, whose answer nobody waits for: no invoice may be without a number.
			const number = knex.raw('case when exists ? then null else ? end', [retiredNumber(knex, row), row.invoiceNumber])
			const values = columns.map((name) => (name === 'invoiceNumber' ? number : knex.ref(`r.${name}`)))
			return knex.raw(
				`insert into invoices (${columns.map(() => '??')}) select ${values.map(() => '?')}
				from json_populate_recordset(null::invoices, ?::json) as r`,
				[...columns, ...values, rows],
			)
		}),
	}),
	(columns) => columns.join(),
)
const insertionIfFree = query<StoredInvoice & SearchText>((knex, row) => {
	const [columns, values] = [Object.keys(row), Object.values(row)]
	return knex.raw(
		`insert into invoices (${columns.map(() => '??')}) select ${values.map(() => '?')} where not exists ?
			on conflict ("organizationId", "invoiceNumber") do nothing`,
		[...columns, ...values, retiredNumber(knex, row)],
	)
})

/** Stores a new invoice with those of other changes; all fail when its number is taken: a live invoice has it, or a deleted one had it. */
export function insertInvoiceLater(shared: SharedTransaction, invoice: StoredInvoice): void {
	const row = withText(invoice)
	shared.later(insertionsOf(Object.keys(row)), row)
}

/** Stores a new invoice; false when its number is taken. */
export const insertInvoiceIfFree = async (db: Db, invoice: StoredInvoice) =>
	(await db.run(insertionIfFree, withText(invoice))) === 1

/**
 * `paidDateDerived` is for servers of the version before that still run beside this one: where it is true, they too clear the date of payment
 * of an invoice that leaves `paid`. This version always does, and does not read it.
 */
const withText = (invoice: StoredInvoice) => ({ ...invoice, paidDateDerived: true, searchText: searchTexts.invoices(invoice) })

const update = query<StoredInvoice & SearchText>((knex, { organizationId, id, ...columns }) =>
	knex('invoices').where({ organizationId, id }).update(columns),
)

/** Stores an invoice that was read with `lockInvoice`. Throws UniqueViolation when its number is taken. */
export const updateInvoice = (db: Db, invoice: StoredInvoice) => db.run(update, withText(invoice))

interface Views {
	readonly organizationId: string
	readonly id: string
	readonly count: number
	readonly now: number
}

const countViews = query<Views>((knex, { organizationId, id, count, now }) =>
	knex('invoices')
		.where({ organizationId, id })
		.update({
			viewCount: knex.raw('?? + cast(? as bigint)', ['viewCount', count]),
			viewedAt: knex.raw('coalesce(??, cast(? as bigint))', ['viewedAt', now]),
		}),
)

/** Counts views by the client. The invoice's version stays, since nobody changed the invoice. */
export const countInvoiceViews = (db: Db, views: Views) => db.run(countViews, views)

const remove = query<{ organizationId: string; id: string }>((knex, key) => knex('invoices').where(key).delete())
const removeDocuments = query<{ organizationId: string; invoiceId: string }>((knex, key) => knex('documents').where(key).delete())

/** Removes an invoice, and the PDFs that are kept of it. */
export async function removeInvoice(db: Db, organizationId: string, id: string): Promise<void> {
	await db.run(removeDocuments, { organizationId, invoiceId: id })
	await db.run(remove, { organizationId, id })
}

const openOfDeal = query<{ organizationId: string; dealId: string }, { id: string }>((knex, key) =>
	knex('invoices').where(key).whereRaw(isOutstanding).select('id').limit(1, { skipBinding: true }),
)

/** Whether something is owed of an invoice of the deal. */
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
		.whereRaw(canBeLate)
		.orderBy('dueDate')
		.select('id')
		.limit(asNumber(limit)),
)

/** Sent invoices that owe something and whose due day is past, the longest overdue first. */
export const findPastDue = (db: Db, organizationId: string, { date, instant }: Today, limit: number) =>
	db.all(pastDue, { organizationId, todayDate: date, todayInstant: instant, before: Math.max(date, instant), limit })

/** The due dates of sent invoices that owe something, of the first days that have any: which of them ends first depends on the time zone. */
const firstDue = query<{ organizationId: string }, { dueDate: number }>((knex, { organizationId }) => {
	const sent = () => knex('invoices').where({ organizationId, status: 'sent' }).whereRaw(canBeLate)
	return sent()
		.where('dueDate', '<=', sent().select(knex.raw(`min("dueDate") + ${2 * dayMs}`)))
		.distinct('dueDate')
})

export const findFirstDue = async (db: Db, organizationId: string): Promise<number[]> =>
	(await db.all(firstDue, { organizationId })).map(({ dueDate }) => dueDate)
