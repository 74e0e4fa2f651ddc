// Repeats background work, which has no request.
import type { Logger } from 'pino'

export interface Loop {
	/** Starts no further run, and waits for the one under way. */
	stop(): Promise<void>
}

/** Runs the work every `ms` milliseconds; skips a run while the previous one is still going. `stop` aborts the signal. */
export function every(ms: number, work: (signal: AbortSignal) => Promise<unknown>, log: Logger): Loop {
	const ending = new AbortController()
	let running: Promise<unknown> | undefined
	const timer = setInterval(() => {
		running ??= work(ending.signal)
			.catch((err) => log.error({ err }, 'background work failed'))
			.finally(() => {
				running = undefined
			})
	}, ms).unref()
	return {
		async stop() {
			clearInterval(timer)
			ending.abort()
			await running
		},
	}
}

/** Runs the work once, at the start. `stop` aborts the signal. */
export function once(work: (signal: AbortSignal) => Promise<unknown>, log: Logger): Loop {
	const ending = new AbortController()
	const running = work(ending.signal).catch((err) => log.error({ err }, 'background work failed'))
	return {
		async stop() {
			ending.abort()
			await running
		},
	}
}
