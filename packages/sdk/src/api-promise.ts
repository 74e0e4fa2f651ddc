// The result of every method: a promise of the result that can also give the status and headers of the answer.

/** The status and headers of an answer. */
export interface ResponseInfo {
	/** The HTTP status. */
	readonly status: number
	/** The headers, such as `ETag`. */
	readonly headers: Headers
	/** The request's id, as in the server's log. */
	readonly requestId: string | undefined
}

/** A result, and the status and headers of its answer. */
export interface WithResponse<T> {
	readonly data: T
	readonly response: ResponseInfo
}

/** A promise of the result. The request is sent at once, even if the caller does not await the promise. */
export class ApiPromise<T> implements Promise<T> {
	readonly [Symbol.toStringTag] = 'ApiPromise'
	// `then` and `withResponse` share one promise: of two, the unused one would be an unhandled rejection when the call fails.
	readonly #answer: Promise<WithResponse<T>>

	constructor(answer: Promise<WithResponse<T>>) {
		this.#answer = answer
	}

	/** The result together with status, headers and request id. */
	withResponse(): Promise<WithResponse<T>> {
		return this.#answer
	}

	// biome-ignore lint/suspicious/noThenProperty: the class is a promise.
	then<A = T, B = never>(
		onfulfilled?: ((data: T) => A | PromiseLike<A>) | null,
		onrejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
	): Promise<A | B> {
		return this.#answer.then(({ data }) => data).then(onfulfilled, onrejected)
	}

	catch<B = never>(onrejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<T | B> {
		return this.then(undefined, onrejected)
	}

	finally(onfinally?: (() => void) | null): Promise<T> {
		return this.then().finally(onfinally)
	}
}
