// A server that answers every SDK as it is told, and records what arrives.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface Arrived {
	readonly method: string
	readonly url: string
	readonly key: string | undefined
	readonly at: number
}

export class FarEnd {
	readonly arrived: Arrived[] = []
	answer: (response: ServerResponse, request: IncomingMessage) => void = () => {}
	readonly #server: Server = createServer(async (request, response) => {
		await text(request)
		const { method = '', url = '', headers } = request
		const key = headers['idempotency-key']
		this.arrived.push({ method, url, key: key === undefined ? undefined : String(key), at: performance.now() })
		this.answer(response, request)
	})

	async listen(): Promise<this> {
		this.#server.listen(0, '127.0.0.1')
		await once(this.#server, 'listening')
		return this
	}

	get port(): number {
		return (this.#server.address() as AddressInfo).port
	}

	close(): void {
		this.#server.closeAllConnections()
		this.#server.close()
	}
}

export function json(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
	response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}
