import { useInfiniteQuery, useQueries } from '@tanstack/react-query'
import { list, read } from '../api/query.ts'

/** The names of records by their ids, for lists of what points to them: those that the first page has not are asked for by themselves. */
export function useNames(kind: 'companies' | 'deals', ids: readonly (string | null)[]): ReadonlyMap<string, string> {
	const { data } = useInfiniteQuery({ ...list(`${kind}.list` as 'deals.list', { limit: 100 }), placeholderData: undefined })
	const names = new Map((data?.pages ?? []).flatMap(({ rows }) => rows.map(({ id, name }) => [id, name] as const)))
	const missing = data ? [...new Set(ids)].filter((id) => id !== null && !names.has(id)) : []
	const others = useQueries({
		queries: missing.map((id) => ({ ...read(`${kind}.get` as 'deals.get', id as string), staleTime: 60_000 })),
	})
	for (const { data: record } of others) if (record) names.set(record.id, record.name)
	return names
}
