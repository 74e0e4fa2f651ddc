// Work that must not get lost although the database fails.
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '../base/errors.ts'

/** How long a caller waits for the database, in pauses between the attempts. */
const pausesMs = [50, 200, 750]
const backgroundPauseMs = 1_000
/** Ten minutes in the background. */
const backgroundTries = 600

/**
 * Runs work that succeeds as soon as the database does, and that may run again after it has succeeded. Throws the error of the
 * last attempt that the caller waits for; the work is then repeated in the background, until it succeeds or the process ends.
 */
export async function persist<T>(work: () => Promise<T>): Promise<T> {
	for (const pause of pausesMs) {
		try {
			return await work()
		} catch (error) {
			if (error instanceof ApiError) throw error
			await sleep(pause)
		}
	}
	return work().catch((error) => {
		if (!(error instanceof ApiError)) void repeat(work)
		throw error
	})
}

async function repeat(work: () => Promise<unknown>): Promise<void> {
	for (let tried = 0; tried < backgroundTries; tried++) {
		await sleep(backgroundPauseMs, undefined, { ref: false })
		const done = await work().then(
			() => true,
			(error) => error instanceof ApiError,
		)
		if (done) return
	}
}
