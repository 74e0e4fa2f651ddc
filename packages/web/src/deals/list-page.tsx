import type { Deal, Pipeline } from '@remit/sdk'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Handshake, Plus } from 'lucide-react'
import { useCallback } from 'react'
import { describe } from '../api/errors.ts'
import { usePages } from '../api/pages.ts'
import { useSession } from '../api/session.ts'
import { usePipelines } from '../forms/pipelines.ts'
import { Button } from '../ui/button.tsx'
import { Card } from '../ui/card.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { NoMatch } from '../ui/no-match.tsx'
import { onFirstUse } from '../ui/on-first-use.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { BoardSkeleton, InBoard } from './board-skeleton.tsx'
import { useMove } from './use-move.ts'

const Board = onFirstUse(() => import('./board.tsx'), InBoard)
const DealTable = onFirstUse(() => import('./deal-table.tsx'))

const route = getRouteApi('/deals')

export default function DealsPage() {
	const { may } = useSession()
	const { search, view, pipeline: chosen } = route.useSearch()
	const navigate = route.useNavigate()
	const onSearch = useCallback(
		(text: string) => void navigate({ to: '/deals', search: (now) => ({ ...now, search: text || undefined }), replace: true }),
		[navigate],
	)
	const { pipelines, failure: withoutPipelines } = usePipelines()
	const pipeline = pipelines?.find(({ id }) => id === chosen) ?? pipelines?.[0]
	const {
		rows: deals,
		hasMore,
		isMoreComing,
		onEnd,
		isStale,
		failure: withoutDeals,
	} = usePages(
		'deals.list',
		{ limit: 100, ...(search && { search }), ...(pipeline && { pipelineId: pipeline.id }) },
		{ enabled: pipeline !== undefined },
	)
	const failure = withoutDeals ?? withoutPipelines
	const { move, error: refusal } = useMove()
	return (
		<>
			<PageHeader title="Deals" actions={may('deals:write') && <NewDeal look="primary" />} />
			<Tabs label="Views">
				<Link to="/deals" search={{ search, pipeline: chosen }} activeOptions={{ exact: true }}>
					Board
				</Link>
				<Link to="/deals" search={{ search, pipeline: chosen, view: 'list' }} activeOptions={{ exact: true }}>
					List
				</Link>
			</Tabs>
			<div className="toolbar">
				<SearchField label="Search deals" value={search ?? ''} onSearch={onSearch} />
				{pipelines && pipelines.length > 1 && <PipelineLinks pipelines={pipelines} shown={pipeline?.id} />}
			</div>
			{refusal && <ErrorPanel isSmall {...describe(refusal)} />}
			{failure && <ErrorPanel {...failure} />}
			{!deals && !failure && view !== 'list' && <BoardSkeleton pipeline={pipeline} />}
			{!deals && !failure && view === 'list' && (
				<Card isFlush>
					<Skeleton />
				</Card>
			)}
			{deals?.length === 0 ? (
				<Card isFlush>{search ? <NoMatch kind="deal" search={search} clear={clearSearch} /> : <NoDeals />}</Card>
			) : (
				deals && pipeline && <Found {...{ deals, pipeline, view, onEnd, move }} isStale={isStale} />
			)}
			{view !== 'list' && hasMore && (
				<div className="list-end">
					<Button onPress={onEnd} isPending={isMoreComing}>
						Show older deals
					</Button>
				</div>
			)}
		</>
	)
}

interface FoundProps {
	readonly deals: readonly Deal[]
	readonly pipeline: Pipeline
	readonly view: string | undefined
	readonly onEnd: (() => void) | undefined
	readonly move: ReturnType<typeof useMove>['move']
	readonly isStale: boolean
}

const Found = ({ deals, pipeline, view, onEnd, move, isStale }: FoundProps) =>
	view === 'list' ? (
		<Card isFlush>
			<DealTable deals={deals} pipelines={[pipeline]} onEnd={onEnd} isStale={isStale} />
		</Card>
	) : (
		<Board key={pipeline.id} pipeline={pipeline} deals={deals} onMove={move} />
	)

const PipelineLinks = ({ pipelines, shown }: { pipelines: readonly Pipeline[]; shown: string | undefined }) => (
	<nav aria-label="Pipelines" className="toolbar">
		{pipelines.map(({ id, name }) => (
			<Link
				key={id}
				to="/deals"
				search={(now) => ({ ...now, pipeline: id })}
				activeOptions={{ exact: true }}
				className={`button small ${id === shown ? 'plain' : 'quiet'}`}
				aria-current={id === shown ? 'page' : undefined}
			>
				{name}
			</Link>
		))}
	</nav>
)

const NewDeal = ({ look }: { look: 'primary' | 'plain' }) => (
	<Link to="/deals/new" className={`button ${look}`} data-key={look === 'primary' ? 'new' : undefined}>
		<Plus aria-hidden="true" />
		New deal
	</Link>
)

const clearSearch = (
	<Link to="/deals" search={(now) => ({ ...now, search: undefined })} className="button plain">
		Clear search
	</Link>
)

const NoDeals = () => (
	<EmptyState icon={<Handshake size={22} />} title="No deals yet" action={<NewDeal look="plain" />}>
		A deal is work to win, to do and to invoice: its time becomes the lines of an invoice.
	</EmptyState>
)
