import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { describe } from '../api/errors.ts'
import { list } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { stageOf, usePipelines } from '../forms/pipelines.ts'
import { Badge } from '../ui/badge.tsx'
import { Card } from '../ui/card.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { Table } from '../ui/table.tsx'

export function Deals({ companyId }: { companyId: string }) {
	const { data, error } = useInfiniteQuery(list('deals.list', { companyId, limit: 50 }))
	const { may } = useSession()
	const { pipelines } = usePipelines()
	const add = (
		<Link to="/deals/new" search={{ companyId }} className="button plain small">
			<Plus aria-hidden="true" />
			New deal
		</Link>
	)
	return (
		<Card title="Deals" isFlush actions={may('deals:write') && add}>
			{error && <ErrorPanel isSmall {...describe(error)} />}
			{!data && !error && <Skeleton rows={2} />}
			{data?.pages[0]?.rows.length === 0 && (
				<EmptyState title="No deals yet">Work for this company to win, to do and to invoice.</EmptyState>
			)}
			{data && data.pages[0]?.rows.length !== 0 && (
				<Table
					label="Deals"
					rows={data.pages.flatMap(({ rows }) => rows)}
					idOf={({ id }) => id}
					link={({ id }, content) => (
						<Link to="/deals/$id" params={{ id }}>
							{content}
						</Link>
					)}
					columns={[
						{ id: 'name', label: 'Name', grow: 3, phone: 'title', cell: ({ name }) => name },
						{
							id: 'stage',
							label: 'Stage',
							grow: 2,
							phone: 'note',
							cell: (deal) => {
								const { label, tone } = stageOf(pipelines, deal)
								return <Badge tone={tone}>{label}</Badge>
							},
						},
					]}
				/>
			)}
		</Card>
	)
}
