// What the records of a provider look like to the rest of Remit.

import type { ConnectionErrorCode, ProviderField } from '../../../generated/contract.ts'
import type { Database } from '../../../platform/db/database.ts'
import type { Loan } from '../../../platform/fair/lending.ts'
import type { Services } from '../../../platform/outside/services.ts'

/**
 * Why it cannot be brought in. `invalid_id`: its id is missing, or no id that can be stored, and `id` is one of ours;
 * `too_deep` and `too_large`: it has more levels, or more in all, than a record may have, and `data` lacks the members with which it has.
 */
export interface RecordProblem {
	readonly code: 'invalid_id' | 'too_deep' | 'too_large'
	readonly reason: string
}

export interface ExternalRecord {
	readonly id: string
	/** Unix milliseconds; null when the provider does not say. */
	readonly changedAt: number | null
	readonly isDeleted: boolean
	readonly problem?: RecordProblem
	readonly data: Readonly<Record<string, unknown>>
}

export interface RecordPage {
	readonly records: readonly ExternalRecord[]
	/** Where the next page begins; null after the last. */
	readonly next: string | null
	/** Bytes that were read from sockets, compressed as they came. */
	readonly bytes: number
	readonly total: number | null
}

export interface RecordContext {
	/** Not a transaction: what a call says of its connection is stored whatever becomes of the caller's work. */
	readonly db: Database
	readonly services: Services
	readonly now: () => number
	readonly signal: AbortSignal
	/** Lends the caller's place among those that work while it waits for the provider. */
	readonly lend?: (afterMs: number) => Loan
}

export interface ObjectKey {
	readonly organizationId: string
	readonly connectionId: string
	readonly object: string
}

export interface PageStart {
	/** The `next` of the page before; null for the first. */
	readonly cursor: string | null
	/** Only what changed then or later; null for all. */
	readonly since: number | null
	/** The paths to read: HubSpot answers only what is asked for. */
	readonly fields: readonly string[]
}

export interface RecordWrite {
	/** Null creates a record. */
	readonly externalId: string | null
	readonly data: Readonly<Record<string, unknown>>
	readonly idempotencyKey: string
	/** The paths to answer. */
	readonly fields: readonly string[]
}

export interface ObjectSchema {
	readonly name: string
	readonly idField: string
	readonly fields: readonly ProviderField[]
	/** Where the paths of all fields begin that the provider tells; null where it tells none. */
	readonly allBelow: string | null
	/** By the values of which records are found; empty where none can be looked up. */
	readonly lookUpFields: readonly string[]
	/** Differs when a field came, went or changed its type. */
	readonly hash: string
}

/** What can be done with an object of a connection. */
export interface Capabilities {
	/** Whether `since` is obeyed; without it each pass reads everything. */
	readonly filtersChanges: boolean
	readonly readsOne: boolean
	/** Whether a list is one page, which cannot move while it is read. */
	readonly listsAtOnce: boolean
	readonly finds: boolean
	/** By the values of which it does. */
	readonly lookUpFields: readonly string[]
	readonly writes: boolean
	readonly removes: boolean
	/** For how long the provider stores a repeated write once; 0 where it never does. */
	readonly idempotencyKeptMs: number
	/** For how long a look-up may miss what was just written. Pages of changes look back by themselves. */
	readonly lookupLagMs: number
}

export type FailureKind = 'limit' | 'retry' | 'unreadable' | 'reauth' | 'off' | 'cursor_expired' | 'rejected' | 'unclear'

/** A call did not do what it was for. The message is for people, and has no credentials in it. */
export class ProviderFailed extends Error {
	/**
	 * `limit`: a limit of the provider, or of this process; `retry`: may work another time; `unreadable`: the server lacks the key
	 * of the credentials; `reauth`: needs other credentials; `off`: the connection is deleted or disabled; `cursor_expired`: begin from the
	 * first page; `rejected`: final for this request; `unclear`: a write that may have been stored.
	 */
	readonly kind: FailureKind
	readonly code: ConnectionErrorCode
	readonly retryAfterMs?: number

	constructor(
		kind: FailureKind,
		code: ConnectionErrorCode,
		message: string,
		options: { readonly retryAfterMs?: number | undefined; readonly cause?: unknown } = {},
	) {
		super(message, { cause: options.cause })
		this.kind = kind
		this.code = code
		if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs
	}
}

/** A list has no end: it leads back to what was read, or has the same records again and again. */
export class EndlessList extends ProviderFailed {
	constructor(message: string) {
		super('rejected', 'invalid_answer', message)
	}
}

/** The provider cannot do this with the object; nothing was asked. */
export class CannotDo extends Error {}

/** The provider has no look-up of the object by these fields. */
export class CannotFind extends CannotDo {}

/** The connection has no such object. */
export class UnknownObject extends Error {}
