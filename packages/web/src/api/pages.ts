// What a page does with a query: the rows that are there and how the list goes on, or the error and how to try again.
import { useInfiniteQuery } from '@tanstack/react-query'
import { useCallback } from 'react'
import { describe, type Trouble } from './errors.ts'
import { pollDelay } from './polling.ts'
import { type ListName, list, type QueryOf, type RowOf } from './query.ts'

export interface Failure extends Omit<Trouble, 'isRepeatable'> {
	readonly onRetry: (() => void) | undefined
}

/** Of a query or a write that has failed; undefined of any other. */
export function failureOf({ error, refetch }: { error: unknown; refetch?: () => unknown }): Failure | undefined {
	if (!error) return undefined
	const { isRepeatable, ...trouble } = describe(error)
	return { ...trouble, onRetry: isRepeatable && refetch ? () => void refetch() : undefined }
}

interface PagesOptions {
	/** The ids that the list is of. */
	readonly path?: readonly string[]
	/** Milliseconds after which the list is read again, or longer where it says the same. */
	readonly pollAfter?: number
	readonly enabled?: boolean
}

/** A list, page by page. */
export function usePages<const Name extends ListName>(
	name: Name,
	query: QueryOf<Name>,
	{ path, pollAfter, ...options }: PagesOptions = {},
) {
	const refetchInterval = pollAfter && ((polled: Parameters<typeof pollDelay>[0]) => pollDelay(polled, pollAfter))
	const result = useInfiniteQuery({ ...list(name, query, path), ...options, ...(refetchInterval && { refetchInterval }) })
	const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = result
	const onEnd = useCallback(() => {
		if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
	}, [hasNextPage, isFetchingNextPage, fetchNextPage])
	return {
		/** Undefined before the first page. */
		rows: data?.pages.flatMap(({ rows }): RowOf<Name>[] => rows),
		total: data?.pages[0]?.total,
		hasMore: hasNextPage,
		isMoreComing: isFetchingNextPage,
		/** Reads the next page; undefined when there is none. */
		onEnd: hasNextPage ? onEnd : undefined,
		isStale: result.isPlaceholderData,
		failure: failureOf(result),
	}
}
