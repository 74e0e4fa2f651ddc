// The types of handlers, derived from the contract: a missing operation, or a wrong status, header or body, does not compile.
import type { Logger } from 'pino'
import type { operations } from '../../generated/contract.ts'
import type { operationTable } from '../../generated/tables.ts'
import type { Caller, Callers } from '../auth/caller.ts'
import type { RateLimits } from '../auth/rate-limit.ts'
import type { StoredBytes } from '../auth/stored-bytes.ts'
import type { Origin } from '../base/origin.ts'
import type { Database, Db, Transaction } from '../db/database.ts'
import type { OrderedOrigin, WriteContext } from '../db/write-context.ts'
import type { Services } from '../outside/services.ts'
import type { JsonText } from './answers.ts'

/** What a handler may use. */
export interface Context {
	/** The request's transaction when the operation writes. */
	readonly db: Db
	readonly now: number
	/** The actor, request and time of changes, for their events. */
	readonly origin: OrderedOrigin
	readonly services: Services
	readonly callers: Callers
	readonly storedBytes: StoredBytes
	readonly limits: RateLimits
	readonly log: Logger
	/** Runs work after the request's transaction has committed. */
	afterCommit(work: () => void): void
}

/** What a handler may use that calls other servers, and so opens its transactions itself (`x-own-transactions`). */
export interface SelfManagedContext extends Omit<Context, 'db' | 'origin' | 'afterCommit'> {
	readonly db: Database
	/** Without the order that a transaction gives it. */
	readonly origin: Origin
	/** The same for every repetition of a request with an `Idempotency-Key`; null without one. */
	readonly requestKey: string | null
	/** Runs the transaction with the operation's effect, which also stores the answer for the request's `Idempotency-Key`. */
	commit<A extends { readonly status: number }>(work: (tx: Transaction, origin: OrderedOrigin) => Promise<A>): Promise<A>
	/** Runs another transaction that changes records. */
	change<T>(work: (tx: Transaction, origin: OrderedOrigin) => Promise<T>): Promise<T>
}

type Parameters<Id extends keyof operations, Place extends string> = operations[Id]['parameters'] extends {
	[P in Place]?: infer Found
}
	? NonNullable<Found>
	: never

type Body<Id extends keyof operations> = operations[Id] extends { requestBody?: { content: { 'application/json': infer B } } }
	? B
	: undefined

/** A person with a session. */
export type PersonalCaller = Caller & Required<Pick<Caller, 'session'>>

/** A request that has passed the contract's validation. */
export interface Call<Id extends keyof operations> {
	readonly params: Parameters<Id, 'path'>
	readonly query: WithDefaults<Parameters<Id, 'query'>>
	readonly body: Body<Id>
	readonly caller: Id extends Marked<'public'> ? undefined : Id extends Marked<'sessionOnly'> ? PersonalCaller : Caller
	/** What the client says of itself. */
	readonly userAgent: string | null
	/** Whether a person asked for the answer: false for HEAD, and for a browser that fetches ahead. */
	isViewed(): boolean
	/** Aborted, with the error to throw, when the caller hangs up before the answer. */
	signal(): AbortSignal
	/** Throws 412 when `If-Match` asks for another version than the record's. */
	expectVersion(version: number): void
}

/** The operations that the contract marks as public, or as opening their own transactions. */
type Marked<Mark extends string> = Extract<(typeof operationTable)[number], Record<Mark, true>>['id']

/** Parameters with a default, which the validator fills in. */
type Defaulted = 'limit' | 'offset' | 'sortBy' | 'sortOrder'
type WithDefaults<Query> = Omit<Query, Defaulted> & Required<Pick<Query, Defaulted & keyof Query>>

/** Headers that every answer has, set outside the handlers. */
type CommonHeader =
	| 'Link'
	| 'X-Request-Id'
	| 'X-Contract-Version'
	| 'X-RateLimit-Limit'
	| 'X-RateLimit-Remaining'
	| 'X-RateLimit-Reset'
	| 'Idempotent-Replayed'

type AnswerHeaders<R> = R extends { headers: infer H } ? Omit<H, CommonHeader> : object

type Answered<R> = R extends { content: { 'application/json': infer B } }
	? B | JsonText<B>
	: R extends { content: { 'application/pdf': unknown } }
		? Uint8Array
		: never

/** `next` is the cursor of the next page of a list: the answer gets a link to it. */
type Answer<Status, R> = {
	readonly status: Status
	readonly body: Answered<R>
	readonly next?: string | null
} & (keyof AnswerHeaders<R> extends never ? { readonly headers?: undefined } : { readonly headers: AnswerHeaders<R> })

type Success = 200 | 201

type AnswerOf<Id extends keyof operations> = {
	[Status in keyof operations[Id]['responses'] & Success]: Answer<Status, operations[Id]['responses'][Status]>
}[keyof operations[Id]['responses'] & Success]

/** The handlers: one for each operation of the contract, and no other. */
export type Handlers = {
	[Id in keyof operations]: (
		call: Call<Id>,
		context: Id extends Marked<'ownTransactions'> ? SelfManagedContext : Context,
	) => Promise<AnswerOf<Id>>
}

/** The handler of one operation. */
export type Handler<Id extends keyof operations> = Handlers[Id]

/** The context for changing a record. A handler that opens its own transactions passes the one of the change as `db`. */
export const writeContext = ({ db, origin }: Pick<Context, 'db' | 'origin'>, { organization }: Caller): WriteContext => ({
	db,
	origin,
	organization,
})
