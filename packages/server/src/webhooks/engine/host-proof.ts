// What the attempts of a batch say of their hosts.
import type { Db } from '../../db/database.ts'
import { proveHosts, releaseHosts } from './host-store.ts'

interface EndedAttempt {
	readonly target: { readonly host: string; readonly provenAt: number | null }
	readonly failed: boolean
}

/** Proves hosts that answered 2xx, and lets the others on probation have their next attempt. */
export async function noteHosts(db: Db, attempts: readonly EndedAttempt[], now: number): Promise<void> {
	const [proven, others] = [new Set<string>(), new Set<string>()]
	for (const { target, failed } of attempts) {
		if (target.provenAt === null) (failed ? others : proven).add(target.host)
	}
	if (proven.size > 0) await proveHosts(db, [...proven], now)
	const waiting = [...others].filter((host) => !proven.has(host))
	if (waiting.length > 0) await releaseHosts(db, waiting)
}
