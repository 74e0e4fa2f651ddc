// Starts the sink of the webhooks (sink.ts) as a child process, which runs on the driver's core.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { atEnd } from '../resources.ts'

/**
 * The URLs of endpoints that answer 204, answer 500, ask for a pause, or never answer. Each has its own origin, as receivers do.
 */
export type Urls = Readonly<Record<'healthy' | 'failing' | 'pausing' | 'hung', string>>

/**
 * Asks how many webhooks have arrived. With `counts`, in rising order, the sink starts from zero and tells when each is reached.
 */
export interface SinkRequest {
	readonly counts?: readonly number[]
}

interface Arrival {
	readonly count: number
	readonly at: number
}

export type SinkMessage = { readonly urls: Urls } | { readonly arrived: number } | Arrival

/** The monotonic clock in milliseconds, which all processes of the machine share. */
export const nowMs = () => Number(process.hrtime.bigint() / 1_000n) / 1_000

export interface Receiver {
	readonly urls: Urls
	/** Starts counting from zero. The promises give the times at which each count is reached. */
	expect(...counts: number[]): Promise<readonly Promise<number>[]>
	/** The number of webhooks that have arrived. */
	arrived(): Promise<number>
}

export async function startReceiver(): Promise<Receiver> {
	const child = fork(join(import.meta.dirname, 'sink.ts'))
	atEnd(() => child.kill('SIGKILL'))
	const [{ urls }] = (await once(child, 'message')) as [{ urls: Urls }]
	let awaited = new Map<number, (at: number) => void>()
	let answer = (_arrived: number) => {}
	child.on('message', (message: SinkMessage) => {
		if ('arrived' in message) answer(message.arrived)
		else if ('count' in message) awaited.get(message.count)?.(message.at)
	})
	const ask = (request: SinkRequest) =>
		new Promise<number>((resolve) => {
			answer = resolve
			child.send(request)
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
