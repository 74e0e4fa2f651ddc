// A request to a fake vendor, and its answer.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Json } from './records.ts'

export interface Call {
	readonly method: string
	readonly path: string
	readonly query: URLSearchParams
	readonly headers: IncomingHttpHeaders
	readonly text: string
}

export interface Reply {
	readonly status: number
	readonly json?: unknown
	readonly headers?: Readonly<Record<string, string>>
	/** The records in `json`, where this is a page of a list. */
	readonly page?: unknown[]
}

/** Thrown by a handler: an error as the vendor answers it. */
export class Refusal extends Error {
	readonly reply: Reply

	constructor(reply: Reply) {
		super(`The vendor answers ${reply.status}.`)
		this.reply = reply
	}
}

export async function readCall(request: IncomingMessage): Promise<Call> {
	const { pathname, searchParams } = new URL(request.url ?? '/', 'http://vendor')
	const { method = '', headers } = request
	return { method, path: pathname, query: searchParams, headers, text: await text(request) }
}

export const formOf = ({ text }: Call): URLSearchParams => new URLSearchParams(text)

export function jsonOf({ text }: Call): Json {
	try {
		return JSON.parse(text)
	} catch {
		throw new Refusal({ status: 400, json: { message: 'The body is not JSON.' } })
	}
}

export const headerOf = ({ headers }: Call, name: string): string | undefined => headers[name]?.toString()

/** Answers by idempotency key: the same key with the same request gets the same answer, and nothing is done again. */
export class IdempotentReplies {
	readonly #replies = new Map<string, { readonly request: string; readonly reply: Reply }>()

	answer(call: Call, handle: () => Reply, mismatch: () => Reply): Reply {
		const key = headerOf(call, 'idempotency-key')
		if (key === undefined) return handle()
		const request = `${call.method} ${call.path}?${call.query} ${call.text}`
		const known = this.#replies.get(key)
		if (known) return known.request === request ? known.reply : mismatch()
		// What is refused before any work is not kept.
		const reply = handle()
		const kept = { ...reply, json: JSON.parse(JSON.stringify(reply.json)) }
		this.#replies.set(key, { request, reply: { ...kept, headers: { ...reply.headers, 'idempotent-replayed': 'true' } } })
		return reply
	}
}

/** So many calls in a fixed window of time. */
export class Allowance {
	readonly name: string
	max: number
	readonly intervalMs: number
	#start = Number.NEGATIVE_INFINITY
	#used = 0

	constructor(name: string, max: number, intervalMs: number) {
		this.name = name
		this.max = max
		this.intervalMs = intervalMs
	}

	/** False when there is none left. */
	take(now: number): boolean {
		if (now - this.#start >= this.intervalMs) {
			this.#start = now
			this.#used = 0
		}
		return ++this.#used <= this.max
	}

	get left(): number {
		return Math.max(0, this.max - this.#used)
	}

	secondsLeft(now: number): number {
		return Math.max(1, Math.ceil((this.#start + this.intervalMs - now) / 1000))
	}
}
