// Finds the proven hosts that answer no longer, which go back on probation: a name may lead to a stranger later. Each process counts
// in memory, and only while a host fails, so that one that works costs nothing.
import { hourMs } from '../../base/dates.ts'

/** Both must be passed: a busy receiver fails often in a short outage, and a quiet one fails for long with few attempts. */
const failuresInARow = 50
const failingMs = hourMs

/** Hosts to remember; beyond that, the one that has failed for longest is forgotten. */
const maxHosts = 10_000

export class HostFailures {
	readonly #failing = new Map<string, { failures: number; readonly since: number }>()

	/** Notes an attempt that has ended. */
	note({ host, provenAt }: { readonly host: string; readonly provenAt: number | null }, failed: boolean, now: number): void {
		if (!failed) this.#failing.delete(host)
		else if (provenAt !== null) {
			const row = this.#failing.get(host)
			if (row) row.failures++
			else this.#begin(host, now)
		}
	}

	#begin(host: string, now: number): void {
		const [oldest] = this.#failing.keys()
		if (oldest !== undefined && this.#failing.size >= maxHosts) this.#failing.delete(oldest)
		this.#failing.set(host, { failures: 1, since: now })
	}

	/** The hosts that have failed too often and for too long. */
	lapsed(now: number): string[] {
		const hosts: string[] = []
		for (const [host, { failures, since }] of this.#failing)
			if (failures >= failuresInARow && now - since >= failingMs) hosts.push(host)
		return hosts
	}

	forget(hosts: readonly string[]): void {
		for (const host of hosts) this.#failing.delete(host)
	}
}
