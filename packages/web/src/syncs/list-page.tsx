import type { Sync } from '@remit/sdk'
import { Link } from '@tanstack/react-router'
import { Plus, RefreshCw } from 'lucide-react'
import { usePages } from '../api/pages.ts'
import { useSession } from '../api/session.ts'
import { showAgo } from '../format/dates.ts'
import { statusOf } from '../format/names.ts'
import { Badge } from '../ui/badge.tsx'
import { Card } from '../ui/card.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { showSchedule, stateOf } from './words.ts'
import '../ui/button.css'

export default function SyncsPage() {
	const { rows, onEnd, isStale, failure } = usePages('syncs.list', { limit: 100 }, { pollAfter: 10_000 })
	const { may } = useSession()
	const ago = (time: number | null | undefined) => (time ? showAgo(time, Date.now()) : '–')
	const columns: readonly Column<Sync>[] = [
		{ id: 'name', label: 'Name', grow: 4, phone: 'title', cell: ({ name }) => name },
		{
			id: 'status',
			label: 'Status',
			grow: 2,
			phone: 'figure',
			cell: (sync) => {
				const { label, tone } = statusOf(stateOf(sync))
				return <Badge tone={tone}>{label}</Badge>
			},
		},
		{
			id: 'errors',
			label: 'Open errors',
			grow: 1.5,
			isNumber: true,
			cell: ({ openErrors }) => <span className={openErrors > 0 ? 'bad-text' : 'quiet'}>{openErrors}</span>,
		},
		{
			id: 'last',
			label: 'Last run',
			grow: 2,
			phone: 'note',
			cell: ({ lastRun }) => <span className="quiet">{ago(lastRun?.createdAt)}</span>,
		},
		{
			id: 'schedule',
			label: 'Runs',
			grow: 2,
			cell: ({ schedule }) => <span className="quiet">{showSchedule(schedule)}</span>,
		},
	]
	return (
		<>
			<PageHeader
				title="Syncs"
				actions={
					may('write') && (
						<Link to="/syncs/new" className="button primary" data-key="new">
							<Plus aria-hidden="true" />
							New sync
						</Link>
					)
				}
			/>
			<Card isFlush>
				<Loaded data={rows} failure={failure}>
					{(syncs) =>
						syncs.length === 0 ? (
							<NoSyncs />
						) : (
							<Table
								label="Syncs"
								columns={columns}
								rows={syncs}
								idOf={({ id }) => id}
								onEnd={onEnd}
								isStale={isStale}
								link={({ id }, content) => (
									<Link to="/syncs/$id" params={{ id }}>
										{content}
									</Link>
								)}
							/>
						)
					}
				</Loaded>
			</Card>
		</>
	)
}

function NoSyncs() {
	const { may } = useSession()
	const { rows } = usePages('connections.list', { limit: 1 })
	const hasConnection = rows?.length !== 0
	return (
		<EmptyState
			icon={<RefreshCw size={22} />}
			title="No syncs yet"
			action={
				may('write') && (
					<Link to={hasConnection ? '/syncs/new' : '/connections'} className="button plain">
						{hasConnection ? 'New sync' : 'Connect a provider'}
					</Link>
				)
			}
		>
			A sync keeps records of another system and of Remit in step, by a connection and a mapping.
		</EmptyState>
	)
}
