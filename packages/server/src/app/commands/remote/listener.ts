// Reads the feed of a server through the SDK, as any caller may, and posts each event to the receiver, one after the other.

import { setTimeout as sleep } from 'node:timers/promises'
import { RateLimitError, Remit, RemitError, type WebhookEvent } from '@remit/sdk'
import { newSecret, signedHeaders, signingKey } from '../../../integration/doors.ts'
import { patternsOf } from '../../../platform/contract/event-patterns.ts'
import { always } from '../../../platform/outside/http.ts'
import { isFinal, toUsageError } from './client.ts'

/** What to forward, and where. */
export interface Listening {
	readonly apiKey: string
	readonly url: string
	readonly target: URL
	/** A new one is made when absent. */
	readonly secret: string | undefined
	/** Absent for all events. */
	readonly patterns?: readonly string[]
	readonly start: { readonly since: number } | { readonly cursor: string } | { readonly replay: number }
	readonly json: boolean
}

/** Between two looks at the feed: a minute of them leaves a key 40 of the 100 requests that it has. */
const pollMs = 1_000
/** Between attempts while the server does not answer: it begins with the first, and doubles up to the second. */
const [firstRestMs, longestRestMs] = [500, 4_000]
/** How long the receiver may take, in which a debugger may stop. */
const answerMs = 120_000
const pageSize = 100

export async function listen(listening: Listening): Promise<void> {
	const ending = new AbortController()
	const end = () => ending.abort()
	for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end)
	let forwarder: Forwarder | undefined
	try {
		forwarder = new Forwarder(listening, ending.signal)
		await forwarder.run()
	} catch (error) {
		if (!ending.signal.aborted) throw toUsageError(error, listening.url)
	} finally {
		for (const signal of ['SIGINT', 'SIGTERM'] as const) process.removeListener(signal, end)
	}
	forwarder?.sayEnd()
}

/** A page of the feed, oldest first. */
interface Part {
	readonly events: readonly WebhookEvent[]
	readonly cursor: string | undefined
	readonly isFull: boolean
}

class Forwarder {
	readonly #listening: Listening
	readonly #signal: AbortSignal
	readonly #remit: Remit
	readonly #secret: string
	readonly #keys
	/** The place in the feed after what was forwarded; undefined while there is none. */
	#cursor: string | undefined

	constructor(listening: Listening, signal: AbortSignal) {
		this.#listening = listening
		this.#signal = signal
		this.#remit = new Remit({ apiKey: listening.apiKey, baseUrl: listening.url, timeout: 30_000 })
		this.#secret = listening.secret ?? newSecret()
		this.#keys = [signingKey(this.#secret)]
	}

	/** Ends when the signal aborts, or by an error that will not go away. */
	async run(): Promise<void> {
		let part = await this.#first()
		this.#sayStart()
		for (;;) {
			for (const event of part.events) await this.#forward(event)
			this.#cursor = part.cursor ?? this.#cursor
			if (!part.isFull) await sleep(pollMs, undefined, { signal: this.#signal })
			part = await this.#persist(() => this.#read())
		}
	}

	async #first(): Promise<Part> {
		const { start } = this.#listening
		if ('cursor' in start) this.#cursor = start.cursor
		if (!('replay' in start)) return this.#read()
		const page = await this.#list({ order: 'desc', limit: start.replay })
		// The feed goes on after the oldest of them.
		return { events: page.data.slice(-1), cursor: page.meta.nextCursor ?? 'now', isFull: true }
	}

	async #read(): Promise<Part> {
		const { start } = this.#listening
		const cursor = this.#cursor
		const since = cursor === undefined && 'since' in start ? start.since : undefined
		const { data, meta } = await this.#list({ ...(cursor !== undefined && { cursor }), ...(since !== undefined && { since }) })
		return { events: data, cursor: meta.nextCursor ?? undefined, isFull: data.length === pageSize }
	}

	async #list(query: Parameters<Remit['webhooks']['events']['list']>[0]) {
		const [only, ...others] = this.#listening.patterns ?? []
		const type = only !== undefined && others.length === 0 && { type: only }
		return this.#remit.webhooks.events.list({ limit: pageSize, ...type, ...query }, { signal: this.#signal })
	}

	/** Asks again while the server is away, or has had too many requests. */
	async #persist(read: () => Promise<Part>): Promise<Part> {
		for (let rest = firstRestMs; ; rest = Math.min(2 * rest, longestRestMs)) {
			try {
				const part = await read()
				if (rest > firstRestMs) this.#say('The server answers again.')
				return part
			} catch (error) {
				this.#signal.throwIfAborted()
				if (!(error instanceof RemitError) || isFinal(error)) throw error
				const isLimit = error instanceof RateLimitError
				if (rest === firstRestMs) this.#say(`${isLimit ? 'Waiting' : 'The server is away, trying again'}: ${error.message}`)
				const asked = isLimit ? (error.retryAfter ?? 0) * 1000 : 0
				await sleep(Math.max(rest, asked), undefined, { signal: this.#signal })
			}
		}
	}

	/** Posts an event. Whatever the receiver does, the next one follows. */
	async #forward(event: WebhookEvent): Promise<void> {
		const { target, patterns } = this.#listening
		if (!isWanted(event.type, patterns)) return
		const body = JSON.stringify(event)
		const headers = { ...always, ...signedHeaders(this.#keys, event.id, Date.now(), body) }
		const began = performance.now()
		const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(answerMs)])
		const result = await fetch(target, { method: 'POST', headers, body, redirect: 'manual', signal }).then(
			async (answer) => {
				await answer.body?.cancel()
				return { status: answer.status }
			},
			(error) => ({ error: reasonOf(error) }),
		)
		this.#signal.throwIfAborted()
		this.#sayForwarded(event, { ...result, durationMs: Math.round(performance.now() - began) })
	}

	#sayForwarded(event: WebhookEvent, result: { status?: number; error?: string; durationMs: number }): void {
		const { id, type, resource } = event
		const outcome = result.error === undefined ? `${result.status}` : `no answer: ${result.error},`
		const text = `${new Date().toTimeString().slice(0, 8)}  ${type}  ${resource.id}  ${id}  → ${outcome} in ${result.durationMs} ms`
		this.#print({ id, type, resource, ...result }, text)
	}

	#sayStart(): void {
		const { url, target, patterns } = this.#listening
		const what = patterns ? patterns.join(', ') : 'all events'
		const text = `Forwarding ${what} of ${url} to ${target}. Ctrl-C ends it.\nThey are signed with ${this.#secret}`
		this.#print({ url, forwardTo: target.href, events: patterns ?? ['*'], secret: this.#secret }, text)
	}

	/** The place before the page that was under way: what was forwarded of it comes again. */
	sayEnd(): void {
		const cursor = this.#cursor
		if (cursor === undefined || cursor === 'now') return
		this.#print({ cursor }, `To go on from here: --cursor ${cursor}`)
	}

	#say(text: string): void {
		console.error(text)
	}

	#print(value: object, text: string): void {
		console.log(this.#listening.json ? JSON.stringify(value) : text)
	}
}

/** Whether an event of this type is to be forwarded. */
const isWanted = (type: string, patterns: readonly string[] | undefined): boolean =>
	patterns === undefined || patternsOf(type).some((pattern) => patterns.includes(pattern))

/** fetch says only "fetch failed"; the reason is in the cause of its error. */
function reasonOf(error: unknown): string {
	const { name, message, cause } = error as Error & { cause?: { code?: string; message?: string } }
	if (name === 'TimeoutError') return `not within ${answerMs / 1000} seconds`
	return cause?.message || cause?.code || message
}
