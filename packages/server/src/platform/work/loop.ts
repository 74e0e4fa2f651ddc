// Repeats background work, which has no request.
import type { Logger } from 'pino'

type Work = (signal: AbortSignal) => Promise<unknown>

export interface Loop {
	/** Starts no further run, and waits for the one under way. */
	stop(): Promise<void>
}

async function run(work: Work, { signal }: AbortController, log: Logger): Promise<void> {
	try {
		await work(signal)
	} catch (err) {
		log.error({ err }, 'background work failed')
	}
}

/** Runs the work every `ms` milliseconds; skips a run while the previous one is still going. `stop` aborts the signal. */
export function every(ms: number, work: Work, log: Logger): Loop {
	const ending = new AbortController()
	let running: Promise<unknown> | undefined
	const timer = setInterval(() => {
		running ??= run(work, ending, log).finally(() => {
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

/** Runs the work once, at the start. `stop` aborts the signal; `ended` resolves when the work has ended, however it did. */
export function once(work: Work, log: Logger): Loop & { readonly ended: Promise<void> } {
	const ending = new AbortController()
	const running = run(work, ending, log)
	return {
		ended: running,
		async stop() {
			ending.abort()
			await running
		},
	}
}
