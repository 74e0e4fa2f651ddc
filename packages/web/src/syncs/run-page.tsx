import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { failureOf, usePages } from '../api/pages.ts'
import { pollDelay } from '../api/polling.ts'
import { read } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { showTime } from '../format/dates.ts'
import { Button } from '../ui/button.tsx'
import { Card } from '../ui/card.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { RecordErrors } from './record-errors.tsx'
import { RunBar } from './run-bar.tsx'
import { useRefreshAtEnd } from './use-refresh-at-end.ts'
import { isMoving } from './words.ts'

const route = getRouteApi('/syncs/$id/runs/$runId')

export default function RunPage() {
	const { id, runId } = route.useParams()
	const { locale, timeZone } = useSession()
	const { data: sync } = useQuery(read('syncs.get', id))
	const query = useQuery({
		...read('syncs.runs.get', id, runId),
		refetchInterval: (polled) => isMoving(polled.state.data) && pollDelay(polled, 2_000),
	})
	const { rows, hasMore, onEnd, failure } = usePages('syncs.runs.errors.list', { limit: 25 }, { path: [id, runId] })
	const run = query.data
	useRefreshAtEnd(run)
	return (
		<>
			<PageHeader
				title={run ? `Run of ${showTime(run.createdAt, locale, timeZone)}` : 'Run'}
				above={
					<Link to="/syncs/$id" params={{ id }}>
						{sync?.name ?? 'Sync'}
					</Link>
				}
			/>
			<Loaded data={run} failure={failureOf(query)} rows={3}>
				{(found) => <RunBar run={found} title="Records" />}
			</Loaded>
			<Card title="Errors">
				<Loaded data={rows} failure={failure} rows={3}>
					{(errors) =>
						errors.length === 0 ? (
							<p className="quiet-text">Every record that it read could be written.</p>
						) : (
							<RecordErrors errors={errors} sourceIsProvider={sync?.direction !== 'outbound'} />
						)
					}
				</Loaded>
				{hasMore && (
					<div>
						<Button isSmall onPress={onEnd}>
							Show more
						</Button>
					</div>
				)}
			</Card>
		</>
	)
}
