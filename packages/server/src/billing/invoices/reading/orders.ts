// The orders of the list of invoices. Each is an index (migration 0076) of a key that is never null, and ties go by id.

import type { InvoiceSort, SortOrder } from '../../../generated/contract.ts'
import type { Dialect } from '../../../platform/db/database.ts'
import type { Place } from '../../../platform/db/pages.ts'
import type { Filter, Range } from './filter.ts'

export interface Sort {
	readonly sortBy: InvoiceSort
	readonly sortOrder: SortOrder
}

/** The key of an invoice that does not have the date. */
const withoutDate = 2 ** 53 - 1

export interface SortKey {
	readonly index: string
	/** SQL of the key, as the index has it. */
	readonly sql: (dialect: Dialect) => string
	/** Whether invoices without the date have the greatest key, but come last in both directions. */
	readonly dated: boolean
	/** The keys to which a filter limits the list. */
	readonly within: (filter: Filter) => Range<number>
}

const text = `rtrim("invoiceNumber", '0123456789')`
const digits = `ltrim(substr("invoiceNumber", length(${text}) + 1), '0')`
const numberKey = (dialect: Dialect) => {
	const character = dialect === 'sqlite' ? 'char' : 'chr'
	const key = `${text} || ${character}(1) || ${character}(47 + length(${digits})) || ${digits}`
	return dialect === 'sqlite' ? key : `((${key}) collate "C")`
}

/** The keys of dates in a range: its days and its instants. */
export const datesWithin = ({ from, to }: Filter['due']): Range<number> => ({
	from: from && Math.min(from.day, from.instant),
	to: to ? Math.max(to.day, to.instant) : from && withoutDate - 1,
})

const dated = (index: string, column: string, within: SortKey['within']): SortKey => ({
	index,
	sql: () => `coalesce("${column}", ${withoutDate})`,
	dated: true,
	within,
})

export const sortKeys: Record<InvoiceSort, SortKey> = {
	createdAt: { index: 'invoices_by_creation', sql: () => '"createdAt"', dated: false, within: ({ created }) => created },
	issuedDate: dated('invoices_by_issue', 'issuedDate', ({ issued }) => datesWithin(issued)),
	dueDate: dated('invoices_by_due', 'dueDate', ({ due }) => datesWithin(due)),
	totalCents: { index: 'invoices_by_total', sql: () => '"totalCents"', dated: false, within: ({ total }) => total },
	invoiceNumber: { index: 'invoices_by_number', sql: numberKey, dated: false, within: () => ({}) },
}

type Key = Place['key']

/** A part of a list that is one walk of the index: ids behind one of the same key, or keys between two. */
export interface Segment {
	readonly key?: Key
	readonly behindId?: string
	readonly least?: Key
	readonly most?: Key
	readonly above?: Key
	readonly below?: Key
}

/** The rest of a list behind a place, or all of it, in its order. */
export function segmentsOf({ dated }: SortKey, direction: SortOrder, { from, to }: Range<Key>, after?: Place): Segment[] {
	const undated: Segment[] = dated && to === undefined && direction === 'desc' ? [{ key: withoutDate }] : []
	const bounds = { ...(from !== undefined && { least: from }), ...(to !== undefined && { most: to }) }
	const { least, most } = bounds
	const ahead = (key: Key): Segment =>
		direction === 'asc'
			? { above: key, ...(most !== undefined && { most }) }
			: { below: key, ...(least !== undefined && { least }) }
	if (after === undefined) return undated.length > 0 ? [ahead(withoutDate), ...undated] : [bounds]
	const tie: Segment = { key: after.key, behindId: after.id }
	return dated && after.key === withoutDate ? [tie] : [tie, ahead(after.key), ...undated]
}
