// Makes one attempt of a delivery: a POST, and its outcome. Nothing that a receiver does makes the attempt throw or last longer
// than its time limit.
import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import { version } from '../contract/document.ts'
import { type Admit, HeldBack, type Probe, Unreached } from './dispatchers.ts'
import { type Egress, UnresolvableUrl, UnsafeUrl } from './egress.ts'
import { ProxyFailed } from './proxy.ts'
import { ResolverUnavailable } from './resolver.ts'

export interface Attempt {
	readonly url: string
	readonly headers: Readonly<Record<string, string>>
	readonly body: string | Uint8Array
}

export interface Outcome {
	/** Null when there was no answer. */
	readonly responseStatus: number | null
	/** The answer's first 16 KiB. */
	readonly responseBody: string | null
	readonly retryAfter: string | undefined
	/** Whether the request was sent, or had begun to be. */
	readonly sent: boolean
	/** Why the attempt failed, in words; null for a success. */
	readonly error: string | null
	readonly durationMs: number
	/** Whether the caller's signal aborted the attempt before its answer began: it then does not count. */
	readonly brokenOff: boolean
	/** Whether no network of the host could be dialled: the attempt does not count either. */
	readonly heldBack: boolean
	/** Whether that is because those that may be dialled took no connection, while the host has others. */
	readonly unreached: boolean
	/** The network that a probe reached. */
	readonly network?: string | undefined
}

/** The headers of every request that its attempt does not set, nor HTTP itself. */
export const always = { 'content-type': 'application/json', 'user-agent': `Remit/${version} (webhooks)` }

export interface DeliverOptions {
	readonly egress: Egress
	readonly timeoutMs: number
	/** Aborts the attempt. */
	readonly signal: AbortSignal
	/** The networks of the host that may be dialled, any by default; a function makes the attempt a probe. */
	readonly networks?: readonly string[] | Admit
}

/**
 * Uses undici's `dispatch`. Its `request` makes a stream of the answer, which costs more than everything else here, and ignores
 * an abort signal until it has a connection, which a receiver may delay.
 */
export function deliver(attempt: Attempt, options: DeliverOptions): Promise<Outcome> {
	return new Promise((resolve) => {
		const pending = new DeliveryRequest(options, resolve)
		if (options.signal.aborted) pending.breakOff()
		else post(attempt, options, pending).catch((error) => pending.onResponseError(undefined, error))
	})
}

async function post(
	{ url, headers, body }: Attempt,
	{ egress, networks }: DeliverOptions,
	pending: DeliveryRequest,
): Promise<void> {
	const { origin, hostname: host, pathname, search } = new URL(url)
	const limits = { headersTimeout: 0, bodyTimeout: 0 }
	const request = {
		origin,
		path: pathname + search,
		method: 'POST',
		headers: { ...always, ...headers },
		body,
		...limits,
	} as const
	if (typeof networks === 'function') {
		const probe = await egress.probe(origin, networks)
		pending.closeAtEnd(probe)
		probe.dispatcher.dispatch(request, pending)
	} else {
		const dispatcher = await egress.dispatcher(networks && { host, networks })
		dispatcher.dispatch(request, pending)
	}
}

/** Handles undici's callbacks for a request. It resolves once and ignores all later callbacks. */
class DeliveryRequest implements Dispatcher.DispatchHandler {
	readonly #options: DeliverOptions
	readonly #resolve: (outcome: Outcome) => void
	readonly #began = performance.now()
	readonly #timer: NodeJS.Timeout
	#controller: Dispatcher.DispatchController | undefined
	#probe: Probe | undefined
	#status = 0
	#retryAfter: string | undefined
	#kept: Uint8Array[] = []
	#bytes = 0
	#hasEnded = false
	/** There was a connection to send it on. */
	#sent = false

	constructor(options: DeliverOptions, resolve: (outcome: Outcome) => void) {
		this.#options = options
		this.#resolve = resolve
		this.#timer = setTimeout(this.breakOff, options.timeoutMs)
		options.signal.addEventListener('abort', this.breakOff)
	}

	/** Called when the time limit is reached, or when the caller's signal aborts. */
	readonly breakOff = (): void => {
		this.#fail({
			error: `no complete answer within ${this.#options.timeoutMs / 1000} s`,
			brokenOff: this.#options.signal.aborted,
		})
		this.#controller?.abort(brokenOff)
	}

	closeAtEnd(probe: Probe): void {
		this.#probe = probe
		if (this.#hasEnded) probe.close()
	}

	onRequestStart(controller: Dispatcher.DispatchController): void {
		this.#controller = controller
		if (this.#hasEnded) controller.abort(brokenOff)
		else this.#sent = true
	}

	onResponseStart(_: unknown, status: number, headers: IncomingHttpHeaders): void {
		if (status < 200) return
		this.#status = status
		const retryAfter = headers['retry-after']
		if (typeof retryAfter === 'string') this.#retryAfter = retryAfter
	}

	onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
		if (this.#bytes < keptBytes) this.#kept.push(chunk.subarray(0, keptBytes - this.#bytes))
		this.#bytes += chunk.length
		if (this.#bytes <= readBytes) return
		this.onResponseEnd()
		controller.abort(brokenOff)
	}

	onResponseEnd(): void {
		const answer = { responseStatus: this.#status, responseBody: textOf(this.#kept), retryAfter: this.#retryAfter }
		this.#end({ ...answer, error: failure(this.#status) })
	}

	onResponseError(_: unknown, error: unknown): void {
		const held = findCause(error, HeldBack)
		this.#fail({ error: reason(error), heldBack: held !== undefined, unreached: held instanceof Unreached })
	}

	/** Once its head has arrived, the receiver has answered, whatever becomes of the body. */
	#fail(outcome: Partial<Outcome> & Pick<Outcome, 'error'>): void {
		if (this.#status === 0) this.#end(outcome)
		else this.onResponseEnd()
	}

	#end(outcome: Partial<Outcome> & Pick<Outcome, 'error'>): void {
		if (this.#hasEnded) return
		this.#hasEnded = true
		clearTimeout(this.#timer)
		const { signal } = this.#options
		signal.removeEventListener('abort', this.breakOff)
		const durationMs = Math.round(performance.now() - this.#began)
		const network = this.#probe?.network()
		// Not within undici's callback, which still uses the socket.
		setImmediate(() => this.#probe?.close())
		this.#resolve({ ...unanswered, sent: this.#sent, durationMs, network, ...outcome })
	}
}

const unanswered = {
	responseStatus: null,
	responseBody: null,
	retryAfter: undefined,
	brokenOff: false,
	heldBack: false,
	unreached: false,
}

/** The reason that undici gets when we abort a request. */
const brokenOff = new Error('broken off')

function failure(status: number): string | null {
	if (status >= 200 && status < 300) return null
	return status >= 300 && status < 400 ? `answered ${status}; redirects are not followed` : `answered ${status}`
}

const keptBytes = 16 * 1024
/** Reading a body of up to 256 KiB to its end keeps the connection for reuse. A longer one is cut off: it may never end. */
const readBytes = 256 * 1024

/** The receiver's answer as text that every database can store: PostgreSQL takes no NUL. */
const textOf = (kept: readonly Uint8Array[]): string =>
	kept.length === 0 ? '' : Buffer.concat(kept).toString('utf8').replaceAll('\0', '\uFFFD')

const reasons: Readonly<Record<string, string>> = {
	ECONNREFUSED: 'connection refused',
	ECONNRESET: 'connection reset',
	EHOSTUNREACH: 'host unreachable',
	ENETUNREACH: 'network unreachable',
	EPIPE: 'connection closed',
	UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
	UND_ERR_SOCKET: 'connection closed before the answer was complete',
	UND_ERR_HEADERS_TIMEOUT: 'no answer in time',
	UND_ERR_BODY_TIMEOUT: 'no complete answer in time',
	UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too large',
	UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer is not HTTP',
}

/** Errors whose message is written for the API's caller. */
const ofAddresses = [UnsafeUrl, UnresolvableUrl, ResolverUnavailable, ProxyFailed]

/** The error or its cause, if it is of one of these kinds. */
export const findCause = (error: unknown, ...kinds: readonly (new (message?: string) => Error)[]): Error | undefined =>
	[error, (error as { cause?: unknown }).cause].find((one): one is Error => kinds.some((kind) => one instanceof kind))

/** Why there was no answer, without anything about the server's own network. */
export function reason(error: unknown): string {
	const rejected = findCause(error, ...ofAddresses)
	if (rejected) return rejected.message
	if ((error as Error).name === 'HTTPParserError') return 'the answer is not HTTP'
	const code = String((error as { code?: unknown }).code)
	if (reasons[code]) return reasons[code]
	if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(code)) return `TLS: ${code}`
	return 'the request failed'
}
