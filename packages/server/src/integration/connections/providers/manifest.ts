// What Remit knows of a provider. It is data: code is written only where a vendor differs in a way that data cannot say.
import type { ConnectionAuthType, ConnectionConfig, ProviderField } from '../../../generated/contract.ts'

/** How a list goes on to its next page. */
export type Pagination =
	/** The answer names the next page, at the path `next`; the query parameter `parameter` asks for it. */
	| { readonly style: 'cursor'; readonly parameter: string; readonly next: string }
	/** The query parameter `parameter` is the last id of the page before; `more` says whether there is one. */
	| { readonly style: 'after_id'; readonly parameter: string; readonly more: string }
	/** Pages are counted, from 1 unless `first` says otherwise. A page without records is after the last. */
	| { readonly style: 'page'; readonly parameter: string; readonly first?: number }
	/** The query parameter `parameter` is how many records come before the page. */
	| { readonly style: 'offset'; readonly parameter: string }
	/** The header Link has the URL of the next page (RFC 8288). */
	| { readonly style: 'link' }
	/** All is on one page. */
	| { readonly style: 'none' }

/** How a time is written: Unix ms or s, ISO 8601, or `/Date(ms+0000)/`. */
export type TimeFormat = 'iso' | 'unix_ms' | 'unix_s' | 'dotnet'

/** How what changed since a time is asked for. */
export type Changes =
	/**
	 * A search with filters, sorted by `property`, that never answers more than some thousands of records: the next page is a search from the last
	 * change and id on. Its index lags, so that it looks back by `lagMs`.
	 */
	| {
			readonly style: 'search'
			readonly path: string
			readonly property: string
			readonly idProperty: string
			readonly most: number
			readonly lagMs: number
	  }
	/** The header If-Modified-Since, in whole seconds, with the list sorted by `order`. */
	| { readonly style: 'if_modified_since'; readonly order: Readonly<Record<string, string>> }
	/** A query parameter of the list. */
	| { readonly style: 'parameter'; readonly parameter: string; readonly format: TimeFormat }

/** How records are looked up by the values of fields. `lagMs`: for how long it may miss what was just written. */
export type LookUp = { readonly fields: readonly string[]; readonly lagMs: number } & (
	| { readonly style: 'search'; readonly path: string }
	/** A query parameter of the list for each field, named as its path. */
	| { readonly style: 'parameters' }
	/** The query parameter `where` of the list, in the language of Xero. */
	| { readonly style: 'where' }
	/** The query parameter `query` of `path`, in the language of Stripe. */
	| { readonly style: 'query'; readonly path: string }
)

export type WriteMethod = 'POST' | 'PUT' | 'PATCH'

export interface Writes {
	readonly create: { readonly method: WriteMethod; readonly path: string } | null
	/** `{id}` in the path is the id of the record. */
	readonly update: { readonly method: WriteMethod; readonly path: string } | null
	readonly encoding: 'json' | 'form'
	/** Each value below this field is text, and an empty one has none. */
	readonly textsBelow?: string
	/** Whether an update may replace an object in the record as a whole: what Remit does not write of it is sent along. */
	readonly replacesObjects?: true
	/** Whether the answer has not all of the record, so that it is read again. */
	readonly answersPart: boolean
}

/** How a record is removed. `{id}` in the path is its id. */
export type Removal =
	| { readonly style: 'delete'; readonly method: 'DELETE' | 'POST'; readonly path: string }
	/** An update sets the field to `to`, or to what `from` names for the value that it has. */
	| { readonly style: 'status'; readonly field: string; readonly to: string; readonly from: Readonly<Record<string, string>> }

/** Where the provider tells the fields of an object. */
export interface SchemaManifest {
	readonly path: string
	readonly records: string
	/** Before the name of each field, to make its path. */
	readonly prefix: string
	/** The provider's names of times; all other values are text. */
	readonly times: readonly string[]
}

export interface ObjectManifest {
	readonly name: string
	/** The list's path, with the version of the API in it. */
	readonly path: string
	/** Query parameters of each call that reads the list. */
	readonly query?: Readonly<Record<string, string>>
	/** The query parameter for the fields to answer, and what their paths begin with; absent where all come. */
	readonly asks?: { readonly parameter: string; readonly prefix: string }
	/** What a connection with `oauth2` asks for, to read and write it. */
	readonly scopes: readonly string[]
	/** Where the answer has the records; empty where it is the list. */
	readonly records: string
	/** Where an answer says how many there are. */
	readonly total?: string
	readonly idField: string
	/** The field that says when a record last changed; null where nothing does. */
	readonly changedField: string | null
	readonly changedFormat: TimeFormat
	/** Null where only a full pass finds changes. */
	readonly changes: Changes | null
	readonly pagination: Pagination
	readonly pageSize: { readonly parameter: string; readonly most: number } | null
	/** The path of one record, with `{id}`; null where none can be read alone. */
	readonly one: string | null
	/** What is around one record, written or read: it is the item of a list with this name, or without `list` the value of the name. */
	readonly envelope: { readonly name: string; readonly list: boolean } | null
	readonly writes: Writes | null
	readonly removal: Removal | null
	readonly lookUp: LookUp | null
	/** How a deleted record shows, by a value of a field; null where it is just not there any more. */
	readonly deletion: { readonly field: string; readonly values: 'any' | readonly unknown[] } | null
	readonly schema: SchemaManifest | null
	readonly fields: readonly ProviderField[]
}

/** A header with the number of calls that are left, and how long none is made when there is none. */
export interface CallLimit {
	readonly remaining: string
	/** A header that says it, in milliseconds, in seconds, or as a Unix time in seconds where it is that large. */
	readonly reset?: { readonly header: string; readonly unit: 'ms' | 's' }
	/** Without that header. */
	readonly pauseMs: number
}

export interface OAuthManifest {
	readonly authorizationUrl: string
	readonly tokenUrl: string
	/** From the token URL. */
	readonly revocationPath: string
	/** Besides those of the objects. */
	readonly scopes: readonly string[]
	/** Where the client id and secret go: in the body or in the Authorization header. */
	readonly authentication: 'body' | 'basic'
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
	/**
	 * The cheapest call that needs valid credentials, and where its answer names the account. With `accounts` it lists them there, empty where the
	 * answer is the list; `config.tenantId` of a connection says which is meant.
	 */
	readonly test: { readonly path: string; readonly accounts?: string; readonly accountId?: string; readonly accountName?: string }
	readonly headers: Readonly<Record<string, string>>
	readonly objects: readonly ObjectManifest[]
	/** Whether each account has webhooks with a secret of its own, which the credentials may have. */
	readonly hasOwnWebhooks?: boolean
	/** The header that has the id of the connection's account, once a test has named it. */
	readonly accountHeader?: string
	/** The header that makes a repeated write one. */
	readonly idempotencyHeader: { readonly name: string; readonly maxLength: number; readonly keptMs: number } | null
	/** What is left of limits, the tightest first. */
	readonly limits: readonly CallLimit[]
	/** What a 429 says of a limit that lasts, for want of a Retry-After. */
	readonly longLimit?: { readonly path: string; readonly value: string; readonly pauseMs: number }
	/** Where the answer to a write says what is wrong with it, the clearest first; `*` is each item of a list. */
	readonly errors: readonly string[]
}
