// The sink of the webhooks as the bench sees it: a child, which keeps to the driver's core.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { atEnd } from '../resources.ts'

/** Where to send what is answered, fails, is to come after a pause, or gets no answer: each its own origin, as receivers are. */
export type Urls = Readonly<Record<'healthy' | 'failing' | 'pausing' | 'hung', string>>

/** Asks how many have arrived; with counts, begins at zero and says when so many have, in rising order. */
export interface Asked {
	readonly counts?: readonly number[]
}

interface Arrival {
	readonly count: number
	readonly at: number
}

export type Said = { readonly urls: Urls } | { readonly arrived: number } | Arrival

/** Milliseconds of the clock that all processes of the machine share. */
export const nowMs = () => Number(process.hrtime.bigint() / 1_000n) / 1_000

export interface Receiver {
	readonly urls: Urls
	/** Begins at zero. The promises give the times at which so many have arrived. */
	expect(...counts: number[]): Promise<readonly Promise<number>[]>
	/** How many have arrived. */
	arrived(): Promise<number>
}

export async function startReceiver(): Promise<Receiver> {
	const child = fork(join(import.meta.dirname, 'sink.ts'))
	atEnd(() => child.kill('SIGKILL'))
	const [{ urls }] = (await once(child, 'message')) as [{ urls: Urls }]
	let awaited = new Map<number, (at: number) => void>()
	let answer = (_arrived: number) => {}
	child.on('message', (said: Said) => {
		if ('arrived' in said) answer(said.arrived)
		else if ('count' in said) awaited.get(said.count)?.(said.at)
	})
	const ask = (asked: Asked) =>
		new Promise<number>((resolve) => {
			answer = resolve
			child.send(asked)
		})
	return {
		urls,
		async expect(...counts) {
			const arrivals = counts.map((count) => ({ count, ...Promise.withResolvers<number>() }))
			await ask({ counts })
			awaited = new Map(arrivals.map(({ count, resolve }) => [count, resolve]))
			return arrivals.map(({ promise }) => promise)
		},
		arrived: () => ask({}),
	}
}
