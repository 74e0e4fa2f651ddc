// Measures servers side by side: every round measures each of them for a short while, in rotating order, so that other work on
// the machine slows all of them alike. A ratio is the median of the ratios within each round.
import { type Driven, drive, type Load, type Pace } from './load.ts'
import type { Server } from './processes.ts'

export interface Sample extends Driven {
	readonly cpuMicros: number
	readonly rss: number
}

export interface Plan extends Pace {
	readonly rounds: number
	readonly key: string
}

/** The samples of each server, one for each round. */
export type Samples = ReadonlyMap<string, readonly Sample[]>

/** `load` is the load of all servers, or gives the load of each. */
export async function measure(servers: readonly Server[], load: Load | ((server: Server) => Load), plan: Plan): Promise<Samples> {
	const loadOf = typeof load === 'function' ? load : () => load
	const samples = new Map<string, Sample[]>(servers.map(({ name }) => [name, []]))
	// Not counted: Node compiles the code during the first requests.
	if (plan.rounds > 1) for (const server of servers) await sample(server, loadOf(server), { ...plan, seconds: 1 })
	for (let round = 0; round < plan.rounds; round++) {
		for (let turn = 0; turn < servers.length; turn++) {
			const server = servers[(round + turn) % servers.length] as Server
			samples.get(server.name)?.push(await sample(server, loadOf(server), plan))
		}
	}
	return samples
}

async function sample(server: Server, load: Load, plan: Plan): Promise<Sample> {
	const before = server.cpuMicros()
	const driven = await drive(server.url, plan.key, load, plan)
	const cpuMicros = (server.cpuMicros() - before) / driven.requests
	if (driven.failed > 0) {
		throw new Error(`${server.name}: ${driven.failed} of ${driven.requests} requests failed: ${load.method} ${load.paths[0]}`)
	}
	return { ...driven, cpuMicros, rss: server.rssMegabytes() }
}

export function median(values: readonly number[]): number {
	const sorted = [...values].sort((a, b) => a - b)
	const middle = sorted.length >> 1
	return sorted.length % 2 === 1 ? (sorted[middle] as number) : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2
}

/** The median of one figure of a server over the rounds. */
export const medianOf = (samples: Samples, name: string, figure: (sample: Sample) => number) =>
	median((samples.get(name) ?? []).map(figure))

/** The CPU time a request of `other`, divided by that of `name`: above 1, `name` is the cheaper. */
export function ratio(samples: Samples, name: string, other: string): number {
	const own = samples.get(name) ?? []
	return median((samples.get(other) ?? []).map(({ cpuMicros }, round) => cpuMicros / (own[round] as Sample).cpuMicros))
}
