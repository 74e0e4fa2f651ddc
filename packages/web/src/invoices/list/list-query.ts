import type { InvoiceSummary } from '@remit/sdk'
import { getRouteApi } from '@tanstack/react-router'
import type { InvoiceSearch } from '../../api/addresses.ts'
import type { QueryOf } from '../../api/query.ts'

export const route = getRouteApi('/invoices')

export type Search = InvoiceSearch
export type Row = InvoiceSummary

const filterOf = {
	draft: { status: ['draft'] },
	open: { status: ['sent', 'overdue'] },
	overdue: { isOverdue: true },
	paid: { status: ['paid'] },
} as const satisfies Record<NonNullable<Search['tab']>, object>

/** The query that an address stands for, a hundred rows a page. */
export const queryOf = ({ tab, search, sort, order, company, currency }: Search): QueryOf<'invoices.list'> => ({
	fields: 'summary',
	expand: ['company'],
	limit: 100,
	count: true,
	...(tab && (filterOf[tab] as { status?: InvoiceSummary['status'][] })),
	...(search && { search }),
	...(sort && { sortBy: sort, sortOrder: order ?? 'asc' }),
	...(company && { companyId: company }),
	...(currency && { currency }),
})

export const hasFilter = ({ search, company, currency }: Search): boolean => Boolean(search ?? company ?? currency)
