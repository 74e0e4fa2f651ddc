// One signal that aborts a call when the caller's signal does, or after the timeout. AbortSignal.any and AbortSignal.timeout cannot
// be released, and pile up on a long-lived signal in Node 20.
import { RemitError, TimeoutError } from './errors.ts'

export interface Deadline {
	/** Aborts with the reason of the caller's signal, or with a TimeoutError. */
	readonly signal: AbortSignal
	release(): void
}

/** `setTimeout` takes 31 bits of milliseconds; with a longer delay, such as `Infinity`, it would fire at once. */
const longestTimer = 2 ** 31 - 1

export function startDeadline(timeout: number, callerSignal: AbortSignal | undefined): Deadline {
	checkTimeout(timeout)
	callerSignal?.throwIfAborted()
	const controller = new AbortController()
	const abort = () => controller.abort(callerSignal?.reason)
	callerSignal?.addEventListener('abort', abort)
	const timer = setTimeout(() => controller.abort(new TimeoutError(timeout)), Math.min(timeout, longestTimer))
	return {
		signal: controller.signal,
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
