import type { User } from '@remit/sdk'
import { useQueries } from '@tanstack/react-query'
import { read } from '../api/query.ts'

/** People by their ids, also those who were removed. Whom a program has named in its own way is nobody's id. */
export function usePeople(ids: readonly (string | null | undefined)[]): ReadonlyMap<string, User> {
	const known = [...new Set(ids)].filter((id): id is string => id?.startsWith('usr_') ?? false)
	const found = useQueries({ queries: known.map((id) => ({ ...read('users.get', id), staleTime: 300_000 })) })
	return new Map(found.flatMap(({ data }) => (data ? [[data.id, data] as const] : [])))
}
