// Measures how fast a queue drains, beside the bare loop: the deliveries a second to healthy endpoints, and the CPU of one.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { median } from '../measure.ts'
import { type Server, startServer } from '../processes.ts'
import { check, print, table, title } from '../report.ts'
import { newFolder } from '../resources.ts'
import { healthyCount } from './queue.ts'
import type { Receiver } from './receiver.ts'

/** Requests under way at once to an endpoint that works, as in the server's platform/work/lanes.ts. */
const concurrency = 25

/** The first part of the queue, which is not counted. */
const warmUp = 0.25

interface Drain {
	readonly perSecond: number
	/** CPU of the sending process in µs a delivery, in the counted part. */
	readonly cpuMicros: number
	readonly rss: number
}

/** Starts a sender of `count` deliveries to healthy endpoints, and stops it once they have arrived. */
async function drain(receiver: Receiver, count: number, start: () => Promise<Server>): Promise<Drain> {
	const warm = Math.floor(count * warmUp)
	const [begun, ended] = (await receiver.expect(warm, count)) as [Promise<number>, Promise<number>]
	const server = await start()
	const from = await begun
	const cpu = server.cpuMicros()
	const to = await ended
	const sent = count - warm
	const drained = {
		cpuMicros: (server.cpuMicros() - cpu) / sent,
		perSecond: (1000 * sent) / (to - from),
		rss: server.rssMegabytes(),
	}
	await server.stop()
	return drained
}

/** Starts a server on a new copy of a queue. */
export type Starting = (queue: 'healthy' | 'all') => Promise<Server>

interface Measured {
	readonly database: string
	readonly events: number
	readonly rounds: number
	/** The JSON text of an event. */
	readonly body: string
	readonly targets: { readonly least: number; readonly goal: number; readonly mostLoss: number }
}

const names = { bare: 'bare loop', healthy: 'Remit, 4 healthy', all: 'and one hangs, one fails' } as const
type Kind = keyof typeof names

export async function drains(receiver: Receiver, start: Starting, measured: Measured): Promise<void> {
	const count = measured.events * healthyCount
	const bodyFile = join(newFolder(`body-${measured.database}`), 'event.json')
	writeFileSync(bodyFile, measured.body)
	const starts: Record<Kind, () => Promise<Server>> = {
		bare: () => startBare(receiver.urls.healthy, bodyFile, count),
		healthy: () => start('healthy'),
		all: () => start('all'),
	}
	const samples: Record<Kind, Drain[]> = { bare: [], healthy: [], all: [] }
	const kinds = Object.keys(starts) as Kind[]
	for (let round = 0; round < measured.rounds; round++) {
		for (let turn = 0; turn < kinds.length; turn++) {
			const kind = kinds[(round + turn) % kinds.length] as Kind
			samples[kind].push(await drain(receiver, count, starts[kind]))
		}
	}
	report(samples, measured)
}

async function startBare(url: string, bodyFile: string, count: number): Promise<Server> {
	const file = join(import.meta.dirname, 'bare.ts')
	const args = ['--max-semi-space-size=4', file, url, bodyFile, String(count), String(concurrency * healthyCount)]
	const server = await startServer('bare loop', args)
	await fetch(server.url)
	return server
}

function report(samples: Record<Kind, readonly Drain[]>, { database, events, body, targets }: Measured): void {
	const middle = (kind: Kind, figure: (drained: Drain) => number) => median(samples[kind].map(figure))
	const ratioTo = (other: Kind, kind: Kind, figure: keyof Drain) =>
		median(samples[kind].map((drained, round) => drained[figure] / (samples[other][round] as Drain)[figure]))
	const rates = (kind: Kind) => samples[kind].map(({ perSecond }) => Math.round(perSecond))
	title(`Deliveries of ${events.toLocaleString('en')} events (${body.length} bytes) to ${healthyCount} endpoints, ${database}`)
	table(
		['', 'a second', 'from', 'to', 'CPU µs each', 'RSS MB', 'of bare', 'its CPU ÷ Remit’s'],
		(Object.keys(names) as Kind[]).map((kind) => [
			names[kind],
			middle(kind, ({ perSecond }) => perSecond).toFixed(0),
			String(Math.min(...rates(kind))),
			String(Math.max(...rates(kind))),
			middle(kind, ({ cpuMicros }) => cpuMicros).toFixed(1),
			middle(kind, ({ rss }) => rss).toFixed(0),
			ratioTo('bare', kind, 'perSecond').toFixed(2),
			(1 / ratioTo('bare', kind, 'cpuMicros')).toFixed(2),
		]),
	)
	// Other work on the machine only slows both, so the best round of each counts.
	const reached = Math.max(...rates('healthy')) / Math.max(...rates('bare'))
	const loss = 1 - ratioTo('healthy', 'all', 'perSecond')
	const { least, goal, mostLoss } = targets
	const share = `deliveries on ${database}: ${reached.toFixed(2)} of the bare loop`
	const lost = `with one that hangs and one that fails the others lose ${(loss * 100).toFixed(1)} %`
	print(`- ${share} (target: ≥ ${least}, goal ${goal}) ${check(share, reached >= least)}`)
	print(`  ${lost} (target: < ${mostLoss * 100} %) ${check(`${database}: ${lost}`, loss < mostLoss)}\n`)
}
