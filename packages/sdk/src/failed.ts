// Tells the codes with which the server rejects a call of an operation from all that there are.
import { type ApiError, isApiError } from './errors.ts'
import type { operations } from './generated/contract.ts'

/** An operation of the API, by its method: `companies.update` is `remit.companies.update`. */
export type OperationName = keyof operations

type CodeIn<Answer> = Answer extends { content: { 'application/problem+json': { code?: infer Code } } }
	? Extract<Code, string>
	: never

type Answers<Name extends OperationName> = operations[Name]['responses']

/** The codes with which the server rejects a call of an operation, by the contract of this version; of several, those of all of them. */
export type ErrorCodeOf<Name extends OperationName> = Name extends OperationName
	? {
			[Status in keyof Answers<Name>]: Status extends 500 | 502 | 503 ? never : CodeIn<Answers<Name>[Status]>
		}[keyof Answers<Name>]
	: never

/** The error of a call that the server rejected. */
export type ErrorOf<Name extends OperationName> = ApiError & { readonly code: ErrorCodeOf<Name> }

/**
 * Whether the server rejected a call: it understood the request, and says by `code` why it did not do it. False when the server
 * failed (5xx), and when somebody else answered, or nobody.
 *
 * Name the operation, and a `switch` over `code` has exactly what the contract lists for it. A newer server may have another code.
 *
 * @example
 * ```ts
 * try {
 *   await remit.companies.update(id, { vatId })
 * } catch (error) {
 *   if (!failed<'companies.update'>(error)) throw error
 *   if (error.code === 'invalid_vat_id') console.log(error.detail)
 * }
 * ```
 */
export const failed = <Name extends OperationName>(error: unknown): error is ErrorOf<Name> =>
	isApiError(error) && error.code !== undefined && error.status < 500
