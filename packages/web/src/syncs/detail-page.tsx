import type { Sync } from '@remit/sdk'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Play, Square } from 'lucide-react'
import { failureOf } from '../api/pages.ts'
import { pollDelay } from '../api/polling.ts'
import { read, useWrite } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { showTime } from '../format/dates.ts'
import { statusOf } from '../format/names.ts'
import { Badge } from '../ui/badge.tsx'
import { Banner } from '../ui/banner.tsx'
import { Button } from '../ui/button.tsx'
import { Card, Facts } from '../ui/card.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { onFirstUse } from '../ui/on-first-use.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { RunBar } from './run-bar.tsx'
import { Runs } from './runs.tsx'
import { SyncMenu } from './sync-menu.tsx'
import { useRefreshAtEnd } from './use-refresh-at-end.ts'
import { conflictPolicies, deletePolicies, directions, errorPolicies, isMoving, showSchedule } from './words.ts'

const HeldDeletions = onFirstUse(() => import('./held-deletions.tsx'))
const OpenErrors = onFirstUse(() => import('./open-errors.tsx'))
const route = getRouteApi('/syncs/$id')

export default function SyncPage() {
	const { id } = route.useParams()
	const query = useQuery({
		...read('syncs.get', id),
		// While a run moves, the run itself is read.
		refetchInterval: (polled) => !isMoving(polled.state.data?.lastRun) && pollDelay(polled, 10_000),
	})
	const { may } = useSession()
	const run = useWrite('syncs.run')
	const cancel = useWrite('syncs.cancel')
	const sync = query.data
	const trouble = failureOf(run) ?? failureOf(cancel)
	const { label, tone } = statusOf(sync?.status ?? '')
	return (
		<>
			<PageHeader
				title={sync?.name ?? 'Sync'}
				above={<Link to="/syncs">Syncs</Link>}
				beside={sync && <Badge tone={tone}>{label}</Badge>}
				actions={
					sync &&
					may('write') && (
						<>
							<SyncMenu sync={sync} onRun={(mode) => run.mutate([id, { mode }])} />
							{isMoving(sync.lastRun) ? (
								<Button icon={<Square />} isPending={cancel.isPending} onPress={() => cancel.mutate([id])}>
									Cancel run
								</Button>
							) : (
								<Button look="primary" icon={<Play />} isPending={run.isPending} onPress={() => run.mutate([id])}>
									Run now
								</Button>
							)}
						</>
					)
				}
			/>
			{trouble && <ErrorPanel isSmall {...trouble} />}
			<Loaded data={sync} failure={failureOf(query)}>
				{(found) => <SyncDetails sync={found} />}
			</Loaded>
		</>
	)
}

function SyncDetails({ sync }: { sync: Sync }) {
	const { locale, timeZone } = useSession()
	const { data: connection } = useQuery(read('connections.get', sync.connectionId))
	const { data: mapping } = useQuery(read('mappings.get', sync.mappingId))
	return (
		<>
			{sync.status === 'blocked' && <Banner tone="bad">It cannot run: {sync.statusReason}</Banner>}
			{sync.status === 'paused' && <Banner>It is paused: no run begins, and none goes on.</Banner>}
			<div className="columns">
				<div className="stack">
					<LastRun sync={sync} />

					<OpenErrors sync={sync} />

					<Runs id={sync.id} />
				</div>
				<Card title="Details">
					<Facts
						facts={[
							[
								'Connection',
								<Link key="connection" to="/connections/$id" params={{ id: sync.connectionId }}>
									{connection?.name ?? sync.connectionId}
								</Link>,
							],
							[
								'Mapping',
								<Link key="mapping" to="/mappings/$id" params={{ id: sync.mappingId }}>
									{mapping?.name ?? sync.mappingId}
								</Link>,
							],
							['Direction', directions[sync.direction] ?? sync.direction],
							['Runs', showSchedule(sync.schedule)],
							['Next run', sync.nextRunAt && showTime(sync.nextRunAt, locale, timeZone)],
							['Reads', sync.mode === 'full' ? 'Everything' : 'What has changed'],
							['Changed on both sides', conflictPolicies[sync.conflictPolicy]],
							['Deleted on one side', deletePolicies[sync.deletePolicy]],
							['A record fails', errorPolicies[sync.errorPolicy]],
						]}
					/>
				</Card>
			</div>
		</>
	)
}

function LastRun({ sync: { id, lastRun } }: { sync: Sync }) {
	const runId = lastRun?.id ?? ''
	const query = useQuery({
		...read('syncs.runs.get', id, runId),
		enabled: runId !== '',
		refetchInterval: (polled) => isMoving(polled.state.data) && pollDelay(polled, 2_000),
	})
	useRefreshAtEnd(query.data, isMoving(lastRun))
	if (runId === '')
		return (
			<Card>
				<EmptyState title="No run yet">The first run reads everything; later ones read what has changed.</EmptyState>
			</Card>
		)
	return (
		<Loaded data={query.data} failure={failureOf(query)} rows={3}>
			{(found) => (
				<>
					<RunBar run={found} title={isMoving(found) ? 'Under way' : 'Last run'} />

					{found.status === 'waiting' && found.error?.code === 'too_many_deletions' && <HeldDeletions run={found} />}
				</>
			)}
		</Loaded>
	)
}
