import { useInfiniteQuery } from '@tanstack/react-query'
import { describe } from '../api/errors.ts'
import { list, useWrite } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { showAgo, showTime } from '../format/dates.ts'
import { browserName } from '../format/names.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import './sessions.css'

/** Where a person is signed in, each with a button that ends it. */
export function Sessions({ userId }: { userId: string }) {
	const { sessionId, locale, timeZone } = useSession()
	const { data, error, hasNextPage, fetchNextPage } = useInfiniteQuery(list('sessions.list', { userId, limit: 20 }))
	const end = useWrite('sessions.delete')
	if (!data) return error ? <ErrorPanel isSmall {...describe(error)} /> : <Skeleton rows={2} />
	const sessions = data.pages.flatMap(({ rows }) => rows)
	if (sessions.length === 0) return <p className="sessions-none">Not signed in anywhere.</p>
	return (
		<>
			{end.error && <ErrorPanel isSmall {...describe(end.error)} />}
			<ul className="sessions">
				{sessions.map(({ id, userAgent, address, lastSeenAt }) => (
					<li key={id}>
						<div>
							<div>
								{browserName(userAgent)} {id === sessionId && <Badge tone="accent">This browser</Badge>}
							</div>
							<div className="sessions-none" title={`${showTime(lastSeenAt, locale, timeZone)} (${timeZone})`}>
								{[address, `seen ${showAgo(lastSeenAt, Date.now())}`].filter(Boolean).join(' · ')}
							</div>
						</div>
						{id !== sessionId && (
							<Button isSmall isPending={end.isPending && end.variables[0] === id} onPress={() => end.mutate([id])}>
								End
							</Button>
						)}
					</li>
				))}
			</ul>
			{hasNextPage && <Button onPress={() => void fetchNextPage()}>Show more</Button>}
		</>
	)
}
