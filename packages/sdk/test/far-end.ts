// A real HTTP server for the tests, which records requests and answers as the test says.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { Remit, type RemitOptions } from '../src/index.ts'

export interface Arrived {
	method: string
	url: string
	headers: IncomingHttpHeaders
	body: string
}

type Answer = (response: ServerResponse, request: Arrived) => void

export interface FarEnd {
	readonly url: string
	/** The requests of the current test. */
	readonly arrived: Arrived[]
	answer: Answer
	/** A client of this server, which sends nothing twice unless it is told to. */
	client(options?: Partial<RemitOptions>): Remit
}

export const apiKey = 'rmt_0123456789abcdefSECRET'

/** A server for all tests of a file. Each test begins without requests, and with `{"data":{}}` as the answer. */
export function farEnd(): FarEnd {
	const far = {
		url: '',
		arrived: [] as Arrived[],
		answer: json(200, { data: {} }),
		client: (options: Partial<RemitOptions> = {}) => new Remit({ apiKey, baseUrl: far.url, maxRetries: 0, ...options }),
	}
	const server = createServer(async (request, response) => {
		let body = ''
		for await (const chunk of request) body += chunk
		const { method = '', url = '', headers } = request
		far.arrived.push({ method, url, headers, body })
		far.answer(response, { method, url, headers, body })
	})
	beforeAll(async () => {
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
		far.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
	})
	beforeEach(() => {
		far.arrived.length = 0
		far.answer = json(200, { data: {} })
	})
	afterAll(() => {
		server.closeAllConnections()
		server.close()
	})
	return far
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

/** The error with which a call rejects. */
export async function failure(call: Promise<unknown>): Promise<Error> {
	return call.then(
		(result) => Promise.reject(new Error(`expected a failure, got ${JSON.stringify(result)}`)),
		(error: unknown) => error as Error,
	)
}
