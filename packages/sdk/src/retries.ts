// Which failed calls are made again, and after what pause.
import { ApiError, ConnectionError, secondsOf } from './errors.ts'

/**
 * Why a call that changes something can be made again, though the first may have had its effect: the server does a call with a `key` once,
 * and `same` sets or removes the same again.
 */
export type Repeat = 'key' | 'same'

const passingStatuses = [408, 429, 502, 503, 504]
const passingCodes: unknown[] = ['outcome_unknown', 'idempotency_key_in_use']

/** Whether the same call may succeed a little later. */
export const isPassing = (error: unknown): boolean =>
	error instanceof ApiError
		? passingStatuses.includes(error.status) || passingCodes.includes(error.code)
		: error instanceof ConnectionError

const firstPauseMs = 500

/**
 * Milliseconds until the next try: what the server says, else up to twice as long after each try, at random, so that callers who failed
 * together do not come back together.
 */
export const pauseAfter = (error: unknown, tries: number): number =>
	(error instanceof ApiError ? pauseOf(error) : undefined) ?? Math.random() * firstPauseMs * 2 ** tries

function pauseOf({ status, headers }: ApiError): number | undefined {
	const after = secondsOf(headers.get('retry-after'))
	if (after !== undefined) return after * 1000
	const reset = headers.get('x-ratelimit-reset')
	if (status !== 429 || !reset || !/^\d+$/.test(reset)) return undefined
	// By the server's clock, which may differ from this one.
	const now = Date.parse(headers.get('date') ?? '')
	return Math.max(0, Number(reset) * 1000 - (Number.isNaN(now) ? Date.now() : now))
}

/** An Idempotency-Key. `crypto.randomUUID` is missing in pages without https. */
export const newKey = (): string =>
	Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
