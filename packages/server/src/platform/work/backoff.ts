// When something that failed is tried again.

/** Of the time between attempts: 5 s after the first failure, then twice as long each time, up to a quarter of an hour. */
const first = 5_000
const longest = 900_000

/** How far a delay may deviate, so that what failed together is not tried again together. */
const jitter = 0.2

/** A delay and its jitter; `random` is from 0 to 1. */
const jittered = (ms: number, random = Math.random()): number => ms * (1 + jitter * (2 * random - 1))

/** The delay in milliseconds after so many failures in a row. */
export const backoff = (failures: number, random?: number): number =>
	Math.round(jittered(Math.min(longest, first * 2 ** Math.min(30, failures - 1)), random))

/** The longest delay that the other side may ask for. */
const longestWaitMs = 86_400_000

/** The longest wait for an attempt of the schedule. What is due later was given its time before the clock was set back. */
export const longestWait = (schedule: readonly number[]): number =>
	Math.max(longestWaitMs, ...schedule.map((seconds) => seconds * 1000 * (1 + jitter)))

/**
 * The time of the next attempt in Unix milliseconds, after `made` attempts of the schedule; undefined when the schedule is
 * used up. `retryAfterMs` is the minimum delay that the other side asked for; `random` is from 0 to 1.
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

/** A time in which the other side wants no calls, in Unix milliseconds. */
export interface Pause {
	readonly from: number
	readonly until: number
}

export const noPause: Pause = { from: 0, until: 0 }

/** By how much the time that a caller knows may be behind: a request goes by the time at which it began. */
const behindMs = 120_000

/** Further before its begin it is only when the clock was set back: it may have ended long ago, and is not to hold calls again. */
export const isPaused = ({ from, until }: Pause, now: number): boolean => from - behindMs <= now && now < until
