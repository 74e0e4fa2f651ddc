// Every error has a code from the contract's closed list, which also gives its status and title. Only `problem` renders errors
// (RFC 9457).
import type { ErrorCode, Problem, ProblemError } from '../../generated/contract.ts'
import { errorTable } from '../../generated/tables.ts'

export interface ErrorOptions {
	errors?: ProblemError[]
	headers?: Record<string, string>
	cause?: unknown
}

/** Any code may throw it; the server answers it as problem+json. `detail` is a sentence for the caller. */
export class ApiError extends Error {
	readonly code: ErrorCode
	readonly errors: ProblemError[] | undefined
	readonly headers: Record<string, string>

	constructor(code: ErrorCode, detail: string, options: ErrorOptions = {}) {
		super(detail, { cause: options.cause })
		this.code = code
		this.errors = options.errors
		this.headers = options.headers ?? {}
	}

	get status(): number {
		return errorTable[this.code][0]
	}
}

/** An error about one field of the body. */
export function fieldError(code: ErrorCode, pointer: string, detail: string): ApiError {
	return new ApiError(code, detail, { errors: [{ pointer, code, detail }] })
}

/** What the checks return. They are all made: what several of them refuse is one error, with the code of the first. */
export function checkAll<const Checks extends readonly (() => unknown)[]>(
	...checks: Checks
): { [Place in keyof Checks]: ReturnType<Checks[Place]> } {
	const refused: ApiError[] = []
	const checked = checks.map((check) => {
		try {
			return check()
		} catch (error) {
			if (!(error instanceof ApiError)) throw error
			return refused.push(error)
		}
	})
	const [first, ...more] = refused
	if (first && more.length === 0) throw first
	const detail = refused.map(({ message }) => message).join(' ')
	if (first) throw new ApiError(first.code, detail, { errors: refused.flatMap(({ errors = [] }) => errors) })
	return checked as { [Place in keyof Checks]: ReturnType<Checks[Place]> }
}

/** An error with several reasons, each of which it names. */
export const listedError = (code: ErrorCode, what: string, errors: ProblemError[]) =>
	new ApiError(code, `${what}: ${errors.map(({ detail }) => detail).join('; ')}.`, { errors })

/** The path is there, but not for this method; `allowed` are those that it has. */
export const methodNotAllowed = (path: string, method: string, allowed: string) =>
	new ApiError('method_not_allowed', `${path} has no ${method}; it has ${allowed}.`, { headers: { Allow: allowed } })

/** How many errors an answer names. */
export const mostErrors = 100

/** How many characters of a request an answer repeats: of a place, and of any other text. */
export const longestPlace = 256
export const longestText = 1_000

const shortened = (text: string, most: number) => (text.length <= most ? text : `${text.slice(0, most).toWellFormed()}…`)

export function problem({ code, message, errors }: ApiError, instance: string, requestId: string): Problem {
	const [status, title] = errorTable[code]
	return {
		type: `urn:remit:problem:${code}`,
		title,
		status,
		detail: shortened(message, longestText),
		instance: shortened(instance, longestText),
		code,
		requestId,
		...(errors && { errors: errors.slice(0, mostErrors).map(shortenedError) }),
		...(errors && errors.length > mostErrors && { moreErrors: true }),
	}
}

function shortenedError({ pointer, parameter, code, detail }: ProblemError): ProblemError {
	return {
		...(pointer !== undefined && { pointer: shortened(pointer, longestPlace) }),
		...(parameter !== undefined && { parameter: shortened(parameter, longestPlace) }),
		code,
		detail: shortened(detail, longestText),
	}
}

/** A setting has an invalid value. The message is the one line that the operator reads. */
export class ConfigError extends Error {}
