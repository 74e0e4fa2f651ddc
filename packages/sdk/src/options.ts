// What a call can be told besides its arguments, and the headers that come of it.

/** Options of every call. */
export interface RequestOptions {
	/** Aborts the call: it rejects with the signal's reason. */
	signal?: AbortSignal
	/** Milliseconds until the call fails with a `TimeoutError`, reading the answer included; `Infinity` for no limit. */
	timeout?: number
	/** More headers; they win over those of the client. */
	headers?: Record<string, string>
	/** Sent as `X-Request-Id`: the server keeps it, if it is 8 to 64 of `A-Z a-z 0-9 . _ -`, in its answer and its log. */
	requestId?: string
}

/** Options of calls that create or send something. */
export interface IdempotentRequestOptions extends RequestOptions {
	/** Makes the call safe to repeat: for 24 hours the same call with the same key gives the first call's answer. */
	idempotencyKey?: string
}

/** Options of calls that change or delete a record. */
export interface ConditionalRequestOptions extends RequestOptions {
	/** Only if the record still has this `version` (or `ETag`); else the call fails with a `PreconditionFailedError`. */
	ifMatch?: number | string
}

export function requestHeaders(
	options: IdempotentRequestOptions & ConditionalRequestOptions,
): Record<string, string | undefined> {
	return {
		...options.headers,
		'Idempotency-Key': options.idempotencyKey,
		'If-Match': options.ifMatch === undefined ? undefined : entityTag(options.ifMatch),
		'X-Request-Id': options.requestId,
	}
}

/** Tags are quoted strings (RFC 9110 §8.8.3); `*`, a weak tag and a list of tags stay as they are. */
function entityTag(version: number | string): string {
	return typeof version === 'string' && /^(\*|(W\/)?".*")$/.test(version) ? version : `"${version}"`
}
