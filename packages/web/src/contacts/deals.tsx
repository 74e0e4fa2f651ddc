import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { describe } from '../api/errors.ts'
import { list } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { showAmount } from '../format/amount.ts'
import { stageOf, usePipelines } from '../forms/pipelines.ts'
import { Card } from '../ui/card.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { Row, Rows } from '../ui/rows.tsx'
import { Skeleton } from '../ui/skeleton.tsx'

/** The latest deals that a person is the contact of. */
export function Deals({ contactId }: { contactId: string }) {
	const { locale } = useSession()
	const { data, error } = useInfiniteQuery(list('deals.list', { contactId, limit: 100 }))
	const rows = data?.pages[0]?.rows
	const { pipelines } = usePipelines()
	return (
		<Card title="Deals" isFlush>
			{error && <ErrorPanel isSmall {...describe(error)} />}
			{!rows && !error && <Skeleton rows={2} />}
			{rows?.length === 0 && <EmptyState title="No deals yet">Deals that name this person as their contact.</EmptyState>}
			{rows && rows.length > 0 && (
				<Rows label="Deals">
					{rows.map(({ id, name, valueCents, currency, ...deal }) => (
						<Row
							key={id}
							title={
								<Link to="/deals/$id" params={{ id }}>
									{name}
								</Link>
							}
							note={stageOf(pipelines, deal).label}
							figure={valueCents === null ? undefined : showAmount(valueCents, currency, locale)}
						/>
					))}
				</Rows>
			)}
		</Card>
	)
}
