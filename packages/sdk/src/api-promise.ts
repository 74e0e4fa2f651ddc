// What every method returns: a promise of the result that can also give the answer's status and headers.

/** What an answer says besides its body. */
export interface ResponseInfo {
	/** The HTTP status. */
	readonly status: number
	/** The headers, such as `ETag`. */
	readonly headers: Headers
	/** The request, as in the server's log. */
	readonly requestId: string | undefined
}

/** A result and the answer that it came with. */
export interface WithResponse<T> {
	readonly data: T
	readonly response: ResponseInfo
}

/** A promise of the result. The request is sent at once, whether or not anybody waits for it. */
export class ApiPromise<T> implements Promise<T> {
	readonly [Symbol.toStringTag] = 'ApiPromise'
	// One promise serves both ways of waiting: two would leave the other one's failure unhandled.
	readonly #answer: Promise<WithResponse<T>>

	constructor(answer: Promise<WithResponse<T>>) {
		this.#answer = answer
	}

	/** The result together with status, headers and request id. */
	withResponse(): Promise<WithResponse<T>> {
		return this.#answer
	}

	// biome-ignore lint/suspicious/noThenProperty: it is a promise.
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
