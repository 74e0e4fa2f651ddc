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
import { Row, Rows } from '../ui/rows.tsx'
import { Skeleton } from '../ui/skeleton.tsx'

/** The latest invoices of a deal. */
export function Invoices({ dealId }: { dealId: string }) {
	const { locale, timeZone } = useSession()
	const { data, error } = useInfiniteQuery(list('invoices.list', { dealId, fields: 'summary', limit: 100 }))
	const rows = data?.pages[0]?.rows
	return (
		<Card title="Invoices" isFlush>
			{error && <ErrorPanel isSmall {...describe(error)} />}
			{!rows && !error && <Skeleton rows={2} />}
			{rows?.length === 0 && (
				<EmptyState title="No invoices yet">Add the time that was worked on the deal, and make an invoice of it.</EmptyState>
			)}
			{rows && rows.length > 0 && (
				<Rows label="Invoices">
					{rows.map((invoice) => {
						const { id, invoiceNumber, dueDate, totalCents, currency } = invoice
						const { label, tone } = invoiceStatus(invoice)
						return (
							<Row
								key={id}
								title={
									<Link to="/invoices/$id" params={{ id }}>
										{invoiceNumber}
									</Link>
								}
								note={dueDate ? `Due ${showDay(dayOf(dueDate, timeZone), locale)}` : 'No due date'}
								figure={
									<>
										<Badge tone={tone}>{label}</Badge>
										<span className="row-amount">{showAmount(totalCents, currency, locale)}</span>
									</>
								}
							/>
						)
					})}
				</Rows>
			)}
		</Card>
	)
}
