// Every address of the application and its page: the map of packages/web. A new page is one line here and its name in `pages`;
// build.ts and the walk of the tests read the calls of page().
import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, createRoute, createRouter, redirect } from '@tanstack/react-router'
import {
	type DeliveriesSearch,
	type InvoiceSearch,
	invoiceSorts,
	invoiceTabs,
	type OpenIdOutcome,
	openIdOutcomes,
} from './api/addresses.ts'
import {
	type Begin,
	deliveriesQuery,
	forManagers,
	found,
	invoiceQuery,
	invoicesQuery,
	many,
	one,
	only,
	taxRatesQuery,
} from './api/first-reads.ts'
import { list, read } from './api/query.ts'
import { sessionQuery } from './api/session.ts'
import { NotFound, PageFailed } from './shell/page-failed.tsx'
import { Root } from './shell/root.tsx'
import { fetchWhenIdle, lazyFile } from './ui/on-first-use.tsx'
import { InPage } from './ui/places.tsx'

const root = createRootRouteWithContext<{ client: QueryClient }>()({ component: Root, notFoundComponent: NotFound })

interface Opening {
	readonly context: { readonly client: QueryClient }
	readonly params: object
	readonly search: object
	/** Whether the mouse only passes a link. */
	readonly preload: boolean
}

const files: (() => Promise<void>)[] = []

/** Fetches the files of all pages. */
export const fetchPages = () => void fetchWhenIdle(...files)

/** The address of a page, and the page, whose file is loaded when it is first opened; `begins` ask for its data meanwhile. */
const page = <const Path extends string>(
	path: Path,
	load: () => Promise<{ default: React.ComponentType }>,
	...begins: Begin[]
) => {
	const component = lazyFile(load, InPage)
	files.push(component.fetch)
	return {
		getParentRoute: () => root,
		path,
		component,
		beforeLoad: ({ context: { client }, params, search, preload }: Opening) => {
			if (preload) return
			void client.prefetchQuery(sessionQuery)
			for (const begin of begins) begin(client, params, search)
		},
	}
}

const beginTaxRates: Begin = (client) => void client.prefetchQuery(taxRatesQuery)
const beginInvoices: Begin<unknown, InvoiceSearch> = (client, _, search) =>
	void client.prefetchInfiniteQuery(list('invoices.list', invoicesQuery(search)))
const beginInvoice: Begin<{ id: string }> = (client, { id }) => void client.prefetchQuery(invoiceQuery(id))

const beginDeliveries: Begin<unknown, DeliveriesSearch> = (client, _, search) =>
	void client.prefetchInfiniteQuery(list('webhooks.deliveries.list', deliveriesQuery(search)))
const beginRun: Begin<{ id: string; runId: string }> = (client, { id, runId }) => {
	void client.prefetchQuery(read('syncs.runs.get', id, runId))
	void client.prefetchInfiniteQuery(list('syncs.runs.errors.list', { limit: 25 }, [id, runId]))
}
const providers = many('connections.providers.list')

type Query = Record<string, unknown>

/** A text of the query; absent when empty. */
const text = (value: unknown): string | undefined => (value === undefined || value === '' ? undefined : String(value))

/** The value of the query when it is one of those. */
const oneOf = <const Value extends string>(values: readonly Value[], value: unknown): Value | undefined =>
	values.find((known) => known === value)

/** A day of the query; absent when it is none. */
const day = (value: unknown): string | undefined =>
	/^\d{4}-\d\d-\d\d$/.test(String(value)) && Date.parse(String(value)) >= 0 ? String(value) : undefined

const dashboard = createRoute({
	...page('/', () => import('./dashboard/page.tsx'), only('reports.summary')),
	validateSearch: ({ currency }: Query): { currency?: string } => ({ currency: text(currency) }),
})

const companies = createRoute({
	...page('/companies', () => import('./companies/list-page.tsx'), found('companies.list')),
	validateSearch: ({ search }: Query): { search?: string } => ({ search: text(search) }),
})
const newCompany = createRoute(page('/companies/new', () => import('./companies/new-page.tsx')))
const company = createRoute(page('/companies/$id', () => import('./companies/detail-page.tsx'), one('companies.get')))
const editCompany = createRoute(page('/companies/$id/edit', () => import('./companies/edit-page.tsx'), one('companies.get')))

/** For whoever has not signed in: without the frame, and without a session. */
const outside = { staticData: { isOutside: true }, beforeLoad: () => {} }

const signIn = createRoute({
	...page('/sign-in', () => import('./sign-in/sign-in-page.tsx')),
	...outside,
	validateSearch: ({ returnTo, openid }: Query): { returnTo?: string; openid?: OpenIdOutcome } => ({
		returnTo: text(returnTo),
		openid: oneOf(openIdOutcomes, openid),
	}),
})
const setup = createRoute({ ...page('/setup', () => import('./sign-in/setup-page.tsx')), ...outside })
const invite = createRoute({ ...page('/invite', () => import('./sign-in/invitation-page.tsx')), ...outside })
const reset = createRoute({ ...page('/reset', () => import('./sign-in/reset-page.tsx')), ...outside })

const settings = createRoute({
	getParentRoute: () => root,
	path: '/settings',
	beforeLoad: () => {
		throw redirect({ to: '/settings/account', replace: true })
	},
})
const account = createRoute(page('/settings/account', () => import('./settings/account/page.tsx')))
const people = createRoute(
	page(
		'/settings/people',
		() => import('./settings/people/page.tsx'),
		...[many('users.list'), many('invitations.list')].map(forManagers),
	),
)
const organization = createRoute(
	page(
		'/settings/organization',
		() => import('./settings/organization/page.tsx'),
		...[only('organization.get'), only('organization.logo.get')],
	),
)
const pipelines = createRoute(
	page('/settings/pipelines', () => import('./settings/pipelines/list-page.tsx'), many('pipelines.list')),
)
const newPipeline = createRoute(page('/settings/pipelines/new', () => import('./settings/pipelines/new-page.tsx')))
const editPipeline = createRoute(
	page('/settings/pipelines/$id', () => import('./settings/pipelines/edit-page.tsx'), one('pipelines.get')),
)
const apiKeys = createRoute(page('/settings/keys', () => import('./settings/keys/page.tsx'), forManagers(many('apiKeys.list'))))

const entryPages = [signIn, setup, invite, reset]
const settingsPages = [settings, account, organization, people, pipelines, newPipeline, editPipeline, apiKeys]

const invoices = createRoute({
	...page('/invoices', () => import('./invoices/list/list-page.tsx'), beginInvoices),
	validateSearch: (query: Query): InvoiceSearch => ({
		tab: oneOf(invoiceTabs, query.tab),
		search: text(query.search),
		sort: oneOf(invoiceSorts, query.sort),
		order: oneOf(['asc', 'desc'], query.order),
		company: text(query.company),
		currency: text(query.currency),
	}),
})
const newInvoice = createRoute({
	...page('/invoices/new', () => import('./invoices/editor/new-page.tsx'), beginTaxRates),
	validateSearch: ({ company }: Query): { company?: string } => ({ company: text(company) }),
})
const invoice = createRoute({
	...page('/invoices/$id', () => import('./invoices/sheet/invoice-page.tsx'), beginInvoice, one('invoices.document')),
	validateSearch: ({ send }: Query): { send?: true } => ({ send: send ? true : undefined }),
})
const editInvoice = createRoute(page('/invoices/$id/edit', () => import('./invoices/editor/edit-page.tsx'), beginInvoice))

const invoicePages = [invoices, newInvoice, invoice, editInvoice]

interface DealsSearch {
	search?: string
	view?: 'list'
	pipeline?: string
}

const deals = createRoute({
	...page('/deals', () => import('./deals/list-page.tsx'), many('pipelines.list')),
	validateSearch: ({ search, view, pipeline }: Query): DealsSearch => ({
		search: text(search),
		view: view === 'list' ? 'list' : undefined,
		pipeline: text(pipeline),
	}),
})
const newDeal = createRoute({
	...page('/deals/new', () => import('./deals/new-page.tsx'), many('pipelines.list')),
	validateSearch: ({ companyId }: Query): { companyId?: string } => ({ companyId: text(companyId) }),
})
const deal = createRoute(page('/deals/$id', () => import('./deals/detail-page.tsx'), one('deals.get')))
const editDeal = createRoute(page('/deals/$id/edit', () => import('./deals/edit-page.tsx'), one('deals.get')))

interface TimeSearch {
	/** A day of the week that is shown. */
	week?: string
	who?: 'me'
}

const time = createRoute({
	...page('/time', () => import('./time/week-page.tsx'), many('deals.list')),
	validateSearch: ({ week, who }: Query): TimeSearch => ({
		week: day(week),
		who: who === 'me' ? 'me' : undefined,
	}),
})
const newTime = createRoute({
	...page('/time/new', () => import('./time/new-page.tsx')),
	validateSearch: (query: Query): { deal?: string; day?: string } => ({ deal: text(query.deal), day: day(query.day) }),
})
const editTime = createRoute(page('/time/$id/edit', () => import('./time/edit-page.tsx'), one('timeEntries.get')))

const taxRates = createRoute(page('/tax-rates', () => import('./tax-rates/list-page.tsx'), many('taxRates.list')))
const newTaxRate = createRoute(page('/tax-rates/new', () => import('./tax-rates/new-page.tsx'), beginTaxRates))
const editTaxRate = createRoute(page('/tax-rates/$id/edit', () => import('./tax-rates/edit-page.tsx'), one('taxRates.get')))

const contacts = createRoute({
	...page('/contacts', () => import('./contacts/list-page.tsx'), found('contacts.list')),
	validateSearch: ({ search }: Query): { search?: string } => ({ search: text(search) }),
})
const newContact = createRoute({
	...page('/contacts/new', () => import('./contacts/new-page.tsx')),
	validateSearch: ({ companyId }: Query): { companyId?: string } => ({ companyId: text(companyId) }),
})
const contact = createRoute(page('/contacts/$id', () => import('./contacts/detail-page.tsx'), one('contacts.get')))
const editContact = createRoute(page('/contacts/$id/edit', () => import('./contacts/edit-page.tsx'), one('contacts.get')))

const daily = [
	...[dashboard, companies, newCompany, company, editCompany],
	...[contacts, newContact, contact, editContact, deals, newDeal, deal, editDeal],
	...[time, newTime, editTime, taxRates, newTaxRate, editTaxRate],
]

const beginEndpoints = forManagers(many('webhooks.endpoints.list'))
const endpoints = createRoute(page('/webhooks', () => import('./webhooks/list-page.tsx'), beginEndpoints))
const newEndpoint = createRoute(page('/webhooks/new', () => import('./webhooks/new-page.tsx'), many('webhooks.eventTypes.list')))
const endpoint = createRoute(
	page('/webhooks/endpoints/$id', () => import('./webhooks/endpoint-page.tsx'), one('webhooks.endpoints.get')),
)
const editEndpoint = createRoute(
	page('/webhooks/endpoints/$id/edit', () => import('./webhooks/edit-page.tsx'), one('webhooks.endpoints.get')),
)
const deliveries = createRoute({
	...page(
		'/webhooks/deliveries',
		() => import('./webhooks/deliveries-page.tsx'),
		...[beginEndpoints, many('webhooks.eventTypes.list'), forManagers(beginDeliveries)],
	),
	validateSearch: ({ status, endpoint, type }: Query): DeliveriesSearch => ({
		status: text(status),
		endpoint: text(endpoint),
		type: text(type),
	}),
})
const delivery = createRoute(
	page('/webhooks/deliveries/$id', () => import('./webhooks/delivery-page.tsx'), one('webhooks.deliveries.get')),
)
const eventTypes = createRoute({
	...page('/webhooks/event-types', () => import('./webhooks/event-types-page.tsx'), many('webhooks.eventTypes.list')),
	validateSearch: ({ search }: Query): { search?: string } => ({ search: text(search) }),
})
const eventType = createRoute(
	page('/webhooks/event-types/$type', () => import('./webhooks/event-type-page.tsx'), many('webhooks.eventTypes.list')),
)

const webhooks = [endpoints, newEndpoint, endpoint, editEndpoint, deliveries, delivery, eventTypes, eventType]

const allSyncs = createRoute(page('/syncs', () => import('./syncs/list-page.tsx'), many('syncs.list')))
const newSync = createRoute(
	page('/syncs/new', () => import('./syncs/new-page.tsx'), many('connections.list'), many('mappings.list', { status: 'active' })),
)
const sync = createRoute(page('/syncs/$id', () => import('./syncs/detail-page.tsx'), one('syncs.get')))
const editSync = createRoute(page('/syncs/$id/edit', () => import('./syncs/edit-page.tsx'), one('syncs.get')))
const syncRun = createRoute(page('/syncs/$id/runs/$runId', () => import('./syncs/run-page.tsx'), one('syncs.get'), beginRun))

const syncs = [allSyncs, newSync, sync, editSync, syncRun]

const allConnections = createRoute(
	page('/connections', () => import('./connections/list-page.tsx'), many('connections.list'), providers),
)
const newConnection = createRoute({
	...page('/connections/new', () => import('./connections/new-page.tsx'), providers),
	validateSearch: ({ provider }: Query): { provider?: string } => ({ provider: text(provider) }),
})
const connection = createRoute(page('/connections/$id', () => import('./connections/detail-page.tsx'), one('connections.get')))

const connections = [allConnections, newConnection, connection]

const allMappings = createRoute(page('/mappings', () => import('./mappings/list-page.tsx'), many('mappings.list'), providers))
const newMapping = createRoute(
	page('/mappings/new', () => import('./mappings/new-page.tsx'), many('mappings.defaults.list'), providers),
)
const mapping = createRoute(page('/mappings/$id', () => import('./mappings/detail-page.tsx'), one('mappings.get'), providers))

const mappings = [allMappings, newMapping, mapping]

const pages = [...entryPages, ...daily, ...invoicePages, ...webhooks, ...syncs, ...connections, ...mappings, ...settingsPages]

export const newRouter = (client: QueryClient) =>
	createRouter({
		routeTree: root.addChildren(pages),
		basepath: '/app',
		context: { client },
		scrollRestoration: true,
		defaultPreload: 'intent',
		defaultErrorComponent: PageFailed,
		// Old data stays in the cache of queries; the router has none.
		defaultPreloadStaleTime: 0,
	})

declare module '@tanstack/react-router' {
	interface Register {
		router: ReturnType<typeof newRouter>
	}
	interface StaticDataRouteOption {
		isOutside?: boolean
	}
	interface HistoryState {
		isSigningOut?: boolean
	}
}
