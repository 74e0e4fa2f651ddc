// The errors of a call. Everything the SDK throws is a RemitError, except the reason of an aborted signal.
import type { ResponseInfo } from './api-promise.ts'
import type { ErrorCode, Problem, ProblemError } from './generated/contract.ts'

/** The base class of every error of the SDK; by itself, a mistake of the caller that was found before anything was sent. */
export class RemitError extends Error {
	// Written out, because bundlers rename classes.
	override readonly name: string = 'RemitError'
	/** How often the call was sent: more than once when it was repeated, 0 for a mistake that was found before. */
	readonly attempts: number = 0
}

/** The server could not be reached, or the connection broke before the answer was complete; `cause` says why. */
export class ConnectionError extends RemitError {
	override readonly name = 'ConnectionError'
}

/** Marks an error of `fetch` that is no failure of the connection, as `@remit/sdk/testing` does: the call rejects with it, at once. */
export const unchanged = Symbol.for('@remit/sdk/unchanged')

/** The answer was not complete in time. The server may have done its work all the same. */
export class TimeoutError extends RemitError {
	override readonly name = 'TimeoutError'
	/** The timeout in milliseconds. */
	readonly timeout: number

	constructor(timeout: number) {
		super(`No complete answer within ${timeout} ms`)
		this.timeout = timeout
	}
}

/** Marks every ApiError, whichever copy of the SDK made it: a program may have one by `import` and one by `require`. */
const mark = Symbol.for('@remit/sdk/ApiError')

/** The server answered something other than the success that the contract promises. */
export class ApiError extends RemitError {
	override readonly name: string = 'ApiError'
	/** The HTTP status. */
	readonly status: number
	/** The kind of problem, for programs; undefined when the answer is not Remit's but, for example, a proxy's. */
	readonly code: ErrorCode | undefined
	/** The kind of problem in words. */
	readonly title: string
	/** This occurrence of the problem in words. */
	readonly detail: string
	/** The request's id, as in the server's log. */
	readonly requestId: string | undefined
	/** Every error in the request, with its place; often empty. */
	readonly errors: readonly ProblemError[]
	/** The headers of the answer. */
	readonly headers: Headers

	constructor(response: ResponseInfo, problem: Pick<Problem, 'title' | 'detail'> & Partial<Problem>) {
		const { code, title, detail, requestId = response.requestId, errors = [] } = problem
		super(`${response.status} ${code ?? title}: ${detail}${requestId ? ` (request ${requestId})` : ''}`)
		this.status = response.status
		this.code = code
		this.title = title
		this.detail = detail
		this.requestId = requestId
		this.errors = errors
		this.headers = response.headers
		Object.defineProperty(this, mark, { value: true })
	}
}

export const isApiError = (error: unknown): error is ApiError => Object(error)[mark] === true

/** 400: the request does not match the contract; `errors` names each place. */
export class BadRequestError extends ApiError {
	override readonly name = 'BadRequestError'
}

/** 401: the API key is unknown, expired or revoked. */
export class AuthenticationError extends ApiError {
	override readonly name = 'AuthenticationError'
}

/** 403: the API key lacks a scope. */
export class PermissionDeniedError extends ApiError {
	override readonly name = 'PermissionDeniedError'
}

/** 404: there is no such record in the key's organization. */
export class NotFoundError extends ApiError {
	override readonly name = 'NotFoundError'
}

/** 409: the request contradicts what is stored. */
export class ConflictError extends ApiError {
	override readonly name = 'ConflictError'
}

/** 412: the record has changed since the version of `ifMatch`. */
export class PreconditionFailedError extends ApiError {
	override readonly name = 'PreconditionFailedError'
}

/** 422: the request breaks a business rule. */
export class UnprocessableError extends ApiError {
	override readonly name = 'UnprocessableError'
}

/** 429: too many requests. */
export class RateLimitError extends ApiError {
	override readonly name = 'RateLimitError'
	/** Seconds to wait before the next request, if the server says so. */
	readonly retryAfter: number | undefined = secondsOf(this.headers.get('retry-after'))
}

/** 5xx: the server, or a proxy in front of it, failed. */
export class ServerError extends ApiError {
	override readonly name = 'ServerError'
}

const byStatus: Record<number, typeof ApiError> = {
	400: BadRequestError,
	401: AuthenticationError,
	403: PermissionDeniedError,
	404: NotFoundError,
	409: ConflictError,
	412: PreconditionFailedError,
	422: UnprocessableError,
	429: RateLimitError,
}

/** The error for an answer that is not a success. `body` is the parsed JSON, text that is not JSON, or undefined. */
export function apiError(response: ResponseInfo, body: unknown): ApiError {
	const ErrorClass = byStatus[response.status] ?? (response.status >= 500 ? ServerError : ApiError)
	return new ErrorClass(response, isProblem(body) ? body : foreignProblem(response, body))
}

/** The error for a success whose body does not match the contract. */
export function unexpectedBody(response: ResponseInfo, body: unknown, expected = 'JSON'): ApiError {
	const detail = `expected ${expected} of the Remit API (is baseUrl right?), got ${excerpt(response, body)}`
	return new ApiError(response, { title: 'Unexpected answer', detail })
}

/** Proxies send JSON errors too, some with a `code` of their own: the `type` identifies those of Remit. */
function isProblem(body: unknown): body is Problem {
	const { type, code, title, detail } = (body ?? {}) as Partial<Record<keyof Problem, unknown>>
	return type === `urn:remit:problem:${code}` && typeof title === 'string' && typeof detail === 'string'
}

function foreignProblem(response: ResponseInfo, body: unknown): Pick<Problem, 'title' | 'detail'> {
	// With `redirect: 'manual'` a browser hides a redirect, even its status.
	const redirected = response.status === 0 || (response.status >= 300 && response.status < 400)
	if (!redirected) return { title: 'Unexpected error answer', detail: excerpt(response, body) }
	const target = response.headers.get('location')
	return { title: 'Redirected', detail: `the server redirects${target ? ` to ${target}` : ''} (is baseUrl right?)` }
}

function excerpt(response: ResponseInfo, body: unknown): string {
	if (body === undefined || body === '') return 'an empty body'
	const text = (typeof body === 'string' ? body : JSON.stringify(body)).replace(/\s+/g, ' ').trim()
	const start = text.length > 200 ? `${text.slice(0, 200)}…` : text
	return `${response.headers.get('content-type') ?? 'a body without content type'}: ${start}`
}

/** `Retry-After` has seconds, or from some proxies a date (RFC 9110 §10.2.3). */
export function secondsOf(value: string | null): number | undefined {
	if (!value) return undefined
	const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000
	return Number.isNaN(seconds) ? undefined : Math.max(0, Math.ceil(seconds))
}
