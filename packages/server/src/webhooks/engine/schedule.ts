// When a delivery that failed is tried again.

/** How far a delay may be from the schedule's, so that what failed together does not come back together. */
const jitter = 0.2

/** No receiver puts a delivery off for longer. */
const longestWaitMs = 86_400_000

/**
 * The time of the next attempt in Unix milliseconds, after `made` attempts of the schedule; undefined when they are used
 * up. `retryAfterMs` is the least that the receiver asked for; `random` is from 0 to 1.
 */
export function nextAttempt(
	schedule: readonly number[],
	made: number,
	now: number,
	{ retryAfterMs = 0, random = Math.random() }: { retryAfterMs?: number; random?: number } = {},
): number | undefined {
	const seconds = schedule[made]
	if (seconds === undefined) return undefined
	const planned = seconds * 1000 * (1 + jitter * (2 * random - 1))
	return Math.round(now + Math.max(planned, retryAfterMs))
}

/** `Date.parse` takes far more, and "tomorrow 2030" for a year. */
const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/**
 * The wait that a `Retry-After` asks for, in milliseconds: seconds or an HTTP date (RFC 9110 §10.2.3), a day at most.
 * Undefined when it is neither.
 */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
	const text = header?.trim() ?? ''
	const wait = /^\d+$/.test(text) ? Number(text) * 1000 : httpDate.test(text) ? Date.parse(text) - now : Number.NaN
	return Number.isNaN(wait) ? undefined : Math.min(Math.max(0, wait), longestWaitMs)
}
