// The result of every method: a promise of the result that can also give the status and headers of the answer, or the answer unread.
import { RemitError } from './errors.ts'

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

/** What a call and its promise share. */
export interface Reading {
	/** Whether the answer is wanted unread. */
	unread?: boolean
}

/** Rejects what would read an answer that `asResponse` has given. */
export class UnreadError extends RemitError {
	readonly response: Response

	constructor(response: Response) {
		super('asResponse has the answer')
		this.response = response
	}
}

/** A promise of the result. The request is sent at once, even if the caller does not await the promise. */
export class ApiPromise<T> implements Promise<T> {
	readonly [Symbol.toStringTag] = 'ApiPromise'
	// `then` and `withResponse` share one promise: of two, the unused one would be an unhandled rejection when the call fails.
	readonly #answer: Promise<WithResponse<T>>

	readonly #reading: Reading

	constructor(answer: Promise<WithResponse<T>>, reading: Reading) {
		this.#answer = answer
		this.#reading = reading
	}

	/**
	 * The answer itself, with its body unread: a file as a stream, or what a proxy passes on. A call that fails rejects as ever. `timeout`
	 * and `signal` end with the headers; `response.body.cancel()` breaks off what comes after them.
	 *
	 * @example
	 * ```ts
	 * const { body } = await remit.invoices.pdf(id).asResponse()
	 * ```
	 */
	asResponse(): Promise<Response> {
		this.#reading.unread = true
		return this.#answer.then(
			() => {
				throw new RemitError('asResponse comes too late: the answer is read')
			},
			(error) => {
				if (error instanceof UnreadError) return error.response
				throw error
			},
		)
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
