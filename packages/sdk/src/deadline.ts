// One signal that aborts a call when the caller's signal does, or after the timeout. AbortSignal.any and AbortSignal.timeout cannot
// be released, and pile up on a long-lived signal in Node 20.
import { RemitError, TimeoutError } from './errors.ts'

export interface Deadline {
	/** Aborts with the reason of the caller's signal, or with a TimeoutError. */
	readonly signal: AbortSignal
	/** Milliseconds until the timeout. */
	left(): number
	release(): void
}

/** `setTimeout` takes 31 bits of milliseconds; with a longer delay, such as `Infinity`, it would fire at once. */
const longestTimer = 2 ** 31 - 1

export function startDeadline(timeout: number, callerSignal: AbortSignal | undefined): Deadline {
	checkTimeout(timeout)
	callerSignal?.throwIfAborted()
	const controller = new AbortController()
	const end = performance.now() + timeout
	const abort = () => controller.abort(callerSignal?.reason)
	callerSignal?.addEventListener('abort', abort)
	const timer = setTimeout(() => controller.abort(new TimeoutError(timeout)), Math.min(timeout, longestTimer))
	return {
		signal: controller.signal,
		left: () => end - performance.now(),
		release() {
			clearTimeout(timer)
			callerSignal?.removeEventListener('abort', abort)
		},
	}
}

export function checkTimeout(timeout: number): void {
	if (typeof timeout === 'number' && timeout > 0) return
	throw new RemitError(`timeout must be a number of milliseconds above 0, or Infinity; it is ${String(timeout)}`)
}

export function checkRetries(retries: number): void {
	if (Number.isInteger(retries) && retries >= 0) return
	throw new RemitError(`maxRetries must be a whole number from 0; it is ${String(retries)}`)
}

/** Rejects with the signal's reason when it aborts. */
export function rest(ms: number, signal: AbortSignal | undefined): Promise<void> {
	return new Promise((resolve, reject) => {
		if (signal?.aborted) return reject(signal.reason)
		const abort = () => {
			clearTimeout(timer)
			reject(signal?.reason)
		}
		const timer = setTimeout(() => {
			signal?.removeEventListener('abort', abort)
			resolve()
		}, ms)
		signal?.addEventListener('abort', abort, { once: true })
	})
}
