// What an application can put around the requests of a client.

/** A request as it is about to be sent. */
export interface OutgoingRequest {
	readonly url: string
	readonly init: RequestInit
}

/** Sends a request: the next step, and after the last one `fetch`. */
export type Send = (request: OutgoingRequest) => Promise<Response>

/**
 * A step around every request, each try of a call by itself. It may change the request, look at the answer or give one itself.
 *
 * @example
 * ```ts
 * const traced: Middleware = (request, next) => tracer.span(request.url, () => next(request))
 * ```
 */
export type Middleware = (request: OutgoingRequest, next: Send) => Promise<Response>

/** The first step is the outermost. */
export const around = (send: Send, steps: readonly Middleware[]): Send =>
	steps.reduceRight<Send>((next, step) => (request) => step(request, next), send)

/** Where a client says what it does, such as `console`. Its lines name no id, query, header or body. */
export interface Logger {
	/** Each request: `POST /api/invoices 201 in 12 ms (req_…)`. */
	debug(line: string): void
	/** Each try that failed and is made again. */
	warn(line: string): void
}
