// What the fakes of vendors share: a real HTTP server, tokens, a log of requests, limits, and faults on demand.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { control } from './control.ts'
import type { Fault, FaultKind, FaultPlan } from './faults.ts'
import { type Change, type Json, Records, type RecordsOptions } from './records.ts'
import { type Allowance, type Call, headerOf, Refusal, type Reply, readCall } from './reply.ts'
import type { Tokens } from './tokens.ts'
import { type Delivery, type DeliveryOptions, deliver } from './webhooks.ts'

export type Handler = (call: Call, id: string) => Reply

export interface LoggedRequest {
	readonly method: string
	/** With its query. */
	readonly path: string
	readonly at: number
	readonly idempotencyKey: string | undefined
	readonly ifModifiedSince: string | undefined
	/** Of the request. */
	readonly body: string
	fault: FaultKind | undefined
	/** 0 when no answer was sent. */
	status: number
	/** Of the body as it was sent. */
	bytes: number
}

interface Route {
	readonly method: string
	readonly pattern: RegExp
	readonly handler: Handler
	readonly isOpen: boolean
}

export abstract class Vendor {
	/** A static token that works from the start. */
	abstract readonly token: string
	abstract readonly tokens: Tokens
	/** Signs webhooks. */
	abstract webhookSecret: string
	/** With these a server of Remit takes this vendor for the real one. */
	abstract get settings(): Readonly<Record<string, string>>
	/** The time of this vendor; a test replaces it. */
	clock: () => number = Date.now
	readonly log: LoggedRequest[] = []
	/** All that happened to records, in order. */
	readonly changes: Change[] = []
	readonly stores: Record<string, Records> = {}
	readonly allowances: readonly Allowance[] = []
	/** Whether calls beyond the allowances get 429; they are counted anyhow. */
	enforcesLimits = false
	#plan: Iterator<Fault | null> = [][Symbol.iterator]()
	#isPlanned: (call: Call) => boolean = () => true
	/** By the path of the list. */
	readonly #lastPages = new Map<string, readonly unknown[]>()
	readonly #routes: Route[] = []
	readonly #server: Server = createServer((request, response) => void this.#serve(request, response))

	/** Needs a token. */
	protected route(method: string, path: string, handler: Handler): void {
		this.#routes.push({ method, pattern: patternOf(path), handler, isOpen: false })
	}

	protected openRoute(method: string, path: string, handler: Handler): void {
		this.#routes.push({ method, pattern: patternOf(path), handler, isOpen: true })
	}

	protected store(object: string, options: Pick<RecordsOptions, 'id' | 'order'>): Records {
		const changed = (change: Omit<Change, 'number'>) => this.changes.push({ ...change, number: this.changes.length + 1 })
		const records = new Records(object, { ...options, now: () => this.clock(), changed })
		this.stores[object] = records
		return records
	}

	/** The n-th of the records that `seed` makes. */
	protected abstract sample(object: string, n: number): Json
	protected abstract notFound(call: Call): Reply
	protected abstract unauthorized(reason: 'missing' | 'unknown' | 'expired'): Reply
	protected abstract rateLimited(problem: string): Reply
	protected abstract failed(status: number): Reply
	/** Whether a call goes on with a list. */
	protected abstract isLaterPage(call: Call): boolean
	/** The answer when the place in a list that a call names is gone; null where that cannot be. */
	protected abstract cursorExpired(call: Call): Reply | null
	/** Headers of every answer. */
	protected abstract headersOf(call: Call): Record<string, string>
	/** The webhooks about some changes, as they are sent to a URL. */
	protected abstract webhooksOf(changes: readonly Change[], url: string): Delivery[]
	/** Changes nothing of a record but the time of its change. */
	protected abstract touch(pageRecord: unknown): void

	async start(): Promise<this> {
		this.#server.listen(0, '127.0.0.1')
		await once(this.#server, 'listening')
		return this
	}

	get url(): string {
		return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
	}

	async stop(): Promise<void> {
		this.#server.closeAllConnections()
		this.#server.close()
		await once(this.#server, 'close')
	}

	/** The next requests, or those that a test picks, meet these faults. */
	meet(plan: FaultPlan, isPlanned: (call: Call) => boolean = () => true): void {
		this.#plan = plan[Symbol.iterator]()
		this.#isPlanned = isPlanned
	}

	/** Adds so many records, whose fields follow from their number. */
	seed(object: string, count: number, { at }: { at?: number } = {}): string[] {
		const store = this.records(object)
		const first = store.list().length + 1
		return Array.from({ length: count }, (_, n) => store.put(this.sample(object, first + n), { at }).id)
	}

	records(object: string): Records {
		const store = this.stores[object]
		if (!store) throw new Error(`There is no object ${object}`)
		return store
	}

	/** Sends webhooks about these changes, all there were by default; returns the statuses of the answers. */
	async sendWebhooks(url: string, { changes = this.changes, ...options }: WebhookOptions = {}): Promise<number[]> {
		return deliver(url, this.webhooksOf(changes, url), options)
	}

	async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
		try {
			const call = await readCall(request)
			if (call.path.startsWith('/__control/')) return void response.end(JSON.stringify(await control(this, call)))
			await this.#answer(call, request, response)
		} catch (error) {
			// A mistake of a test or of the fake itself; a client that went away ends here as well.
			if (!response.destroyed) response.writeHead(599).end(String((error as Error).stack))
		}
	}

	async #answer(call: Call, request: IncomingMessage, response: ServerResponse): Promise<void> {
		const entry = this.#logged(call, request.url ?? '')
		const fault = (this.#isPlanned(call) && this.#plan.next().value) || undefined
		entry.fault = fault?.kind
		if (fault?.kind === 'cut') return void request.socket.destroy()
		const reply = this.#replyTo(call, fault)
		if (fault?.kind === 'slow') await setTimeout(fault.ms, undefined, { ref: false })
		if (fault?.kind === 'lost') return void request.socket.destroy()
		const isHtml = fault?.kind === 'html'
		const text = isHtml ? '<!doctype html><title>We will be back soon</title>' : (JSON.stringify(reply.json) ?? '')
		const whole = fault?.kind === 'truncated' ? text.slice(0, text.length / 2) : text
		const isZipped = whole !== '' && /\bgzip\b/.test(headerOf(call, 'accept-encoding') ?? '')
		const body = isZipped ? gzipSync(whole, { level: 1 }) : Buffer.from(whole)
		response.writeHead(isHtml ? 200 : reply.status, {
			...this.headersOf(call),
			'content-type': isHtml ? 'text/html; charset=utf-8' : 'application/json',
			...(isZipped && { 'content-encoding': 'gzip' }),
			...(reply.status !== 204 && { 'content-length': String(body.length) }),
			...reply.headers,
		})
		if (fault?.kind === 'cut_in_body') {
			entry.bytes = body.length >> 1
			return void response.write(body.subarray(0, entry.bytes), () => request.socket.destroy())
		}
		Object.assign(entry, { status: isHtml ? 200 : reply.status, bytes: body.length })
		response.end(body)
	}

	#logged(call: Call, path: string): LoggedRequest {
		const entry: LoggedRequest = {
			method: call.method,
			path,
			at: this.clock(),
			idempotencyKey: headerOf(call, 'idempotency-key'),
			ifModifiedSince: headerOf(call, 'if-modified-since'),
			body: call.text,
			fault: undefined,
			status: 0,
			bytes: 0,
		}
		this.log.push(entry)
		return entry
	}

	#replyTo(call: Call, fault: Fault | undefined): Reply {
		if (fault?.kind === 'html') return { status: 200 }
		if (fault?.kind === 'rate_limited') return withRetryAfter(this.rateLimited(fault.problem ?? 'minute'), fault.retryAfter)
		if (fault?.kind === 'error') return withRetryAfter(this.failed(fault.status), fault.retryAfter)
		if (fault?.kind === 'token_expired') this.tokens.expire()
		try {
			return this.#handle(call, fault)
		} catch (error) {
			if (error instanceof Refusal) return error.reply
			throw error
		}
	}

	#handle(call: Call, fault: Fault | undefined): Reply {
		const route = this.#routes.find(({ method, pattern }) => method === call.method && pattern.test(call.path))
		if (!route) return this.notFound(call)
		if (!route.isOpen) this.#admit(call)
		const paging = this.isLaterPage(call) ? fault?.kind : undefined
		const expired = paging === 'cursor_expired' && this.cursorExpired(call)
		if (expired) return expired
		const before = this.#lastPages.get(call.path) ?? []
		if (paging === 'moved' && before.length > 0) this.touch(before[0])
		const [, id = ''] = route.pattern.exec(call.path) ?? []
		const reply = route.handler(call, decodeURIComponent(id))
		if (!reply.page) return reply
		this.#lastPages.set(call.path, [...reply.page])
		if (paging === 'duplicate' && before.length > 0) reply.page.unshift(before.at(-1))
		return reply
	}

	#admit(call: Call): void {
		const [, token] = /^Bearer (.+)$/i.exec(headerOf(call, 'authorization') ?? '') ?? []
		const validity = this.tokens.check(token)
		if (validity !== 'valid') throw new Refusal(this.unauthorized(token === undefined ? 'missing' : validity))
		const now = this.clock()
		const exceeded = this.allowances.filter((allowance) => !allowance.take(now)).at(-1)
		if (exceeded && this.enforcesLimits)
			throw new Refusal(withRetryAfter(this.rateLimited(exceeded.name), exceeded.secondsLeft(now)))
	}
}

export interface WebhookOptions extends DeliveryOptions {
	readonly changes?: readonly Change[]
}

const patternOf = (path: string) => new RegExp(`^${path.replaceAll('.', '\\.').replace('{id}', '([^/]+)')}$`)

const withRetryAfter = (reply: Reply, seconds: number | undefined): Reply =>
	seconds === undefined ? reply : { ...reply, headers: { ...reply.headers, 'retry-after': String(seconds) } }
