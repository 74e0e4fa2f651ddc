import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { list } from '../api/query.ts'

type TimeQuery = NonNullable<Parameters<typeof list<'timeEntries.list'>>[1]>

const most = 1_000

/** Time entries of a short stretch or one deal: page after page, a thousand at most. */
export function useTimeEntries(query: TimeQuery) {
	const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage, isPlaceholderData } = useInfiniteQuery(
		list('timeEntries.list', { ...query, limit: 100 }),
	)
	const entries = data?.pages.flatMap(({ rows }) => rows)
	const isPartial = hasNextPage && (entries?.length ?? 0) < most
	useEffect(() => {
		if (isPartial && !isFetchingNextPage) void fetchNextPage()
	}, [isPartial, isFetchingNextPage, fetchNextPage])
	return { entries, error, refetch, isWhole: entries !== undefined && !isPartial, isStale: isPlaceholderData }
}
