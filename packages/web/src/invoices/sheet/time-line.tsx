import type { Invoice } from '@remit/sdk'
import { useInfiniteQuery } from '@tanstack/react-query'
import { describe } from '../../api/errors.ts'
import { call } from '../../api/query.ts'
import { useSession } from '../../api/session.ts'
import { showTime } from '../../format/dates.ts'
import { usePeople } from '../../forms/use-people.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { ErrorPanel } from '../../ui/error-panel.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { actorOf, wordsOf } from './history-words.ts'

/** What happened to the invoice and by whom, the latest first. */
export function TimeLine({ invoice: { id } }: { invoice: Invoice }) {
	const { personId, locale, timeZone } = useSession()
	const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
		queryKey: ['invoices', 'history', id],
		queryFn: ({ pageParam, signal }) =>
			call('invoices.history', id, { limit: 20, ...(pageParam && { cursor: pageParam }) }, { signal }).then(
				({ data: entries, meta }) => ({ entries, nextCursor: meta.nextCursor ?? undefined }),
			),
		initialPageParam: '',
		getNextPageParam: ({ nextCursor }) => nextCursor,
	})
	const entries = data?.pages.flatMap((page) => page.entries) ?? []
	const people = usePeople(entries.map(({ actor }) => actor.id))
	const names = new Map([...people].map(([person, { name }]) => [person, person === personId ? 'You' : name]))
	return (
		<Card title="History">
			{error && <ErrorPanel isSmall {...describe(error)} />}
			{!data && !error && <Skeleton rows={3} />}
			<ol className="time-line">
				{entries.map((entry) => (
					<li key={entry.id}>
						<div>{wordsOf(entry)}</div>
						<div className="note" title={timeZone}>
							{actorOf(entry, names)} · {showTime(entry.createdAt, locale, timeZone)}
						</div>
					</li>
				))}
			</ol>
			{hasNextPage && (
				<Button isSmall isPending={isFetchingNextPage} onPress={() => void fetchNextPage()}>
					Show earlier
				</Button>
			)}
		</Card>
	)
}
