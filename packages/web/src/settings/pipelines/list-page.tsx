import type { Pipeline } from '@remit/sdk'
import { Link } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { usePages } from '../../api/pages.ts'
import { useSession } from '../../api/session.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { SettingsPage } from '../settings-page.tsx'
import { stageTypes } from './values.ts'
import './pipelines.css'

export default function PipelinesPage() {
	const { is } = useSession()
	const create = is('manager') && (
		<Link to="/settings/pipelines/new" className="button primary" data-key="new">
			<Plus aria-hidden="true" />
			New pipeline
		</Link>
	)
	return (
		<SettingsPage title="Pipelines" actions={create}>
			<Pipelines />
		</SettingsPage>
	)
}

function Pipelines() {
	const { rows, failure, hasMore, onEnd } = usePages('pipelines.list', { limit: 100 })
	return (
		<Loaded data={rows?.toReversed()} failure={failure}>
			{(pipelines) => (
				<div className="stack">
					<p className="quiet-text">The stages that deals pass through. New deals begin in the first pipeline.</p>
					{pipelines.map((pipeline) => (
						<PipelineCard key={pipeline.id} pipeline={pipeline} />
					))}
					{hasMore && <Button onPress={onEnd}>Show more</Button>}
				</div>
			)}
		</Loaded>
	)
}

const PipelineCard = ({ pipeline: { id, name, stages } }: { pipeline: Pipeline }) => (
	<Card
		title={name}
		actions={
			<Link to="/settings/pipelines/$id" params={{ id }} className="button plain small" aria-label={`Edit ${name}`}>
				Edit
			</Link>
		}
	>
		<ol className="stage-names" aria-label={`Stages of ${name}`}>
			{stages.map(({ key, label, type }) => (
				<li key={key}>
					<Badge tone={stageTypes.find(({ id: known }) => known === type)?.tone}>{label}</Badge>
				</li>
			))}
		</ol>
	</Card>
)
