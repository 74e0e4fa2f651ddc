// The statements that find invoices by their filters: they read indexes alone, and no more of one than they are told.
import type { Knex } from 'knex'
import type { Today } from '../../../platform/base/dates.ts'
import { asNumber, type Dialect, madeOnce, type Placeholders, query } from '../../../platform/db/database.ts'
import type { Place } from '../../../platform/db/pages.ts'
import { isAnyOf } from '../../../platform/db/records.ts'
import type { End } from '../../../platform/lists/dates.ts'
import { among } from '../../../platform/lists/filters.ts'
import type { Filter, Range } from './filter.ts'
import { byKind, type Clock, isOutstanding, isOverdue, paymentState } from './invoice-json.ts'
import { datesWithin, type Segment, type Sort, sortKeys } from './orders.ts'

/** A filter as parameters. */
interface Conditions extends Partial<Clock> {
	readonly companyId?: string | undefined
	readonly dealId?: string | undefined
	readonly statuses?: readonly string[] | undefined
	readonly paymentState?: string | undefined
	readonly overdue?: true | undefined
	readonly notOverdue?: true | undefined
	readonly outstanding?: true | undefined
	readonly notOutstanding?: true | undefined
	readonly currency?: string | undefined
	readonly totalFrom?: number | undefined
	readonly totalTo?: number | undefined
	readonly createdFrom?: number | undefined
	readonly createdTo?: number | undefined
	readonly updatedSince?: number | undefined
	readonly issuedFromDay?: number | undefined
	readonly issuedFromInstant?: number | undefined
	readonly issuedToDay?: number | undefined
	readonly issuedToInstant?: number | undefined
	readonly dueFromDay?: number | undefined
	readonly dueFromInstant?: number | undefined
	readonly dueToDay?: number | undefined
	readonly dueToInstant?: number | undefined
	readonly paidFromDay?: number | undefined
	readonly paidFromInstant?: number | undefined
	readonly paidToDay?: number | undefined
	readonly paidToInstant?: number | undefined
}

const dates = ['issued', 'due', 'paid'] as const

export function conditionsOf(filter: Filter, today: Today): Conditions {
	const { companyId, dealId, statuses, paymentState, isOutstanding, isOverdue, currency, total, created, updatedSince } = filter
	const ends = (name: (typeof dates)[number]) => {
		const { from, to }: Range<End> = filter[name]
		return {
			[`${name}FromDay`]: from?.day,
			[`${name}FromInstant`]: from?.instant,
			[`${name}ToDay`]: to?.day,
			[`${name}ToInstant`]: to?.instant,
		}
	}
	return {
		...{ companyId, dealId, statuses, paymentState, currency, updatedSince },
		...(isOutstanding !== undefined && (isOutstanding ? { outstanding: true } : { notOutstanding: true })),
		...(isOverdue !== undefined && {
			...(isOverdue ? { overdue: true } : { notOverdue: true }),
			...{ todayDate: today.date, todayInstant: today.instant },
		}),
		...{ totalFrom: total.from, totalTo: total.to, createdFrom: created.from, createdTo: created.to },
		...ends('issued'),
		...ends('due'),
		...ends('paid'),
	}
}

/** What the filters look at, all of it in each index of an order. */
const filtered = [
	...['status', 'currency', 'totalCents', 'issuedDate', 'dueDate', 'paidDate', 'createdAt', 'updatedAt', 'companyId', 'dealId'],
	...['amountPaidCents', 'amountCreditedCents'],
]

function limitTo(rows: Knex.QueryBuilder, knex: Knex, given: Placeholders<Conditions>, dialect: Dialect): Knex.QueryBuilder {
	const { companyId, dealId, statuses, currency, updatedSince, todayDate, todayInstant } = given
	if (companyId) rows.where({ companyId })
	if (dealId) rows.where({ dealId })
	if (statuses) rows.whereRaw(isAnyOf('status', dialect), [statuses])
	if (currency) rows.where({ currency })
	if (given.paymentState) rows.whereRaw(`(${paymentState}) = ?`, [given.paymentState])
	if (given.outstanding) rows.whereRaw(isOutstanding)
	if (given.notOutstanding) rows.whereRaw(`not ${isOutstanding}`)
	if (todayDate && todayInstant) rows.whereRaw(given.overdue ? '?' : 'not ?', [isOverdue(knex, { todayDate, todayInstant })])
	if (given.totalFrom) rows.where('totalCents', '>=', given.totalFrom)
	if (given.totalTo) rows.where('totalCents', '<=', given.totalTo)
	if (given.createdFrom) rows.where('createdAt', '>=', given.createdFrom)
	if (given.createdTo) rows.where('createdAt', '<=', given.createdTo)
	if (updatedSince) rows.where('updatedAt', '>=', updatedSince)
	for (const name of dates) {
		const column = `${name}Date`
		const ends = given as Record<string, Knex.Value | undefined>
		const [day, instant] = [ends[`${name}FromDay`], ends[`${name}FromInstant`]]
		if (day && instant) rows.whereRaw(`"${column}" >= ${byKind(column)}`, [day, instant])
		const [lastDay, lastInstant] = [ends[`${name}ToDay`], ends[`${name}ToInstant`]]
		if (lastDay && lastInstant) rows.whereRaw(`"${column}" <= ${byKind(column)}`, [lastDay, lastInstant])
	}
	return rows
}

interface Owned {
	readonly organizationId: string
}

/** The invoices by one index. SQLite would choose by guesses, as it has no statistics. */
const by = (knex: Knex, dialect: Dialect, index: string, { organizationId }: Placeholders<Owned>): Knex.QueryBuilder =>
	(dialect === 'sqlite' ? knex.from(knex.raw(`invoices indexed by ${index}`)) : knex('invoices')).where({ organizationId })

interface Limited {
	readonly limit: number
}

interface Stride {
	readonly stride: number
}

interface Ids {
	readonly ids: readonly string[]
}

/** The invoices that a search found. */
const foundBy = (knex: Knex, { organizationId, ids }: Placeholders<Owned & Ids>, dialect: Dialect): Knex.QueryBuilder =>
	among(knex('invoices').where({ organizationId }), knex, { table: 'invoices', organizationId, ids }, dialect)

/** How many match of those that a search found. */
export const countFound = query<Owned & Conditions & Ids, { total: number }>((knex, params, dialect) =>
	limitTo(foundBy(knex, params, dialect), knex, params, dialect).count({ total: '*' }),
)

/** The statements of a list in one order. */
function statementsIn({ sortBy, sortOrder: direction }: Sort) {
	const sortKey = sortKeys[sortBy]

	function within(rows: Knex.QueryBuilder, segment: Placeholders<Segment>, dialect: Dialect): Knex.QueryBuilder {
		const { key, behindId, least, most, above, below } = segment
		const sql = sortKey.sql(dialect)
		if (key !== undefined) rows.whereRaw(`${sql} = ?`, [key])
		if (behindId !== undefined) rows.where('id', direction === 'asc' ? '>' : '<', behindId)
		if (least !== undefined) rows.whereRaw(`${sql} >= ?`, [least])
		if (most !== undefined) rows.whereRaw(`${sql} <= ?`, [most])
		if (above !== undefined) rows.whereRaw(`${sql} > ?`, [above])
		if (below !== undefined) rows.whereRaw(`${sql} < ?`, [below])
		return rows.orderByRaw(key === undefined ? `${sql} ${direction}, id ${direction}` : `id ${direction}`)
	}

	const place = (knex: Knex, dialect: Dialect) => [knex.raw(`${sortKey.sql(dialect)} as key`), 'id']

	/** The next rows of the index, whether they match or not. SQLite makes them one by one, as long as they are asked for. */
	const stride = (knex: Knex, params: Placeholders<Owned & Segment & Stride>, dialect: Dialect) =>
		within(by(knex, dialect, sortKey.index, params), params, dialect)
			.select(place(knex, dialect))
			.select(filtered)
			.limit(asNumber(params.stride))
			.as('walked')

	return {
		/** The places of those that match in a stride. */
		matches: query<Owned & Conditions & Segment & Stride & Limited, Place>((knex, params, dialect) => {
			const rows = limitTo(knex.from(stride(knex, params, dialect)), knex, params, dialect)
			// PostgreSQL sees that they are in this order; SQLite would sort them, and keeps the order by itself.
			const by = params.key === undefined ? ['key', 'id'] : ['id']
			if (dialect === 'postgres') rows.orderBy(by.map((column) => ({ column, order: direction })))
			return rows.select('key', 'id').limit(asNumber(params.limit))
		}),

		/** How many match in a stride. */
		countOfStride: query<Owned & Conditions & Segment & Stride, { total: number }>((knex, params, dialect) =>
			limitTo(knex.from(stride(knex, params, dialect)), knex, params, dialect).count({ total: '*' }),
		),

		/** The last place of a stride; none when the segment ends before it does. `stride` is one less than in the others. */
		lastOfStride: query<Owned & Segment & Stride, Place>((knex, params, dialect) =>
			within(by(knex, dialect, sortKey.index, params), params, dialect)
				.select(place(knex, dialect))
				.limit(1, { skipBinding: true })
				.offset(asNumber(params.stride)),
		),

		/** The places of those that match among those that a search found. */
		matchesFound: query<Owned & Conditions & Segment & Ids & Limited, Place>((knex, params, dialect) =>
			within(limitTo(foundBy(knex, params, dialect), knex, params, dialect), params, dialect)
				.select(place(knex, dialect))
				.limit(asNumber(params.limit)),
		),

		/** The places of those that match among the few that one filter leaves. */
		matchesAmong: madeOnce((index: FewIndex) =>
			query<Owned & Conditions & Segment & Few & Limited, Place>((knex, params, dialect) => {
				const rows = limitTo(leftBy(knex, dialect, index, params), knex, params, dialect)
				return within(rows, params, dialect).select(place(knex, dialect)).limit(asNumber(params.limit))
			}),
		),
	}
}

export const statementsOf = madeOnce(statementsIn, ({ sortBy, sortOrder }) => `${sortBy} ${sortOrder}`)

/** What one filter leaves, by an index of its own. */
export interface Few {
	readonly few?: string | undefined
	readonly fewStatuses?: readonly string[] | undefined
	readonly fewLeast?: number | undefined
	readonly fewMost?: number | undefined
}

/** Indexes by one filter: its column, or the key of its range. */
const fewIndexes = {
	invoices_by_company: '"companyId"',
	invoices_by_deal: '"dealId"',
	invoices_by_status: '"status"',
	invoices_outstanding: '"dueDate"',
	invoices_by_update: '"updatedAt"',
	invoices_by_payment: '"paidDate"',
	invoices_by_creation: '"createdAt"',
	invoices_by_issue: sortKeys.issuedDate.sql('sqlite'),
	invoices_by_due: sortKeys.dueDate.sql('sqlite'),
	invoices_by_total: '"totalCents"',
}

export type FewIndex = keyof typeof fewIndexes

function leftBy(knex: Knex, dialect: Dialect, index: FewIndex, params: Placeholders<Owned & Few>): Knex.QueryBuilder {
	const { few, fewStatuses, fewLeast, fewMost } = params
	const rows = by(knex, dialect, index, params)
	// What the index is of: a database takes it for nothing else.
	if (index === 'invoices_outstanding') rows.whereRaw(isOutstanding)
	const column = fewIndexes[index]
	if (few) rows.whereRaw(`${column} = ?`, [few])
	if (fewStatuses) rows.whereRaw(isAnyOf('status', dialect), [fewStatuses])
	if (fewLeast) rows.whereRaw(`${column} >= ?`, [fewLeast])
	if (fewMost) rows.whereRaw(`${column} <= ?`, [fewMost])
	return rows
}

/** How many one filter leaves, up to a limit. */
export const countFew = madeOnce((index: FewIndex) =>
	query<Owned & Few & Limited, { total: number }>((knex, params, dialect) =>
		knex
			.from(leftBy(knex, dialect, index, params).select(knex.raw('1 as one')).limit(asNumber(params.limit)).as('counted'))
			.count({ total: '*' }),
	),
)

/** How many match of those that one filter leaves. */
export const countAmong = madeOnce((index: FewIndex) =>
	query<Owned & Conditions & Few, { total: number }>((knex, params, dialect) =>
		limitTo(leftBy(knex, dialect, index, params), knex, params, dialect).count({ total: '*' }),
	),
)

/** The filters that may leave few, each with its index. */
export function fewOf(filter: Filter, today: Today): [index: FewIndex, params: Few][] {
	const { companyId, dealId, statuses, isOutstanding, isOverdue, total, issued, due, paid, created, updatedSince } = filter
	const found: [FewIndex, Few][] = []
	const addRange = (index: FewIndex, { from, to }: Range<number>) => {
		if (from !== undefined || to !== undefined) found.push([index, { fewLeast: from, fewMost: to }])
	}
	if (dealId !== undefined) found.push(['invoices_by_deal', { few: dealId }])
	if (companyId !== undefined) found.push(['invoices_by_company', { few: companyId }])
	if (isOverdue) {
		const fewMost = Math.max(today.date, today.instant)
		found.push(['invoices_outstanding', { fewMost }])
	} else if (isOutstanding) found.push(['invoices_outstanding', {}])
	if (statuses) found.push(['invoices_by_status', { fewStatuses: statuses }])
	addRange('invoices_by_update', { from: updatedSince })
	addRange('invoices_by_payment', datesWithin(paid))
	addRange('invoices_by_creation', created)
	addRange('invoices_by_issue', datesWithin(issued))
	addRange('invoices_by_due', datesWithin(due))
	addRange('invoices_by_total', total)
	return found
}
