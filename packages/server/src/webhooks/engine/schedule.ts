// When a failed delivery is tried again.
import { jitter, jittered } from '../../work/backoff.ts'

/** The longest delay that a receiver may ask for. */
export const longestWaitMs = 86_400_000

/** The longest wait for an attempt of the schedule. A delivery that is due later was given its time before the clock was set back. */
export const longestWait = (schedule: readonly number[]): number =>
	Math.max(longestWaitMs, ...schedule.map((seconds) => seconds * 1000 * (1 + jitter)))

/**
 * The time of the next attempt in Unix milliseconds, after `made` attempts of the schedule; undefined when the schedule is
 * used up. `retryAfterMs` is the minimum delay that the receiver asked for; `random` is from 0 to 1.
 */
export function nextAttempt(
	schedule: readonly number[],
	made: number,
	now: number,
	{ retryAfterMs = 0, random }: { retryAfterMs?: number; random?: number } = {},
): number | undefined {
	const seconds = schedule[made]
	if (seconds === undefined) return undefined
	const planned = jittered(seconds * 1000, random)
	return Math.round(now + Math.max(planned, retryAfterMs))
}

/** `Date.parse` takes far more: it even reads "tomorrow 2030" as a year. */
const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/**
 * The delay of a `Retry-After` header in milliseconds, a day at most. The header holds seconds or an HTTP date (RFC 9110
 * §10.2.3); undefined when it holds neither.
 */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
	const text = header?.trim() ?? ''
	const wait = /^\d+$/.test(text) ? Number(text) * 1000 : httpDate.test(text) ? Date.parse(text) - now : Number.NaN
	return Number.isNaN(wait) ? undefined : Math.min(Math.max(0, wait), longestWaitMs)
}
