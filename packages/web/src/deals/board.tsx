import type { Deal, Pipeline, Stage } from '@remit/sdk'
import { Link } from '@tanstack/react-router'
import { ArrowRight } from 'lucide-react'
import { type DragEvent, useState } from 'react'
import { useSession } from '../api/session.ts'
import { showAmount } from '../format/amount.ts'
import { otherStages } from '../forms/pipelines.ts'
import { useNames } from '../forms/use-names.ts'
import { Button } from '../ui/button.tsx'
import { Menu } from '../ui/menu.tsx'
import './board.css'

interface BoardProps {
	readonly pipeline: Pipeline
	readonly deals: readonly Deal[]
	readonly onMove: (deal: Deal, stage: Stage, from: Stage | undefined) => void
}

/** A column for each stage. A card is moved by its menu, or with the pointer. */
export default function Board({ pipeline, deals, onMove }: BoardProps) {
	const [over, setOver] = useState<string>()
	const { may } = useSession()
	const names = useNames(
		'companies',
		deals.map(({ companyId }) => companyId),
	)
	const stageWith = (key: string) => pipeline.stages.find((stage) => stage.key === key)
	const drop = (event: DragEvent, stage: Stage) => {
		event.preventDefault()
		setOver(undefined)
		const deal = deals.find(({ id }) => id === event.dataTransfer.getData('text/plain'))
		if (deal) onMove(deal, stage, stageWith(deal.stage))
	}
	return (
		<div className="board">
			{pipeline.stages.map((stage) => {
				const cards = deals.filter((deal) => deal.stage === stage.key)
				return (
					<section
						key={stage.key}
						className="lane"
						aria-label={stage.label}
						data-over={over === stage.key || undefined}
						onDragOver={(event) => {
							event.preventDefault()
							setOver(stage.key)
						}}
						onDragLeave={() => setOver(undefined)}
						onDrop={(event) => drop(event, stage)}
					>
						<header className="lane-head">
							<h2>{stage.label}</h2>
							<span className="lane-count">{cards.length}</span>
							<Sums deals={cards} />
						</header>
						<ul className="cards">
							{cards.map((deal) => (
								<Card
									key={deal.id}
									deal={deal}
									company={names.get(deal.companyId ?? '')}
									stages={may('deals:write') ? otherStages(pipeline, deal.stage) : []}
									onMove={(to) => onMove(deal, to, stage)}
								/>
							))}
						</ul>
					</section>
				)
			})}
		</div>
	)
}

/** Amounts of different currencies are never added up. */
function Sums({ deals }: { deals: readonly Deal[] }) {
	const { locale } = useSession()
	const sums = new Map<string, number>()
	for (const { currency, valueCents } of deals) if (valueCents) sums.set(currency, (sums.get(currency) ?? 0) + valueCents)
	return <span className="lane-sum">{[...sums].map(([currency, cents]) => showAmount(cents, currency, locale)).join(' + ')}</span>
}

interface CardProps {
	readonly deal: Deal
	readonly company: string | undefined
	readonly stages: readonly Stage[]
	readonly onMove: (stage: Stage) => void
}

function Card({ deal, company, stages, onMove }: CardProps) {
	const { locale } = useSession()
	const { id, name, valueCents, currency } = deal
	return (
		<li className="deal-card" draggable={stages.length > 0} onDragStart={(event) => event.dataTransfer.setData('text/plain', id)}>
			<Link to="/deals/$id" params={{ id }} draggable={false}>
				{name}
			</Link>
			{company && <span className="deal-note">{company}</span>}
			<span className="deal-value">{valueCents === null ? '' : showAmount(valueCents, currency, locale)}</span>
			{stages.length > 0 && (
				<Menu
					label="Move to"
					actions={stages.map((stage) => ({ id: stage.key, label: stage.label, onAction: () => onMove(stage) }))}
				>
					<Button look="quiet" isSmall aria-label={`Move ${name} to`} icon={<ArrowRight />} />
				</Menu>
			)}
		</li>
	)
}
