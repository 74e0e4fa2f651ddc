// A receiver of webhooks: it keeps the requests that arrive, and checks each signature with three libraries.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Remit, verifyWebhook, type WebhookEvent } from '@remit/sdk'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as Svix } from 'svix'
import { vi } from 'vitest'
import { watch } from './leaks.ts'

export interface Received {
	readonly event: WebhookEvent
	readonly body: string
	readonly headers: Readonly<Record<string, string>>
	readonly path: string
	/** The address of this machine that was called. */
	readonly address: string | undefined
}

export interface SinkAnswer {
	readonly status?: number
	readonly headers?: Record<string, string>
	readonly body?: string | Uint8Array
	/** Leaves the request without an answer. */
	readonly hang?: boolean
}

/** The answer to every request, or a function of the request and its number. */
export type Answering = SinkAnswer | ((received: Received, count: number) => SinkAnswer | Promise<SinkAnswer>)

export class Sink {
	readonly #server: Server
	readonly received: Received[] = []
	/** Wrong signatures and other errors of requests. */
	readonly problems: string[] = []
	answer: Answering = { status: 204 }
	/** The secrets of the endpoints that point here; a request that none of them signed is a problem. */
	readonly secrets: string[] = []
	/** Requests that wait for an answer. */
	open = 0

	readonly #everyLibrary: boolean

	/** Without `everyLibrary` only the SDK checks signatures, which is several times as fast. */
	constructor({ everyLibrary = true } = {}) {
		this.#everyLibrary = everyLibrary
		this.#server = createServer((req, res) => void this.#take(req, res))
	}

	async start(address = '127.0.0.1', port = 0): Promise<this> {
		this.#server.listen(port, address)
		await once(this.#server, 'listening')
		return this
	}

	get url(): string {
		return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`
	}

	/** Creates an endpoint that points here; returns its id. */
	async subscribe({ webhooks }: Pick<Remit, 'webhooks'>, ...eventTypes: string[]): Promise<string> {
		const { id, secret } = await webhooks.endpoints.create({ url: this.url, eventTypes })
		this.secrets.push(secret)
		return id
	}

	async stop(): Promise<void> {
		this.#server.closeAllConnections()
		this.#server.close()
		await once(this.#server, 'close')
	}

	/** Waits for `count` events; returns all that have arrived. */
	async events(count: number, timeout = 10_000): Promise<WebhookEvent[]> {
		await vi.waitUntil(() => this.received.length >= count, { timeout, interval: 5 })
		return this.received.map(({ event }) => event)
	}

	async #take(req: IncomingMessage, res: ServerResponse): Promise<void> {
		const chunks: Uint8Array[] = []
		for await (const chunk of req) chunks.push(chunk)
		const body = Buffer.concat(chunks).toString('utf8')
		const headers = req.headers as Record<string, string>
		watch('a webhook', body)
		try {
			const event = await verified(body, headers, this.secrets, this.#everyLibrary)
			const received = { event, body, headers, path: req.url ?? '', address: req.socket.localAddress }
			this.received.push(received)
			const answer = typeof this.answer === 'function' ? await this.answer(received, this.received.length) : this.answer
			this.open++
			res.once('close', () => this.open--)
			if (!answer.hang) res.writeHead(answer.status ?? 204, answer.headers).end(answer.body)
		} catch (error) {
			this.problems.push(String(error))
			res.writeHead(400).end()
		}
	}
}

/** Verifies a request: the SDK, `standardwebhooks` and `svix` must agree on each secret, and one secret must fit. */
async function verified(
	body: string,
	headers: Record<string, string>,
	secrets: readonly string[],
	everyLibrary: boolean,
): Promise<WebhookEvent> {
	const now = Number(headers['webhook-timestamp']) * 1000
	let fits = false
	for (const secret of secrets) {
		const sdk = await verifyWebhook(body, headers, secret, { now }).then(
			() => true,
			() => false,
		)
		const libraries = everyLibrary ? [new StandardWebhook(secret), new Svix(secret)] : []
		const others = libraries.map((library) => accepts(library, body, headers, now))
		if (others.some((other) => other !== sdk)) throw new Error(`the libraries disagree on ${body}`)
		fits ||= sdk
	}
	if (!fits) throw new Error(`no secret signed ${body}`)
	return JSON.parse(body)
}

/** The packages compare the time with the machine's clock, so it is faked to the server's. */
function accepts(library: StandardWebhook | Svix, body: string, headers: Record<string, string>, now: number): boolean {
	vi.useFakeTimers({ toFake: ['Date'], now })
	try {
		library.verify(body, headers)
		return true
	} catch {
		return false
	} finally {
		vi.useRealTimers()
	}
}
