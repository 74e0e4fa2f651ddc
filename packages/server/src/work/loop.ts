// Repeats background work, which has no request.
import type { Logger } from 'pino'

export interface Loop {
	/** Starts no further run, and waits for the one under way. */
	stop(): Promise<void>
}

/** Runs the work every `ms` milliseconds; skips a run while the previous one is still going. */
export function every(ms: number, work: () => Promise<unknown>, log: Logger): Loop {
	let running: Promise<unknown> | undefined
	const timer = setInterval(() => {
		running ??= work()
			.catch((err) => log.error({ err }, 'background work failed'))
			.finally(() => {
				running = undefined
			})
	}, ms).unref()
	return {
		async stop() {
			clearInterval(timer)
			await running
		},
	}
}
