// What a handler is: types derived from the contract, so that a missing operation, or a wrong status, header or body does
// not compile; and the table from operation to handler.
import type { Caller } from './auth/caller.ts'
import type { Db } from './db.ts'
import type { operations } from './generated/contract.ts'
import type { JsonText } from './json.ts'

/** What a handler may use. `db` is the request's transaction when the operation writes. */
export interface Context {
	readonly db: Db
	readonly now: number
}

type Parameters<Id extends keyof operations, Place extends string> = operations[Id]['parameters'] extends {
	[P in Place]?: infer Found
}
	? NonNullable<Found>
	: never

type Body<Id extends keyof operations> = operations[Id] extends { requestBody?: { content: { 'application/json': infer B } } }
	? B
	: undefined

/** A request whose every part is as the contract says. */
export interface Call<Id extends keyof operations> {
	readonly params: Parameters<Id, 'path'>
	readonly query: WithDefaults<Parameters<Id, 'query'>>
	readonly body: Body<Id>
	readonly caller: Caller
	/** The version that `If-Match` asks for: throws 412 when the record has another. */
	expectVersion(version: number): void
}

/** Parameters with a default are always there. */
type Defaulted = 'limit' | 'offset' | 'sortBy' | 'sortOrder'
type WithDefaults<Query> = Omit<Query, Defaulted> & Required<Pick<Query, Defaulted & keyof Query>>

/** Headers that every answer has, set outside the handlers. */
type CommonHeader = 'X-Request-Id' | 'X-RateLimit-Limit' | 'X-RateLimit-Remaining' | 'X-RateLimit-Reset' | 'Idempotent-Replayed'

type OwnHeaders<R> = R extends { headers: infer H }
	? Omit<{ [Name in keyof H as string extends Name ? never : Name]: H[Name] }, CommonHeader>
	: never

type Answer<Status, R> = R extends { content: { 'application/json': infer B } }
	? { readonly status: Status; readonly body: B | JsonText<B> } & (keyof OwnHeaders<R> extends never
			? { readonly headers?: undefined }
			: { readonly headers: OwnHeaders<R> })
	: never

type Success = 200 | 201

type AnswerOf<Id extends keyof operations> = {
	[Status in keyof operations[Id]['responses'] & Success]: Answer<Status, operations[Id]['responses'][Status]>
}[keyof operations[Id]['responses'] & Success]

/** The handlers: one for each operation of the contract, and no other. */
export type Handlers = {
	[Id in keyof operations]: (call: Call<Id>, context: Context) => Promise<AnswerOf<Id>>
}

/** The handler of one operation. */
export type Handler<Id extends keyof operations> = Handlers[Id]
