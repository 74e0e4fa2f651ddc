// The options of a call, and the headers that they set.
import { RemitError } from './errors.ts'

/** Options of every call. */
export interface RequestOptions {
	/** Aborts the call: it rejects with the signal's reason. */
	signal?: AbortSignal
	/** Milliseconds until the call fails with a `TimeoutError`, reading the answer included; `Infinity` for no limit. */
	timeout?: number
	/** How often this call is made again after a passing failure, in place of the client's `maxRetries`. */
	maxRetries?: number
	/** More headers; they win over those of the client. */
	headers?: Record<string, string>
	/** Sent as `X-Request-Id`. The server uses it in its answer and its log if it is 8 to 64 of `A-Z a-z 0-9 . _ -`. */
	requestId?: string
}

/** Options of calls that create or send something. */
export interface IdempotentRequestOptions extends RequestOptions {
	/**
	 * Makes the call safe to repeat: for 24 hours the same call with the same key gets the answer of the first one. Without one, each call has a
	 * key of its own for its own retries: pass one where the program itself may repeat the call, for example after a restart.
	 */
	idempotencyKey?: string
}

/** Options of calls that read a record. */
export interface ReadRequestOptions extends RequestOptions {
	/** The `version` (or `ETag`) that the caller has: the result is undefined while the record is still the same. */
	ifNoneMatch?: number | string
}

/** A read that gives undefined for what the caller has. */
export interface IfNoneMatch {
	ifNoneMatch: number | string
}

/** Options of calls that change or delete a record. */
export interface ConditionalRequestOptions extends RequestOptions {
	/** Changes the record only if it still has this `version` (or `ETag`); else the call fails with a `PreconditionFailedError`. */
	ifMatch?: number | string
}

/** A query in which a single value may stand for a list of one. */
export type OneOrMore<Query> = {
	[Name in keyof Query]: Query[Name] extends readonly (infer Value)[] | undefined
		? Value | readonly Value[] | Extract<Query[Name], undefined>
		: Query[Name]
}

export function requestHeaders(
	options: IdempotentRequestOptions & ConditionalRequestOptions & ReadRequestOptions,
): Record<string, string | undefined> {
	const headers = {
		...options.headers,
		'Idempotency-Key': options.idempotencyKey,
		'If-Match': entityTag(options.ifMatch),
		'If-None-Match': entityTag(options.ifNoneMatch),
		'X-Request-Id': options.requestId,
	}
	for (const [name, value] of Object.entries(headers)) {
		const wrong = /[^\t-\xff]/u.exec(value ?? '')
		if (wrong) throw new RemitError(`The header ${name} cannot contain "${wrong}"`)
	}
	return headers
}

/** Quotes a version as an entity tag (RFC 9110 §8.8.3); `*`, a weak tag and a list of tags stay as they are. */
function entityTag(version: number | string | undefined): string | undefined {
	if (version === undefined) return undefined
	return typeof version === 'string' && /^(\*|(W\/)?".*")$/.test(version) ? version : `"${version}"`
}
