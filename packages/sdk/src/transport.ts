// Sends every request. openapi-fetch builds URL, query and headers; this file adds what it lacks: a check of path parameters,
// which could reach another URL, timeouts, typed errors, and answers that are not JSON.
import createClient from 'openapi-fetch'
import { ApiPromise, type Reading, type ResponseInfo, UnreadError, type WithResponse } from './api-promise.ts'
import { checkRetries, checkTimeout, rest, startDeadline } from './deadline.ts'
import { apiError, ConnectionError, RemitError, unchanged, unexpectedBody } from './errors.ts'
import type { SyncRun } from './generated/contract.ts'
import { around, type Logger, type OutgoingRequest, type Send } from './middleware.ts'
import {
	type ConditionalRequestOptions,
	type IdempotentRequestOptions,
	type ReadRequestOptions,
	type RequestOptions,
	requestHeaders,
} from './options.ts'
import { type NextPlace, Page, type PageMeta, PagePromise, placeAfter } from './page.ts'
import { isPassing, newKey, pauseAfter, type Repeat } from './retries.ts'
import { type RemitOptions, readSettings } from './settings.ts'
import { SyncRunPromise } from './sync-run.ts'

/** The arguments of a resource's method. */
export interface Call extends Reading {
	readonly path?: Record<string, string>
	readonly query?: object
	readonly body?: unknown
	readonly options?: IdempotentRequestOptions & ConditionalRequestOptions & ReadRequestOptions
	/** Absent for reads, and for what is never sent twice. */
	readonly repeat?: Repeat
}

export interface ListCall extends Call {
	readonly query?: { limit?: number; offset?: number; cursor?: string }
	/** The contract's default limit. */
	readonly pageSize: number
}

/** Replaces Request, so that fetch gets a URL and an init: a `fetch` of another realm rejects a foreign Request. */
class PlainRequest implements OutgoingRequest {
	readonly url: string
	readonly init: RequestInit

	constructor(url: string, init: RequestInit) {
		this.url = url
		this.init = init
	}
}

/** openapi-fetch's `request`, without its types: the generated methods have the types. */
type Request = (method: string, path: string, init: object) => Promise<{ data?: unknown; error?: unknown; response: Response }>

/** The result of a call in the body of its answer. It throws what the contract does not allow. */
type ResultOf<T> = (body: unknown, response: ResponseInfo) => T

const whole = <T>(body: unknown) => body as T

export class Transport {
	readonly #request: Request
	readonly #send: Send
	readonly #logger: Logger | undefined
	readonly #baseUrl: string
	readonly #timeout: number
	readonly #maxRetries: number

	constructor(options: RemitOptions) {
		const { baseUrl, headers, timeout, maxRetries, fetch, use, logger } = readSettings(options)
		checkTimeout(timeout)
		checkRetries(maxRetries)
		this.#baseUrl = baseUrl
		this.#timeout = timeout
		this.#maxRetries = maxRetries
		this.#send = around(({ url, init }) => fetch(url, init), use)
		this.#logger = logger
		// Following a 301 or 302 would turn a POST into a GET, and so a create into a list.
		this.#request = createClient({
			baseUrl,
			headers,
			redirect: 'manual',
			...uncached(),
			// Values of a list are separated by commas, as the contract says.
			querySerializer: { array: { style: 'form', explode: false } },
			Request: PlainRequest as unknown as typeof globalThis.Request,
		}).request as unknown as Request
	}

	/** A call whose whole body is the result. */
	send<T>(method: string, path: string, call: Call): ApiPromise<T> {
		return new ApiPromise(this.#exchange<T>(method, path, call, whole), call)
	}

	/** A call whose result stands in the body's `data`. */
	record<T>(method: string, path: string, call: Call): ApiPromise<T> {
		const dataOf: ResultOf<T> = (body, response) => envelope<T>(body, response).data
		return new ApiPromise(this.#exchange(method, path, call, dataOf), call)
	}

	/** A call whose result is a run of a sync, which goes on after it. */
	run(method: string, path: string, call: Call): SyncRunPromise {
		return new SyncRunPromise(this.record<SyncRun>(method, path, call).withResponse(), call, this)
	}

	/** A call whose result is a file of this media type. */
	bytes(method: string, path: string, type: string, call: Call): ApiPromise<Uint8Array> {
		return new ApiPromise(this.#exchange<Uint8Array>(method, path, call, whole, type), call)
	}

	/**
	 * A list by limit and offset, or by cursor where the answer has one. The limit is always sent: whether a page is full must
	 * not hang on the server's default.
	 */
	page<T, Meta>(path: string, call: ListCall): PagePromise<T, Meta> {
		const { limit = call.pageSize, offset = 0, cursor } = call.query ?? {}
		const span = { limit, offset, ...(cursor !== undefined && { cursor }) }
		const sent = { ...call, query: { ...call.query, limit: span.limit } }
		const at = (place: NextPlace) => (more?: RequestOptions) =>
			this.page<T, Meta>(path, { ...call, options: { ...call.options, ...more }, query: { ...call.query, ...place } })
		const pageOf: ResultOf<Page<T, Meta>> = (body, response) => {
			const { data, meta } = envelope<T[]>(body, response)
			if (!Array.isArray(data)) throw unexpectedBody(response, body)
			const next = placeAfter(span, data.length, meta, response.headers.get('link'))
			return new Page(data, meta as Meta, next && at(next))
		}
		return new PagePromise(this.#exchange('GET', path, sent, pageOf), sent)
	}

	/** `file` is the media type of an answer that is not JSON. */
	async #exchange<T>(method: string, path: string, call: Call, resultOf: ResultOf<T>, file?: string): Promise<WithResponse<T>> {
		const options = call.options ?? {}
		const { timeout = this.#timeout, maxRetries = this.#maxRetries } = options
		checkRetries(maxRetries)
		const retries = method === 'GET' || call.repeat ? maxRetries : 0
		const ownKey = call.repeat === 'key' && retries > 0 && { idempotencyKey: newKey() }
		const headers = { ...(file && { Accept: file }), ...requestHeaders({ ...ownKey, ...options }) }
		const deadline = startDeadline(timeout, options.signal)
		let attempts = 0
		const init = {
			params: { path: call.path, query: call.query },
			body: call.body,
			headers,
			signal: deadline.signal,
			parseAs: file ? 'arrayBuffer' : 'text',
			fetch: async (request: PlainRequest) => {
				attempts++
				const response = await this.#logged(`${method} ${path}`, request)
				if (call.unread && (response.ok || response.status === 304)) throw new UnreadError(response)
				return response
			},
		}
		try {
			checkPath(call.path)
			for (let tries = 1; ; tries++) {
				try {
					const { data, error, response } = await this.#request(method, path, init)
					const info = infoOf(response)
					// The caller has the record already.
					if (response.status === 304 && options.ifNoneMatch !== undefined) return { data: undefined as T, response: info }
					return { data: resultOf(read(info, data, error, file), info), response: info }
				} catch (error) {
					const isSent = attempts === tries
					const failure = this.#failure(error, deadline.signal, isSent)
					if (failure instanceof RemitError) Object.assign(failure, { attempts })
					const pause = pauseAfter(failure, tries - 1)
					if (tries > retries || !isPassing(failure) || pause >= deadline.left()) throw failure
					this.#logger?.warn(`${method} ${path} again in ${Math.round(pause)} ms: ${(failure as Error).name}`)
					await rest(pause, deadline.signal)
				}
			}
		} finally {
			deadline.release()
		}
	}

	/** Sends a request, which the log knows by the template of its path. */
	async #logged(name: string, request: OutgoingRequest): Promise<Response> {
		const began = performance.now()
		const log = (outcome: unknown) => this.#logger?.debug(`${name} ${outcome} in ${Math.round(performance.now() - began)} ms`)
		try {
			const response = await this.#send(request)
			const id = response.headers.get('x-request-id')
			log(`${response.status}${id ? ` (${id})` : ''}`)
			return response
		} catch (error) {
			log('failed')
			throw error
		}
	}

	/** A RemitError, the reason of the caller's signal, or the error of a test. */
	#failure(error: unknown, signal: AbortSignal, isSent: boolean): unknown {
		if (error instanceof RemitError || Object(error)[unchanged]) return error
		if (signal.aborted) return signal.reason
		return isSent
			? connectionError(this.#baseUrl, error)
			: new RemitError(`The request cannot be written: ${error}`, { cause: error })
	}
}

/**
 * Next 13 and 14 keep the answers of GETs otherwise. Workers of before 2024-11 throw at the option, and the fetch of React Native adds a
 * parameter to the query for it.
 */
function uncached(): RequestInit {
	try {
		const { cache } = new globalThis.Request('http://localhost', { cache: 'no-store' })
		return cache === 'no-store' ? { cache } : {}
	} catch {
		return {}
	}
}

/** An empty id, `.` or `..` would reach another URL, as would a slash if a proxy decodes it. */
function checkPath(parameters: Record<string, string> = {}): void {
	for (const [name, value] of Object.entries(parameters)) {
		if (typeof value === 'string' && !/^\.{0,2}$|[/\\]/.test(value)) continue
		throw new RemitError(`${name} must be an id, not ${typeof value === 'string' ? JSON.stringify(value) : String(value)}`)
	}
}

const infoOf = ({ status, headers }: Response): ResponseInfo => ({
	status,
	headers,
	requestId: headers.get('x-request-id') ?? undefined,
})

function read(response: ResponseInfo, data: unknown, error: unknown, file?: string): unknown {
	if (response.status < 200 || response.status > 299) throw apiError(response, error)
	if (response.status === 204) return undefined
	if (file) return fileBytes(response, data, file)
	try {
		return JSON.parse(data as string)
	} catch {
		throw unexpectedBody(response, data)
	}
}

/** Rejects an empty answer, and a proxy's page. `data` is undefined for an answer with `Content-Length: 0`. */
function fileBytes(response: ResponseInfo, data: unknown, type: string): Uint8Array {
	const bytes = data === undefined ? new Uint8Array() : new Uint8Array(data as ArrayBuffer)
	if (bytes.length > 0 && response.headers.get('content-type')?.startsWith(type)) return bytes
	throw unexpectedBody(response, new TextDecoder().decode(bytes), type)
}

function envelope<T>(body: unknown, response: ResponseInfo): { data: T; meta?: PageMeta } {
	if (typeof body === 'object' && body !== null && 'data' in body) return body as { data: T }
	throw unexpectedBody(response, body)
}

/** fetch says only "fetch failed"; the reason is in the cause of its error. */
function connectionError(baseUrl: string, error: unknown): ConnectionError {
	const { message, cause } = (error ?? {}) as { message?: unknown; cause?: { code?: unknown; message?: unknown } }
	const reason = cause?.message || cause?.code || message || error
	return new ConnectionError(`No complete answer from ${baseUrl}: ${reason}`, { cause: error })
}
