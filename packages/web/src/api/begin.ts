import type { QueryClient } from '@tanstack/react-query'

/** Asks for what a page shows first, so that its answer waits neither for the session nor for the first drawing. */
// biome-ignore lint/suspicious/noExplicitAny: each page names what its own address has.
export type Begin<Params = any, Search = any> = (client: QueryClient, params: Params, search: Search) => void
