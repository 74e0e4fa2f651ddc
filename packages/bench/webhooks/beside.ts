// Measures GETs while a queue drains: how much longer they take than alone, and how much memory the server uses.
import { getLoad } from '../loads.ts'
import { median } from '../measure.ts'
import type { Server } from '../processes.ts'
import { check, print, table, title } from '../report.ts'
import type { Seed } from '../seed.ts'
import type { Receiver } from './receiver.ts'
import { loadUndici } from './undici.ts'

const { Agent, request } = loadUndici()

const connections = 10
const [warmUpMs, mostTimes, mostMegabytes] = [1_000, 3, 250]

interface GetPlan {
	readonly key: string
	readonly seed: Seed
	/** The number of waiting deliveries. */
	readonly count: number
	readonly rounds: number
	readonly seconds: number
}

interface GetSample {
	readonly p50: number
	readonly p99: number
	readonly most: number
	readonly perSecond: number
	readonly rss: number
	/** Deliveries a second meanwhile. */
	readonly delivered: number
}

export async function measureGetsBeside(
	receiver: Receiver,
	start: (queue: 'none' | 'healthy') => Promise<Server>,
	plan: GetPlan,
) {
	const samples = { none: [] as GetSample[], healthy: [] as GetSample[] }
	for (let round = 0; round < plan.rounds; round++) {
		for (const queue of ['none', 'healthy'] as const) {
			await receiver.expect()
			const server = await start(queue)
			samples[queue].push(await sample(receiver, server, plan))
			await server.stop()
			if ((await receiver.arrived()) === plan.count)
				throw new Error('the queue was drained before the requests were made: ask for more events or fewer seconds')
		}
	}
	report(samples)
}

async function sample(receiver: Receiver, server: Server, { key, seed, seconds }: GetPlan): Promise<GetSample> {
	const { paths } = getLoad(seed)
	await get(server, key, paths, warmUpMs)
	const before = await receiver.arrived()
	const latencies = await get(server, key, paths, seconds * 1000)
	const delivered = ((await receiver.arrived()) - before) / seconds
	const at = (share: number) => latencies[Math.floor(share * latencies.length)] as number
	const perSecond = latencies.length / seconds
	return { p50: at(0.5), p99: at(0.99), most: latencies.at(-1) as number, perSecond, delivered, rss: server.rssMegabytes() }
}

/** GETs the paths in turn, on each connection as soon as it is free; returns the latencies in ms, sorted. */
async function get({ url }: Server, key: string, paths: readonly string[], ms: number): Promise<number[]> {
	const dispatcher = new Agent({ connections })
	const headers = { authorization: `Bearer ${key}` }
	const latencies: number[] = []
	const end = performance.now() + ms
	let next = 0
	const caller = async () => {
		for (let sent = performance.now(); sent < end; sent = performance.now()) {
			const answer = await request(url + paths[next++ % paths.length], { method: 'GET', dispatcher, headers })
			await answer.body.dump()
			if (answer.statusCode !== 200) throw new Error(`a GET beside the deliveries is answered ${answer.statusCode}`)
			latencies.push(performance.now() - sent)
		}
	}
	await Promise.all(Array.from({ length: connections }, caller))
	return latencies.sort((one, other) => one - other)
}

function report(samples: Record<'none' | 'healthy', readonly GetSample[]>): void {
	const line = (queue: 'none' | 'healthy', what: string) => {
		const middle = (figure: keyof GetSample, digits: number) => median(samples[queue].map((one) => one[figure])).toFixed(digits)
		const rss = Math.max(...samples[queue].map((one) => one.rss)).toFixed(0)
		return [what, middle('perSecond', 0), middle('p50', 2), middle('p99', 2), middle('most', 1), middle('delivered', 0), rss]
	}
	title(`GET one invoice on ${connections} connections, alone and while a queue drains`)
	table(
		['', 'req/s', 'p50 ms', 'p99 ms', 'longest ms', 'deliveries/s', 'RSS MB'],
		[line('none', 'alone'), line('healthy', 'beside deliveries')],
	)
	const times = median(samples.healthy.map(({ p99 }, round) => p99 / (samples.none[round] as GetSample).p99))
	const rss = Math.max(...samples.healthy.map((one) => one.rss))
	const text = `p99 of GET beside deliveries: ${times.toFixed(1)} times that of GET alone`
	const memory = `memory while a queue drains: ${rss.toFixed(0)} MB`
	print(`- ${text} (target: ≤ ${mostTimes}) ${check(text, times <= mostTimes)}`)
	print(`- ${memory} (target: < ${mostMegabytes}) ${check(memory, rss < mostMegabytes)}\n`)
}
