// A client that costs little, for tests that measure a server in their own thread.
import { Agent, request } from 'node:http'

export interface RawAnswer {
	readonly status: number
	readonly text: string
	/** Length in bytes. */
	readonly length: number
}

export type RawAsk = (method: string, path: string, body?: string, headers?: Record<string, string>) => Promise<RawAnswer>

/** `text` is the beginning of the answer only, if it is longer than a megabyte. */
export function rawClient(url: string, key: string): { ask: RawAsk; close(): void } {
	const agent = new Agent({ keepAlive: true })
	const ask: RawAsk = (method, path, body, headers = {}) =>
		new Promise((resolve, reject) => {
			const type = body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
			const all = { authorization: `Bearer ${key}`, ...type, ...headers }
			const sent = request(url + path, { method, agent, headers: all }, (response) => {
				const pieces: Buffer[] = []
				let length = 0
				response.on('data', (data: Buffer) => {
					if (length < 1_000_000) pieces.push(data)
					length += data.length
				})
				response.once('error', reject)
				response.once('end', () =>
					resolve({ status: response.statusCode as number, text: Buffer.concat(pieces).toString(), length }),
				)
			})
			sent.once('error', reject).end(body)
		})
	return { ask, close: () => agent.destroy() }
}
