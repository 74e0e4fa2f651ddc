// A real HTTP server, which records requests and answers as it is told.
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as textOf } from 'node:stream/consumers'

export interface Arrived {
	readonly method: string
	readonly url: string
	readonly headers: IncomingHttpHeaders
	readonly body: string
	/** In milliseconds; only differences say something. */
	readonly at: number
}

export type Answer = (response: ServerResponse, request: Arrived) => void

export class AnsweringServer {
	readonly arrived: Arrived[] = []
	answer: Answer = json(200, { data: {} })
	readonly #server = createServer(async (request, response) => {
		const { method = '', url = '', headers } = request
		const arrived = { method, url, headers, body: await textOf(request), at: performance.now() }
		this.arrived.push(arrived)
		this.answer(response, arrived)
	})

	async listen(): Promise<this> {
		this.#server.listen(0, '127.0.0.1')
		await once(this.#server, 'listening')
		return this
	}

	get port(): number {
		return (this.#server.address() as AddressInfo).port
	}

	/** Forgets what arrived, and answers as in the beginning. */
	reset(): void {
		this.arrived.length = 0
		this.answer = json(200, { data: {} })
	}

	close(): void {
		this.#server.closeAllConnections()
		this.#server.close()
	}
}

export function json(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
	return (response) => {
		response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body))
	}
}

export function text(status: number, body: string, headers: Record<string, string> = {}): Answer {
	return (response) => {
		response.writeHead(status, headers).end(body)
	}
}

export function problem(status: number, code: string, headers: Record<string, string> = {}, more: object = {}): Answer {
	const body = {
		type: `urn:remit:problem:${code}`,
		title: 'Title',
		status,
		detail: 'Detail.',
		instance: '/',
		code,
		requestId: 'req_body',
		...more,
	}
	return json(status, body, { 'Content-Type': 'application/problem+json', ...headers })
}
