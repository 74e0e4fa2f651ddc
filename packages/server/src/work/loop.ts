// Work that is done again and again, without a request.
import type { Logger } from 'pino'

export interface Loop {
	/** Begins no other turn, and waits for the one under way. */
	stop(): Promise<void>
}

/** Does the work every so many milliseconds; skips a turn while the last one is not done. */
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
