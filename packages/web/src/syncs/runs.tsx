import type { SyncRun } from '@remit/sdk'
import { Link } from '@tanstack/react-router'
import { usePages } from '../api/pages.ts'
import { useSession } from '../api/session.ts'
import { showTime } from '../format/dates.ts'
import { statusOf, words } from '../format/names.ts'
import { Badge } from '../ui/badge.tsx'
import { Card } from '../ui/card.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { type Column, Table } from '../ui/table.tsx'

/** The runs of a sync, newest first. */
export function Runs({ id }: { id: string }) {
	const { locale, timeZone } = useSession()
	const { rows, onEnd, failure } = usePages('syncs.runs.list', { limit: 25 }, { path: [id] })
	const columns: readonly Column<SyncRun>[] = [
		{ id: 'begun', label: 'Begun', grow: 4, phone: 'title', cell: ({ createdAt }) => showTime(createdAt, locale, timeZone) },
		{
			id: 'status',
			label: 'Status',
			grow: 3,
			phone: 'figure',
			cell: ({ status }) => {
				const { label, tone } = statusOf(status)
				return <Badge tone={tone}>{label}</Badge>
			},
		},
		{ id: 'mode', label: 'Reads', grow: 2, cell: ({ mode }) => <span className="quiet">{words(mode)}</span> },
		{
			id: 'written',
			label: 'Written',
			grow: 1.5,
			isNumber: true,
			phone: 'note',
			cell: ({ progress: { created, updated, deleted } }) => (
				<>
					{created + updated + deleted}
					<span className="phone-only"> written</span>
				</>
			),
		},
		{ id: 'failed', label: 'Failed', grow: 1.5, isNumber: true, cell: ({ progress }) => progress.failed },
	]
	return (
		<Card title="History" isFlush>
			<Loaded data={rows} failure={failure} rows={4}>
				{(runs) =>
					runs.length === 0 ? (
						<EmptyState title="No run yet">Each run, with what it has read and written and what has failed.</EmptyState>
					) : (
						<Table
							label="Runs"
							columns={columns}
							rows={runs}
							idOf={(run) => run.id}
							onEnd={onEnd}
							link={(run, content) => (
								<Link to="/syncs/$id/runs/$runId" params={{ id, runId: run.id }}>
									{content}
								</Link>
							)}
						/>
					)
				}
			</Loaded>
		</Card>
	)
}
