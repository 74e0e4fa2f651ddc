// Measures what subscribed endpoints cost a create: the CPU of writing its deliveries, and of making them as well.
import { setTimeout as wait } from 'node:timers/promises'
import { drive } from '../load.ts'
import { createLoad } from '../loads.ts'
import { median, type Plan } from '../measure.ts'
import type { Server } from '../processes.ts'
import { table, title } from '../report.ts'
import type { Receiver } from './receiver.ts'

/** The endpoints of a server. A pausing endpoint has asked for ten hours without deliveries (`Retry-After`). */
export interface Subscribed {
	readonly count: number
	readonly to: 'healthy' | 'pausing'
}

const kinds: readonly (Subscribed & { readonly what: string })[] = [
	{ what: 'no endpoint', count: 0, to: 'pausing' },
	{ what: '1 endpoint, its delivery written', count: 1, to: 'pausing' },
	{ what: '3 endpoints, deliveries written', count: 3, to: 'pausing' },
	{ what: '1 endpoint, and delivered', count: 1, to: 'healthy' },
	{ what: '3 endpoints, and delivered', count: 3, to: 'healthy' },
]

interface Cost {
	readonly cpuMicros: number
	readonly perSecond: number
}

export async function creates(receiver: Receiver, start: (subscribed: Subscribed) => Promise<Server>, plan: Plan): Promise<void> {
	const servers = await Promise.all(kinds.map(start))
	const samples = kinds.map((): Cost[] => [])
	// The first round is not counted: Node compiles the code.
	for (let round = 0; round <= plan.rounds; round++) {
		for (let turn = 0; turn < kinds.length; turn++) {
			const index = (round + turn) % kinds.length
			const cost = await costOf(receiver, servers[index] as Server, kinds[index] as Subscribed, plan)
			if (round > 0) samples[index]?.push(cost)
		}
	}
	for (const server of servers) await server.stop()
	report(samples)
}

async function costOf(receiver: Receiver, server: Server, { count, to }: Subscribed, plan: Plan): Promise<Cost> {
	await receiver.expect()
	const before = server.cpuMicros()
	const { requests, seconds, failed } = await drive(server.url, plan.key, createLoad, plan)
	if (failed > 0) throw new Error(`${failed} of ${requests} creates failed`)
	if (to === 'healthy') await allArrived(receiver, requests * count)
	return { cpuMicros: (server.cpuMicros() - before) / requests, perSecond: requests / seconds }
}

/** More deliveries than expected may arrive, from creates whose answer the driver did not wait for. */
async function allArrived(receiver: Receiver, count: number): Promise<void> {
	let last = -1
	for (let arrived = 0; arrived < count || arrived > last; arrived = await receiver.arrived()) {
		last = arrived
		await wait(100)
	}
}

function report(samples: readonly (readonly Cost[])[]): void {
	const none = samples[0] ?? []
	title('A create, by the endpoints that subscribe to it')
	table(
		['', 'creates/s', 'CPU µs each', 'more than without'],
		samples.map((costs, index) => [
			kinds[index]?.what ?? '',
			median(costs.map(({ perSecond }) => perSecond)).toFixed(0),
			median(costs.map(({ cpuMicros }) => cpuMicros)).toFixed(1),
			index === 0 ? '' : median(costs.map(({ cpuMicros }, round) => cpuMicros - (none[round] as Cost).cpuMicros)).toFixed(1),
		]),
	)
}
