import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { describe } from '../api/errors.ts'
import { list } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { showAmount } from '../format/amount.ts'
import { dayOf, showDay } from '../format/dates.ts'
import { invoiceStatus } from '../format/names.ts'
import { Badge } from '../ui/badge.tsx'
import { Card } from '../ui/card.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { Table } from '../ui/table.tsx'

/** The latest invoices of a company. */
export function Invoices({ companyId }: { companyId: string }) {
	const { locale, timeZone } = useSession()
	const { data, error } = useInfiniteQuery(list('invoices.list', { companyId, fields: 'summary', limit: 50 }))
	const all = (
		<Link to="/invoices" search={{ company: companyId }} className="button plain small">
			All invoices
		</Link>
	)
	return (
		<Card title="Invoices" isFlush actions={all}>
			{error && <ErrorPanel isSmall {...describe(error)} />}
			{!data && !error && <Skeleton rows={3} />}
			{data?.pages[0]?.rows.length === 0 && (
				<EmptyState
					title="No invoices yet"
					action={
						<Link to="/invoices/new" search={{ company: companyId }} className="button plain">
							New invoice
						</Link>
					}
				>
					What this company is billed, and what it has paid.
				</EmptyState>
			)}
			{data && data.pages[0]?.rows.length !== 0 && (
				<Table
					label="Invoices"
					rows={data.pages.flatMap(({ rows }) => rows)}
					idOf={({ id }) => id}
					link={({ id }, content) => (
						<Link to="/invoices/$id" params={{ id }}>
							{content}
						</Link>
					)}
					columns={[
						{ id: 'number', label: 'Number', phone: 'title', grow: 2, cell: ({ invoiceNumber }) => invoiceNumber ?? 'Draft' },
						{
							id: 'status',
							label: 'Status',
							grow: 2,
							phone: 'note',
							cell: (invoice) => {
								const { label, tone } = invoiceStatus(invoice)
								return <Badge tone={tone}>{label}</Badge>
							},
						},
						{
							id: 'due',
							label: 'Due',
							grow: 2,
							cell: ({ dueDate }) => <span className="quiet">{dueDate ? showDay(dayOf(dueDate, timeZone), locale) : '–'}</span>,
						},
						{
							id: 'total',
							label: 'Total',
							grow: 2,
							isNumber: true,
							phone: 'figure',
							cell: ({ totalCents, currency }) => showAmount(totalCents, currency, locale),
						},
					]}
				/>
			)}
		</Card>
	)
}
