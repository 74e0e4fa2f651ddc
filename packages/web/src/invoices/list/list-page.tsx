import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ReceiptText } from 'lucide-react'
import { type ReactNode, useCallback } from 'react'
import { invoicesQuery } from '../../api/first-reads.ts'
import { usePages } from '../../api/pages.ts'
import { read } from '../../api/query.ts'
import { words } from '../../format/names.ts'
import { Card } from '../../ui/card.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorPanel } from '../../ui/error-panel.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { hasFilter, type Row, route, type Search } from './list-query.ts'
import { Rows } from './rows.tsx'
import '../../ui/button.css'
import './list.css'

const tabs = [undefined, 'draft', 'open', 'overdue', 'paid'] as const
const nameOf = (tab: Search['tab']) => (tab ? words(tab) : 'All')

export default function InvoicesPage() {
	const search = route.useSearch()
	const navigate = route.useNavigate()
	const onSearch = useCallback(
		(text: string) =>
			void navigate({ to: '/invoices', search: (before) => ({ ...before, search: text || undefined }), replace: true }),
		[navigate],
	)
	const { rows: found, total, hasMore, onEnd, isStale, failure } = usePages('invoices.list', invoicesQuery(search))
	const rows = found as Row[] | undefined
	return (
		<>
			<PageHeader
				title="Invoices"
				actions={
					<Link to="/invoices/new" className="button primary" data-key="new">
						<span aria-hidden="true">+</span>
						New invoice
					</Link>
				}
			/>
			<Tabs label="Invoices by status">
				{tabs.map((tab) => (
					<Link key={tab ?? 'all'} to="/invoices" search={(before) => ({ ...before, tab })} activeOptions={{ exact: true }}>
						{nameOf(tab)}
					</Link>
				))}
			</Tabs>
			<div className="toolbar">
				<SearchField label="Search invoices" value={search.search ?? ''} onSearch={onSearch} />
				{search.company && <CompanyFilter id={search.company} />}
				{search.currency && <Filter remove="currency">{search.currency}</Filter>}
				{total !== undefined && <span className="toolbar-count">{total === 1 ? '1 invoice' : `${total} invoices`}</span>}
			</div>
			{failure && <ErrorPanel {...failure} />}
			{!rows && !failure && (
				<Card isFlush>
					<Skeleton />
				</Card>
			)}
			{rows?.length === 0 && !hasMore && <Card>{hasFilter(search) ? <NoMatch /> : <None tab={search.tab} />}</Card>}
			{rows && rows.length > 0 && (
				<Rows
					key={JSON.stringify([search.tab, search.search, search.company, search.currency])}
					rows={rows}
					search={search}
					onEnd={onEnd}
					isStale={isStale}
					total={total}
				/>
			)}
		</>
	)
}

/** A filter that came with the address, and the way without it. */
const Filter = ({ remove, children }: { remove: 'company' | 'currency'; children: ReactNode }) => (
	<Link to="/invoices" search={(before) => ({ ...before, [remove]: undefined })} className="button plain small">
		<span>{children}</span>
		<span aria-hidden="true">×</span>
		<span className="hidden">Remove this filter</span>
	</Link>
)

function CompanyFilter({ id }: { id: string }) {
	const { data } = useQuery(read('companies.get', id))
	return <Filter remove="company">{data?.name ?? 'One company'}</Filter>
}

const meaningOf = {
	all: 'Write one, send it, and see here who has looked at it and who has paid.',
	draft: 'A draft can still change: its client has not got it yet.',
	open: 'Invoices that were sent and are not paid yet.',
	overdue: 'Sent invoices whose due date has passed: nobody is late.',
	paid: 'Invoices whose money has come.',
}

const NoMatch = () => (
	<EmptyState
		title="No match"
		action={
			<Link to="/invoices" search={({ tab }) => ({ tab })} className="button plain">
				Clear filters
			</Link>
		}
	>
		No invoice here has this in its number, its reference or the name of its client.
	</EmptyState>
)

const None = ({ tab }: { tab: Search['tab'] }) => (
	<EmptyState
		icon={<ReceiptText size={22} />}
		title={tab ? `No ${nameOf(tab).toLowerCase()} invoices` : 'No invoices yet'}
		action={
			tab && tab !== 'draft' ? (
				<Link to="/invoices" search={(before) => ({ ...before, tab: undefined })} className="button plain">
					All invoices
				</Link>
			) : (
				<Link to="/invoices/new" className="button plain">
					New invoice
				</Link>
			)
		}
	>
		{meaningOf[tab ?? 'all']}
	</EmptyState>
)
