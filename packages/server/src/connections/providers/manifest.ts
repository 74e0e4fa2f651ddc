// What Remit knows of a provider. It is data: code is written only where a vendor differs in a way that data cannot say.
import type { ConnectionAuthType, ConnectionConfig, ProviderField } from '../../generated/contract.ts'

/** How a list goes on to its next page. */
export type Pagination =
	/** The answer names the next page, at the path `next`; the query parameter `parameter` asks for it. */
	| { readonly style: 'cursor'; readonly parameter: string; readonly next: string }
	/** The query parameter `parameter` is the last id of the page before; `more` says whether there is one. */
	| { readonly style: 'after_id'; readonly parameter: string; readonly more: string }
	/** Pages are counted from 1. */
	| { readonly style: 'page'; readonly parameter: string }

export interface ObjectManifest {
	readonly name: string
	/** The list's path, with the version of the API in it. */
	readonly path: string
	/** What a connection with `oauth2` asks for, to read and write it. */
	readonly scopes: readonly string[]
	/** Where the answer has the records. */
	readonly records: string
	readonly idField: string
	/** The field that says when a record last changed; null where only a full pass finds changes. */
	readonly changedField: string | null
	readonly pagination: Pagination
	readonly pageSize: { readonly parameter: string; readonly most: number }
	/** How a deleted record shows: it is `archived`, has a `status`, or is just not in the list any more. */
	readonly deletion: 'archived' | 'status' | 'absent'
	readonly fields: readonly ProviderField[]
}

export interface OAuthManifest {
	readonly authorizationUrl: string
	readonly tokenUrl: string
	/** From the token URL. */
	readonly revocationPath: string
	/** Besides those of the objects. */
	readonly scopes: readonly string[]
	/** Where the client id and secret go: in the body or in the Authorization header. */
	readonly authentication: 'post' | 'basic'
	/** After so many days without use a refresh token ends; null where none does. */
	readonly refreshTokenIdleDays: number | null
}

export interface Manifest {
	readonly id: string
	readonly name: string
	/** In the path of every object; null for an API that a connection describes. */
	readonly apiVersion: string | null
	/** Empty for an API that a connection describes. */
	readonly baseUrl: string
	readonly authTypes: readonly ConnectionAuthType[]
	/** Null for a provider without `oauth2`. */
	readonly oauth: OAuthManifest | null
	/** What a connection may configure; true: it must. */
	readonly config: { readonly [Name in keyof ConnectionConfig]?: boolean }
	/** The cheapest call that needs valid credentials, and where its answer names the account. */
	readonly test: { readonly path: string; readonly accountId?: string; readonly accountName?: string }
	readonly headers: Readonly<Record<string, string>>
	readonly objects: readonly ObjectManifest[]
	/** The names of the headers that say how many calls are left, the tightest limit first. */
	readonly remainingHeaders: readonly string[]
}
