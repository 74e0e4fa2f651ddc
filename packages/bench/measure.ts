// Measures servers side by side: in every round each of them for a short while, in an order that moves on, so that what else
// the machine does hits all alike. Ratios are taken within a round, then the median of the rounds.
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

/** The samples of each server, one a round. */
export type Samples = ReadonlyMap<string, readonly Sample[]>

/** `load` is what all servers get, or says what each of them gets. */
export async function measure(servers: readonly Server[], load: Load | ((server: Server) => Load), plan: Plan): Promise<Samples> {
	const loadOf = typeof load === 'function' ? load : () => load
	const samples = new Map<string, Sample[]>(servers.map(({ name }) => [name, []]))
	// The first requests compile the code and are not counted.
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

/** The median over the rounds of one figure of a server. */
export const middleOf = (samples: Samples, name: string, figure: (sample: Sample) => number) =>
	median((samples.get(name) ?? []).map(figure))

/** How many times the CPU of `name` a request costs `other`: above 1, `name` is the cheaper. */
export function ratio(samples: Samples, name: string, other: string): number {
	const own = samples.get(name) ?? []
	return median((samples.get(other) ?? []).map(({ cpuMicros }, round) => cpuMicros / (own[round] as Sample).cpuMicros))
}
