import type { Deal } from '@remit/sdk'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { ArrowRight, Ellipsis, FilePlus, Pencil, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { describe } from '../api/errors.ts'
import { read } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { otherStages, stageOf, usePipelines } from '../forms/pipelines.ts'
import { useTimeEntries } from '../forms/use-time-entries.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { Menu } from '../ui/menu.tsx'
import { onFirstUse } from '../ui/on-first-use.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { InDialog } from '../ui/places.tsx'
import { Details } from './details.tsx'
import { Invoices } from './invoices.tsx'
import { TimeOnDeal } from './time-on-deal.tsx'
import { useMove } from './use-move.ts'

const DeleteDeal = onFirstUse(() => import('./delete-deal.tsx'), InDialog)
const MakeInvoice = onFirstUse(() => import('./make-invoice.tsx'), InDialog)

import { Waiting } from '../ui/waiting.tsx'

const route = getRouteApi('/deals/$id')
const toList = <Link to="/deals">Deals</Link>

export default function DealPage() {
	const { id } = route.useParams()
	const { data: deal, error, refetch } = useQuery(read('deals.get', id))
	if (deal) return <Shown deal={deal} />
	if (!error) return <Waiting title="Deal" above={toList} />
	const { isRepeatable, ...trouble } = describe(error)
	return (
		<>
			<PageHeader title="Deal" above={toList} />
			<ErrorPanel {...trouble} onRetry={isRepeatable ? () => void refetch() : undefined} />
		</>
	)
}

function Shown({ deal }: { deal: Deal }) {
	const { id } = deal
	const { may } = useSession()
	const [dialog, setDialog] = useState<'delete' | 'invoice'>()
	const { pipelines } = usePipelines()
	const pipeline = pipelines?.find((found) => found.id === deal.pipelineId)
	const { move, error: refusal } = useMove()
	const time = useTimeEntries({ dealId: id })
	const unbilled = (time.entries ?? []).filter(
		({ status, billable, durationSeconds }) => status === 'open' && billable && durationSeconds !== null,
	)
	const { label, tone } = stageOf(pipelines, deal)
	const from = pipeline?.stages.find(({ key }) => key === deal.stage)
	const isMade = may('invoices:write') && unbilled.length > 0
	const edit = (look: string) => (
		<Link to="/deals/$id/edit" params={{ id }} className={`button ${look}`} data-key="edit">
			<Pencil aria-hidden="true" />
			Edit
		</Link>
	)
	return (
		<>
			<PageHeader
				title={deal.name}
				above={toList}
				beside={<Badge tone={tone}>{label}</Badge>}
				actions={
					may('deals:write') && (
						<>
							<Menu
								label="More"
								actions={[
									...otherStages(pipeline, deal.stage).map((stage) => ({
										id: stage.key,
										label: `Move to ${stage.label}`,
										icon: <ArrowRight />,
										onAction: () => move(deal, stage, from),
									})),
									{
										id: 'delete it',
										label: 'Delete',
										icon: <Trash2 />,
										isDangerous: true,
										onAction: () => setDialog('delete'),
									},
								]}
							>
								<Button aria-label="More" icon={<Ellipsis />} />
							</Menu>
							{edit(isMade ? 'plain' : 'primary')}
							{isMade && (
								<Button look="primary" icon={<FilePlus />} onPress={() => setDialog('invoice')}>
									Make invoice
								</Button>
							)}
						</>
					)
				}
			/>
			{refusal && <ErrorPanel isSmall {...describe(refusal)} />}
			<div className="columns">
				<div className="stack">
					<TimeOnDeal deal={deal} time={time} unbilled={unbilled} />
					<Invoices dealId={id} />
				</div>
				<Details deal={deal} pipeline={pipeline} stage={label} />
			</div>

			{dialog === 'delete' && <DeleteDeal deal={deal} onClose={() => setDialog(undefined)} />}
			{dialog === 'invoice' && <MakeInvoice deal={deal} entries={unbilled} onClose={() => setDialog(undefined)} />}
		</>
	)
}
