// Measures calls that a load cannot make, because each has its own body or can be made only once. A few callers share the list,
// each with one call under way: the server never has a queue, so a latency is that of the call alone.
import type { Plan, Sample, Samples } from './measure.ts'
import type { Server } from './processes.ts'

export interface Call {
	readonly method: 'GET' | 'POST'
	readonly path: string
	readonly body?: object
}

/**
 * Measures kinds of calls in turns; each kind gives the calls of a round. The first round lets Node compile and is not counted.
 */
export async function measureCalls(
	server: Server,
	{ key, rounds }: Pick<Plan, 'key' | 'rounds'>,
	kinds: ReadonlyMap<string, (round: number) => readonly Call[]>,
	callers = 4,
): Promise<Samples> {
	const samples = new Map<string, Sample[]>([...kinds.keys()].map((name) => [name, []]))
	for (let round = 0; round <= rounds; round++) {
		for (const [name, callsOf] of kinds) {
			const sample = await callAll(server, key, callsOf(round), callers)
			if (round > 0) samples.get(name)?.push(sample)
		}
	}
	return samples
}

/** Makes every call once and measures all of them as one sample. Throws when a call fails. */
export async function callAll(server: Server, key: string, calls: readonly Call[], callers = 4): Promise<Sample> {
	const latencies: number[] = []
	const waiting = calls.values()
	const [begun, cpu] = [performance.now(), server.cpuMicros()]
	const caller = async () => {
		for (const next of waiting) {
			const sent = performance.now()
			await call(server, key, next)
			latencies.push(performance.now() - sent)
		}
	}
	await Promise.all(Array.from({ length: callers }, caller))
	const cpuMicros = (server.cpuMicros() - cpu) / calls.length
	const seconds = (performance.now() - begun) / 1000
	latencies.sort((a, b) => a - b)
	const [p50, p99] = [0.5, 0.99].map((share) => latencies[Math.floor(share * latencies.length)]) as [number, number]
	return { requests: calls.length, seconds, p50, p99, failed: 0, cpuMicros, rss: server.rssMegabytes() }
}

/** Makes one call and returns the body of its answer. */
export async function call({ name, url }: Server, key: string, { method, path, body }: Call): Promise<Uint8Array> {
	const headers = { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) }
	const response = await fetch(url + path, { method, headers, body: body && JSON.stringify(body) })
	const answer = await response.bytes()
	if (!response.ok) throw new Error(`${name}: ${method} ${path} answers ${response.status}: ${new TextDecoder().decode(answer)}`)
	return answer
}

export const callJson = async (server: Server, key: string, made: Call) =>
	JSON.parse(new TextDecoder().decode(await call(server, key, made)))
