// How often what may change by itself is read again. The requests count for the limit of the person, as those of their other tabs do.

const slowest = 30_000

/** With which of its answers a query began to say the same: what has not changed stays the same object. */
const began = new WeakMap<object, number>()

interface Polled {
	readonly state: { readonly data: object | undefined; readonly dataUpdateCount: number; readonly error: unknown }
}

/** Milliseconds until a query is read again: twice as many after each answer that says the same. A hidden tab reads nothing. */
export function pollDelay({ state: { data, dataUpdateCount, error } }: Polled, first: number): number {
	if (error) return slowest
	if (!data) return first
	if (!began.has(data)) began.set(data, dataUpdateCount)
	return Math.min(first * 2 ** (dataUpdateCount - (began.get(data) as number)), slowest)
}
