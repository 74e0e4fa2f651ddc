// SQLite has one writer at a time, which for a moment may be another process (the CLI, a second server). Waiting inside SQLite
// would block every request of this process, so we try again instead.
import { setTimeout as sleep } from 'node:timers/promises'

const patienceMs = 10_000
const pauseMs = 5

/** Runs a step that needs the write lock, and repeats it while another process holds the lock. */
export async function whenFree<T>(step: () => T | Promise<T>): Promise<T> {
	for (const deadline = performance.now() + patienceMs; ; await sleep(pauseMs)) {
		try {
			return await step()
		} catch (error) {
			const { code } = error as { code?: unknown }
			const busy = typeof code === 'string' && code.startsWith('SQLITE_BUSY')
			if (!busy || performance.now() > deadline) throw error
		}
	}
}
