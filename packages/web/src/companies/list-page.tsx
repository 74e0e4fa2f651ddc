import { getRouteApi, Link } from '@tanstack/react-router'
import { Building2, Plus } from 'lucide-react'
import { useCallback } from 'react'
import { usePages } from '../api/pages.ts'
import { useSession } from '../api/session.ts'
import { dayIn, showDay } from '../format/dates.ts'
import { Card } from '../ui/card.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { NoMatch } from '../ui/no-match.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { type Column, Table } from '../ui/table.tsx'
import '../ui/button.css'

const route = getRouteApi('/companies')

export default function CompaniesPage() {
	const { search } = route.useSearch()
	const navigate = route.useNavigate()
	const onSearch = useCallback(
		(text: string) => void navigate({ to: '/companies', search: { search: text || undefined }, replace: true }),
		[navigate],
	)
	const { rows, total, onEnd, isStale, failure } = usePages('companies.list', { limit: 100, ...(search && { search }) })
	return (
		<>
			<PageHeader
				title="Companies"
				actions={
					<Link to="/companies/new" className="button primary" data-key="new">
						<Plus aria-hidden="true" />
						New company
					</Link>
				}
			/>
			<div className="toolbar">
				<SearchField label="Search companies" value={search ?? ''} onSearch={onSearch} />
				{total !== undefined && <span className="toolbar-count">{total === 1 ? '1 company' : `${total} companies`}</span>}
			</div>
			{failure && <ErrorPanel {...failure} />}
			{(rows || !failure) && (
				<Card isFlush>{rows ? <Rows rows={rows} search={search} onEnd={onEnd} isStale={isStale} /> : <Skeleton />}</Card>
			)}
		</>
	)
}

interface Row {
	readonly id: string
	readonly name: string
	readonly domain: string | null
	readonly billingCity: string | null
	readonly billingEmail: string | null
	readonly createdAt: number
}

function Rows({
	rows,
	search,
	onEnd,
	isStale,
}: {
	rows: readonly Row[]
	search?: string
	onEnd: (() => void) | undefined
	isStale: boolean
}) {
	const { locale, timeZone } = useSession()
	if (rows.length === 0) return search ? <NoMatch kind="company" search={search} clear={clearSearch} /> : <NoCompanies />
	const columns: readonly Column<Row>[] = [
		{ id: 'name', label: 'Name', grow: 3, phone: 'title', cell: ({ name }) => name },
		{ id: 'domain', label: 'Website', grow: 2.5, cell: ({ domain }) => <span className="quiet">{domain}</span> },
		{
			id: 'email',
			label: 'Invoices go to',
			grow: 3,
			phone: 'note',
			cell: ({ billingEmail }) => <span className="quiet">{billingEmail}</span>,
		},
		{
			id: 'city',
			label: 'City',
			grow: 2,
			phone: 'figure',
			cell: ({ billingCity }) => <span className="quiet">{billingCity}</span>,
		},
		{
			id: 'created',
			label: 'Created',
			grow: 2,
			isNumber: true,
			cell: ({ createdAt }) => <span className="quiet">{showDay(dayIn(timeZone, createdAt), locale)}</span>,
		},
	]
	return (
		<Table
			label="Companies"
			columns={columns}
			rows={rows}
			idOf={({ id }) => id}
			onEnd={onEnd}
			isStale={isStale}
			link={({ id }, content) => (
				<Link to="/companies/$id" params={{ id }}>
					{content}
				</Link>
			)}
		/>
	)
}

const clearSearch = (
	<Link to="/companies" search={{}} className="button plain">
		Clear search
	</Link>
)

const NoCompanies = () => (
	<EmptyState
		icon={<Building2 size={22} />}
		title="No companies yet"
		action={
			<Link to="/companies/new" className="button plain">
				New company
			</Link>
		}
	>
		A company is who you work for: its deals, time and invoices come together here.
	</EmptyState>
)
