// What a page asks for first. The table of routes asks for it, beside the file of the page, and the page for the same by itself.
import type { InvoiceSummary } from '@remit/sdk'
import type { QueryClient } from '@tanstack/react-query'
import type { DeliveriesSearch, InvoiceSearch } from './addresses.ts'
import { type ListName, list, type MethodName, type QueryOf, read } from './query.ts'
import { sessionQuery } from './session.ts'

// biome-ignore lint/suspicious/noExplicitAny: each page names what its own address has.
export type Begin<Params = any, Search = any> = (client: QueryClient, params: Params, search: Search) => void

/** The record of the page. */
export const one =
	(name: Extract<MethodName, `${string}.get`> | 'invoices.document'): Begin<{ id: string }> =>
	(client, { id }) =>
		void client.prefetchQuery(read(name as 'deals.get', id))

/** The first hundred records of a list. */
export const many =
	<Name extends ListName>(name: Name, query?: QueryOf<Name>): Begin =>
	(client) =>
		void client.prefetchInfiniteQuery(list(name as 'deals.list', { limit: 100, ...(query as object) }))

/** What members may not read: it waits until it is known who asks. */
export const forManagers =
	(begin: Begin): Begin =>
	async (client, params, search) => {
		const session = await client.fetchQuery(sessionQuery).catch(() => undefined)
		if (session?.is('manager')) begin(client, params, search)
	}

/** The first hundred of those that the address searches for. */
export const found =
	(name: 'companies.list' | 'contacts.list'): Begin<unknown, { search?: string }> =>
	(client, params, { search }) =>
		many(name, search ? { search } : {})(client, params, {})

/** What is one in the organization. */
export const only =
	(name: 'organization.get' | 'organization.logo.get' | 'reports.summary'): Begin =>
	(client) =>
		void client.prefetchQuery(read(name as 'organization.get'))

export const taxRatesQuery = read('taxRates.list', { limit: 100 })

export const paymentsQuery = (invoiceId: string) => list('payments.list', { invoiceId, limit: 50 })

export const invoiceQuery = (id: string) => read('invoices.get', id, { expand: ['company', 'deal'] })

const filterOf = {
	draft: { status: ['draft'] },
	open: { isOutstanding: true },
	overdue: { isOverdue: true },
	paid: { status: ['paid'] },
} as const satisfies Record<NonNullable<InvoiceSearch['tab']>, object>

/** The query that an address stands for, a hundred rows a page. */
export const invoicesQuery = ({ tab, search, sort, order, company, currency }: InvoiceSearch): QueryOf<'invoices.list'> => ({
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

/** The deliveries that an address stands for. */
export const deliveriesQuery = ({ endpoint, ...query }: DeliveriesSearch) =>
	({ limit: 50, endpointId: endpoint, ...query }) as QueryOf<'webhooks.deliveries.list'>
