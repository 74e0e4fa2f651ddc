import { vi } from 'vitest'
import { query } from '../src/platform/db/database.ts'
import type { TestServer } from './harness.ts'

interface Host {
	readonly attempts: number
	readonly leaseUntil: number
}

const probation = query<{ host: string }, Host>((knex, { host }) =>
	knex('webhook_hosts').where({ host, provenAt: null }).select('attempts', 'leaseUntil'),
)

/** Longer than the lease of an attempt, and shorter than the rest after one. */
const leaseMs = 60_000

/** Resolves once a host on probation has had so many attempts of the hour, the last of which has ended; its rests are passed over. */
export async function untilTried({ clock, db }: TestServer, host: string, count = 20): Promise<void> {
	const isDone = async () => {
		const { attempts, leaseUntil } = (await db.get(probation, { host })) ?? { attempts: 0, leaseUntil: 0 }
		const isResting = leaseUntil > clock.now + leaseMs
		if (isResting && attempts >= count) return true
		if (isResting) {
			clock.now = leaseUntil
			// Any commit wakes the engine, which would otherwise look a quarter of a second later.
			await db.transaction(async () => {})
		}
		return false
	}
	await vi.waitUntil(isDone, { timeout: 20_000, interval: 5 })
}
