// The rows of the ledger: payments, and what invoices have of them. A row is never removed: an allocation that ends is released.
import type { Knex } from 'knex'
import type { Allocation, Payment } from '../../generated/contract.ts'
import { fields } from '../../generated/tables.ts'
import { type Db, type Dialect, type Placeholders, query } from '../../platform/db/database.ts'
import { jsonColumn } from '../../platform/db/json.ts'
import { listOf } from '../../platform/db/list-of.ts'
import type { PageQuery } from '../../platform/db/pages.ts'
import { isAnyOf, type RecordJson } from '../../platform/db/records.ts'

/** A payment as it is stored: its allocations are rows of their own. */
export type StoredPayment = Omit<Payment, 'allocations'>

interface Key {
	readonly organizationId: string
	readonly id: string
}

const allocationFields = { id: 'string', invoiceId: 'string', amountCents: 'number', allocatedAt: 'number' } as const

/** Its allocations, the first first. */
const allocations = (knex: Knex, dialect: Dialect) => {
	const live = knex('payment_allocations as a')
		.whereRaw('a."organizationId" = payments."organizationId" and a."paymentId" = payments.id')
		.whereNull('a.releasedAt')
		.select('a.*')
		.orderBy(['a.allocatedAt', 'a.id'])
		.as('a')
	const each = knex
		.from(live)
		.select(jsonColumn(knex, dialect, allocationFields))
		.as('each')
	return dialect === 'sqlite'
		? knex.raw('(select json_group_array(json(json)) from ?)', [each])
		: knex.raw(`(select coalesce(json_agg(json::json), '[]'::json) from ?)`, [each])
}

const paymentJson = (knex: Knex, dialect: Dialect) =>
	jsonColumn(knex, dialect, fields.Payment, { allocations: allocations(knex, dialect) })

const one = query<Key, RecordJson>((knex, key, dialect) =>
	knex('payments').where(key).select(paymentJson(knex, dialect), 'version'),
)

/** A payment as JSON text. */
export const readPayment = (db: Db, organizationId: string, id: string) => db.get(one, { organizationId, id })

const { allocations: _allocations, ...storedFields } = fields.Payment

const locked = query<{ organizationId: string; ids: string }, { json: string }>((knex, { organizationId, ids }, dialect) =>
	knex('payments')
		.where({ organizationId })
		.whereRaw(isAnyOf('id', dialect), [ids])
		.select(jsonColumn(knex, dialect, storedFields))
		.orderBy('id')
		.forUpdate(),
)

/** The payments, locked until the transaction ends, in the order of their ids; after the invoices that they pay. */
export async function lockPayments(db: Db, organizationId: string, ids: readonly string[]): Promise<StoredPayment[]> {
	if (ids.length === 0) return []
	const rows = await db.column(locked, { organizationId, ids: JSON.stringify(ids) })
	return rows.map((json) => JSON.parse(json) as StoredPayment)
}

const insertion = query<StoredPayment>((knex, row) => knex('payments').insert(row))

export const insertPayment = (db: Db, payment: StoredPayment) => db.run(insertion, payment)

const change = query<Partial<StoredPayment> & Key>((knex, { organizationId, id, ...columns }) =>
	knex('payments').where({ organizationId, id }).update(columns),
)

export const updatePayment = (db: Db, { organizationId, id }: Key, columns: Partial<StoredPayment>) =>
	db.run(change, { ...columns, organizationId, id })

interface AllocationRow extends Allocation {
	readonly organizationId: string
	readonly paymentId: string
}

const allocation = query<AllocationRow>((knex, row) => knex('payment_allocations').insert(row))

export const insertAllocation = (db: Db, row: AllocationRow) => db.run(allocation, row)

const release = query<Key & { releasedAt: number }>((knex, { releasedAt, ...key }) =>
	knex('payment_allocations').where(key).update({ releasedAt }),
)

export const releaseAllocation = (db: Db, organizationId: string, id: string, releasedAt: number) =>
	db.run(release, { organizationId, id, releasedAt })

/** What an invoice has of a payment, with what the invoice shows of that payment. */
export interface Share extends AllocationRow, Pick<Payment, 'source' | 'method' | 'reference' | 'paidAt'> {}

const ownFields = { organizationId: 'string', paymentId: 'string', ...allocationFields } as const
const shownFields = { source: 'string', method: 'string', reference: 'string', paidAt: 'number' } as const

/** The newest first. */
const shares = (knex: Knex, dialect: Dialect) => {
	const of = (table: string, names: object) => Object.keys(names).map((name) => [name, knex.ref(`${table}.${name}`)])
	const columns = Object.fromEntries([...of('a', ownFields), ...of('p', shownFields)])
	return knex('payment_allocations as a')
		.join('payments as p', (on) => on.on('p.organizationId', 'a.organizationId').andOn('p.id', 'a.paymentId'))
		.whereNull('a.releasedAt')
		.select(jsonColumn(knex, dialect, { ...ownFields, ...shownFields }, columns))
		.orderBy([
			{ column: 'a.allocatedAt', order: 'desc' },
			{ column: 'a.id', order: 'desc' },
		])
}

const sharesOfInvoice = query<{ organizationId: string; invoiceId: string }, { json: string }>(
	(knex, { organizationId, invoiceId }, dialect) =>
		shares(knex, dialect).where({ 'a.organizationId': organizationId, 'a.invoiceId': invoiceId }),
)
const sharesOfPayment = query<{ organizationId: string; paymentId: string }, { json: string }>(
	(knex, { organizationId, paymentId }, dialect) =>
		shares(knex, dialect).where({ 'a.organizationId': organizationId, 'a.paymentId': paymentId }),
)

const parsed = (rows: readonly string[]) => rows.map((json) => JSON.parse(json) as Share)

/** What an invoice has of payments, the newest first. */
export const findSharesOfInvoice = async (db: Db, organizationId: string, invoiceId: string) =>
	parsed(await db.column(sharesOfInvoice, { organizationId, invoiceId }))

/** What invoices have of a payment, the newest first. */
export const findSharesOfPayment = async (db: Db, organizationId: string, paymentId: string) =>
	parsed(await db.column(sharesOfPayment, { organizationId, paymentId }))

interface Filters {
	readonly organizationId: string
	readonly invoiceId?: string
	readonly companyId?: string
	readonly status?: string
	readonly source?: string
	/** Whether something of it is on no invoice: one of the two. */
	readonly isAvailable?: true | undefined
	readonly isUnavailable?: true | undefined
}

/** As the index of payments that have money left says it. */
const hasMoney = '"availableCents" > 0'

function matching(knex: Knex, params: Placeholders<Filters>): Knex.QueryBuilder {
	const { isAvailable, isUnavailable, ...filters } = params
	const rows = paying(knex, filters)
	if (isAvailable !== undefined) rows.whereRaw(hasMoney)
	return isUnavailable === undefined ? rows : rows.whereRaw(`not ${hasMoney}`)
}

function paying(knex: Knex, { invoiceId, ...filters }: Placeholders<Filters>): Knex.QueryBuilder {
	const { organizationId } = filters
	if (invoiceId === undefined) return knex('payments').where(filters)
	const made = knex('payments').where({ organizationId, invoiceId }).select({ paymentId: 'id' })
	const allocated = knex('payment_allocations').where({ organizationId, invoiceId }).whereNull('releasedAt').select('paymentId')
	// "distinct" and "cross": for a union in order, or for "or", SQLite reads all of the organization. PostgreSQL does for "or".
	const few = knex
		.from(made.unionAll([allocated]).as('few'))
		.distinct('paymentId')
		.as('few')
	return knex.from(few).joinRaw('cross join payments').where(filters).whereRaw('payments.id = few."paymentId"')
}

const list = listOf<Filters>({
	table: 'payments',
	order: { column: 'createdAt', direction: 'desc' },
	matching,
	columns: paymentJson,
	// What has money left has an index of its own, but none beside another filter, and the others have none.
	sparse: ({ organizationId: _, isAvailable: _available, ...others }) =>
		Object.values(others).every((value) => value === undefined) ? [] : ['isAvailable', 'isUnavailable'],
})

type Asked = Omit<Filters, 'isAvailable' | 'isUnavailable'> & { readonly available?: boolean }

/** A page of payments as JSON texts, newest first. */
export function readPayments(db: Db, { available, ...filters }: Asked, page: PageQuery) {
	const money = available === undefined ? {} : available ? { isAvailable: true as const } : { isUnavailable: true as const }
	return list.readCounted(db, { ...filters, ...money }, page)
}
