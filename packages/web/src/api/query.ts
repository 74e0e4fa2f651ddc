// Reads and writes by the names of the SDK's methods. Arguments and results are typed from the contract; the names are the keys of
// the cache as well, so a write refreshes what it changes.
import type { Page, PagePromise, Remit } from '@remit/sdk'
import {
	infiniteQueryOptions,
	keepPreviousData,
	QueryClient,
	type QueryKey,
	queryOptions,
	useMutation,
	useQueryClient,
} from '@tanstack/react-query'
import { isForbidden, isSessionOver, isTransient, mayBeDone, retryDelay } from './errors.ts'
import { useOnePress } from './one-press.ts'
import { remit } from './remit.ts'
import { signedInAgain } from './session-over.ts'

type Method = (...args: never[]) => PromiseLike<unknown>

type NamesIn<T> = {
	[Name in keyof T & string]: T[Name] extends Method ? Name : T[Name] extends object ? `${Name}.${NamesIn<T[Name]>}` : never
}[keyof T & string]

/** Such as `invoices.get` or `invoices.clientLink.create`. */
export type MethodName = NamesIn<Remit>

type At<T, Name> = Name extends keyof T
	? T[Name]
	: Name extends `${infer First}.${infer Rest}`
		? First extends keyof T
			? At<T[First], Rest>
			: never
		: never

type MethodOf<Name> = Extract<At<Remit, Name>, Method>
type ArgsOf<Name> = Required<Parameters<MethodOf<Name>>>
/** All but the last, the options of the call; or all, where the options are the query as well. */
type ReadArgs<Name> = (ArgsOf<Name> extends [...infer Data, unknown] ? Data : never) | ArgsOf<Name>
type ResultOf<Name> = Awaited<ReturnType<MethodOf<Name>>>

/** Of the arguments of a list: what comes after the ids of its path. */
type QueryIn<Args> = Args extends [infer First, ...infer Rest] ? (First extends string ? QueryIn<Rest> : First) : never
export type QueryOf<Name> = QueryIn<ArgsOf<Name>>

export type ListName = { [Name in MethodName]: ResultOf<Name> extends Page<unknown, unknown> ? Name : never }[MethodName]
export type RowOf<Name> = ResultOf<Name> extends Page<infer Row, unknown> ? Row : never
type MetaOf<Name> = ResultOf<Name> extends Page<unknown, infer Meta> ? Meta : never

// biome-ignore lint/suspicious/noExplicitAny: the types of `call` and `read` say what stands at the path.
type Untyped = any

function methodOf(name: MethodName): (...args: unknown[]) => Promise<Untyped> {
	const path = name.split('.')
	const method = path.pop() as string
	const resource = path.reduce((place: Untyped, part) => place[part], remit)
	return resource[method].bind(resource)
}

export const call = <Name extends MethodName>(name: Name, ...args: Parameters<MethodOf<Name>>): Promise<ResultOf<Name>> =>
	again(() => methodOf(name)(...args), signalIn(args))

/** A request that found the session over did nothing: it is sent again when the same person has signed in. */
async function again<T>(send: () => Promise<T>, signal?: AbortSignal): Promise<T> {
	for (;;)
		try {
			return await send()
		} catch (error) {
			if (!isSessionOver(error)) throw error
			await signedInAgain(signal)
		}
}

const signalIn = (args: readonly unknown[]) => (args.at(-1) as { signal?: AbortSignal } | undefined)?.signal

/** The options of a query that reads one record or answer. */
export function read<const Name extends MethodName>(name: Name, ...args: ReadArgs<Name>) {
	return queryOptions({
		queryKey: [...name.split('.'), ...args] as QueryKey,
		queryFn: ({ signal }): Promise<ResultOf<Name>> => {
			const method = methodOf(name)
			const data: readonly unknown[] = args
			const isQuery = data.length === method.length
			const given = isQuery ? [...data.slice(0, -1), { ...(data.at(-1) as object), signal }] : [...data, { signal }]
			return again(() => method(...given), signal)
		},
	})
}

interface ListPage<Name> {
	readonly rows: RowOf<Name>[]
	readonly meta: MetaOf<Name>
	readonly nextCursor: string | undefined
	/** How many there are in all, where the list says so. */
	readonly total: number | undefined
}

/** The options of a query that reads a list page by page, each by the cursor of the one before. `path`: the ids that the list is of. */
export function list<const Name extends ListName>(name: Name, query: QueryOf<Name>, path: readonly string[] = []) {
	return infiniteQueryOptions({
		// The first page that `read` has of a list is another answer than all of its pages.
		queryKey: [...name.split('.'), 'pages', ...path, query] as QueryKey,
		queryFn: async ({ pageParam, signal }): Promise<ListPage<Name>> => {
			const place = { ...(query as object), ...(pageParam && { cursor: pageParam }) }
			const asked = methodOf(name)(...path, place, { signal }) as unknown as PagePromise<RowOf<Name>, MetaOf<Name>>
			const { data: page, response } = await asked.withResponse()
			const { nextCursor, total } = (page.meta ?? {}) as { nextCursor?: string | null; total?: number | null }
			const { headers } = response
			return {
				rows: page.data,
				meta: page.meta,
				// A list without `meta` has both in its headers.
				nextCursor: (page.meta ? nextCursor : cursorOf(headers.get('link'))) ?? undefined,
				total: total ?? numberOf(headers.get('x-total-count')),
			}
		},
		initialPageParam: '',
		getNextPageParam: ({ nextCursor }) => nextCursor,
		placeholderData: keepPreviousData,
	})
}

/** The cursor in a `Link` to the next page (RFC 8288). */
const cursorOf = (link: string | null) =>
	new URLSearchParams(/<[^>?]*\?([^>]*)>\s*;\s*rel="?next"?/.exec(link ?? '')?.[1]).get('cursor')

const numberOf = (text: string | null) => (text === null ? undefined : Number(text))

/** What else a write changes, besides its own resource. */
const changedWith: Readonly<Record<string, readonly string[]>> = {
	companies: ['search', 'contacts', 'deals', 'invoices'],
	contacts: ['search', 'companies', 'deals'],
	deals: ['search', 'invoices', 'timeEntries'],
	invoices: ['search', 'deals', 'timeEntries', 'reports', 'payments', 'numberGaps'],
	payments: ['invoices', 'deals', 'reports'],
	pipelines: ['deals'],
	timeEntries: ['search', 'deals', 'reports'],
	syncs: ['mappings', 'connections'],
	connections: ['syncs'],
	organization: ['session', 'invoices'],
	users: ['session', 'sessions'],
	invitations: ['users'],
}

/** A write, once for presses that say the same. It is never repeated by itself; what may have been done though its answer is an error is read again, too. */
export function useWrite<const Name extends MethodName>(name: Name) {
	const client = useQueryClient()
	const resource = name.split('.')[0] as string
	const once = useOnePress()
	const mutation = useMutation({
		mutationFn: (args: Parameters<MethodOf<Name>>) => call(name, ...args),
		onError: (error) => {
			if (mayBeDone(error)) void refresh(client, resource)
			// Somebody has taken the role away: the page is to offer what is left.
			if (isForbidden(error)) void client.invalidateQueries({ queryKey: ['session'] })
		},
		onSuccess: (_answer, args) => refresh(client, resource, name.endsWith('.delete') ? args[0] : undefined),
	})
	const mutateAsync: typeof mutation.mutateAsync = (...sent) => once(contentOf(sent[0]), () => mutation.mutateAsync(...sent))
	// What failed is in `error`.
	const mutate: typeof mutation.mutate = (...sent) => void mutateAsync(...sent).catch(() => {})
	return { ...mutation, mutate, mutateAsync }
}

/** A form that stays has another key after each write. */
const contentOf = (args: unknown) => JSON.stringify(args, (name, value) => (name === 'idempotencyKey' ? undefined : value))

/** Reads again what several writes of a resource have changed, once they are done. */
export function useRefresh(resource: string): () => Promise<unknown> {
	const client = useQueryClient()
	return () => refresh(client, resource)
}

/** The record that is gone is not read again: the page that shows it is about to be left. */
const refresh = (client: QueryClient, resource: string, gone?: unknown) =>
	Promise.all(
		[resource, ...(changedWith[resource] ?? [])].map((key) =>
			client.invalidateQueries({
				queryKey: [key],
				predicate: ({ queryKey }) => gone === undefined || queryKey[1] !== 'get' || queryKey[2] !== gone,
			}),
		),
	)

export const newQueryClient = () =>
	new QueryClient({
		defaultOptions: {
			// What was seen stays readable for the day, also when the connection is lost.
			queries: { staleTime: 10_000, gcTime: 86_400_000, retry: (count, error) => count < 2 && isTransient(error), retryDelay },
			mutations: { retry: false },
		},
	})
