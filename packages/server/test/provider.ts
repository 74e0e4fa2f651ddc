// The API of a provider for tests, at the far end of a real socket.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export class FakeProvider {
	/** What it answers; a test replaces it. */
	answer: RequestListener = (_, res) => res.end('{}')
	/** The requests that it has got. */
	readonly requests: IncomingMessage[] = []
	readonly #server: Server

	constructor() {
		this.#server = createServer((req, res) => {
			this.requests.push(req)
			this.answer(req, res)
		})
	}

	async start(): Promise<this> {
		this.#server.listen(0, '127.0.0.1')
		await once(this.#server, 'listening')
		return this
	}

	get url(): string {
		return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
	}

	/** Answers this JSON, or this status without any. */
	answers(what: unknown): void {
		this.answer = (_, res) => (typeof what === 'number' ? res.writeHead(what).end() : res.end(JSON.stringify(what)))
	}

	async stop(): Promise<void> {
		this.#server.closeAllConnections()
		this.#server.close()
		await once(this.#server, 'close')
	}
}
