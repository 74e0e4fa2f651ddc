// When something that failed is tried again.

/** Of the time between attempts: 5 s after the first failure, then twice as long each time, up to a quarter of an hour. */
const first = 5_000
const longest = 900_000

/** How far a delay may deviate, so that what failed together is not tried again together. */
export const jitter = 0.2

/** A delay and its jitter; `random` is from 0 to 1. */
export const jittered = (ms: number, random = Math.random()): number => ms * (1 + jitter * (2 * random - 1))

/** The delay in milliseconds after so many failures in a row. */
export const backoff = (failures: number, random?: number): number =>
	Math.round(jittered(Math.min(longest, first * 2 ** Math.min(30, failures - 1)), random))
