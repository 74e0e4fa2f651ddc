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
			// Public operations that change something are for pages of the server.
			const all = { authorization: `Bearer ${key}`, 'sec-fetch-site': 'same-origin', ...type, ...headers }
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

export interface Cost {
	/** CPU of the thread, in milliseconds. */
	readonly ms: number
	/** The most of it in one go: so long did other requests wait. */
	readonly longestMs: number
	/** How much more memory the process had, in MB. */
	readonly megabytes: number
}

const cpuMs = () => {
	const { user, system } = process.threadCpuUsage()
	return (user + system) / 1_000
}

const memory = () => {
	const { heapUsed, external } = process.memoryUsage()
	return (heapUsed + external) / 1e6
}

/** What `work` costs the thread, watched at every turn of its event loop; a turn itself costs some microseconds. */
export async function costOf<T>(work: () => Promise<T>): Promise<Cost & { result: T }> {
	const [start, memoryBefore] = [cpuMs(), memory()]
	let [before, longestMs, most, turns, isOver] = [start, 0, memoryBefore, 0, false]
	const watch = () => {
		const now = cpuMs()
		longestMs = Math.max(longestMs, now - before)
		if (turns++ % 20 === 0) most = Math.max(most, memory())
		before = now
		if (!isOver) setImmediate(watch)
	}
	setImmediate(watch)
	const result = await work()
	isOver = true
	most = Math.max(most, memory())
	const end = cpuMs()
	longestMs = Math.max(longestMs, end - before)
	return { ms: end - start, longestMs, megabytes: most - memoryBefore, result }
}
