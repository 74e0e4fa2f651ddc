// Where a host is proven: its name may lead elsewhere at any time, so that an answer counts for the network that gave it.
import { dayMs, hourMs } from '../../../platform/base/dates.ts'
import type { Database, Db } from '../../../platform/db/database.ts'
import type { Admit } from '../../../platform/outside/dispatchers.ts'
import { useEndpointPass } from '../endpoint-store.ts'
import type { Target } from './claim-store.ts'
import { admitAttempt, admitElsewhere, admitNetworks, holdHosts, lapseMovedHost, proveHosts, restHosts } from './host-store.ts'

/** How long a host waits whose networks have had their attempts of the hour. */
const holdMs = 300_000

/** A proof is written again when it is as old: what has not answered for long is then forgotten. */
const renewMs = dayMs

/** Networks to remember of a host, the newest ones. */
const maxNetworks = 32

interface EndedAttempt {
	readonly target: Target
	readonly failed: boolean
	readonly heldBack: boolean
	readonly unreached: boolean
	readonly network: string | undefined
	readonly result: { readonly startedAt: number }
}

const networksOf = ({ networks }: Target): string[] => JSON.parse(networks ?? '[]')

/**
 * Whether the endpoint may get one attempt past the probation: its host failed for long, but it did not. The failures of others
 * on a shared host would otherwise hold it back.
 */
export const hasPass = ({ provenAt, lapsedAt, worksSince }: Target): boolean =>
	provenAt === null && lapsedAt !== null && worksSince !== null

/**
 * Admits one attempt to a host on probation: by the endpoint's pass, which is used up until it succeeds, or by a lease on the host
 * until `leaseEnd`. False when the attempt must wait.
 */
export const admitOne = (db: Db, target: Target, now: number, leaseEnd: number): Promise<boolean> =>
	hasPass(target) ? useEndpointPass(db, target) : admitAttempt(db, target.host, now, leaseEnd)

/**
 * Where an attempt may go: to the networks where its host is proven, and when it is on probation or `isProbe`, also to those that
 * admit one more attempt.
 */
export function reachOf(target: Target, db: Database, now: () => number, isProbe: boolean): readonly string[] | Admit {
	const known = networksOf(target)
	const { host, provenAt } = target
	if (provenAt !== null && !isProbe) return known
	return async (networks) => {
		const own = networks.filter((network) => known.includes(network))
		if (own.length === networks.length) return own
		const admit = async (tx: Db) =>
			provenAt === null || (await admitElsewhere(tx, host, now())) ? admitNetworks(tx, known, networks, now()) : []
		// A power cut may undo the count of an attempt. Without the database nothing that counts is dialled.
		return [...own, ...(await db.transaction(admit, { durable: false }).catch(() => []))]
	}
}

/**
 * Proves hosts that answered 2xx, and proven ones where a probe of them did, puts a proven one that now leads elsewhere alone on
 * probation, and ends the lease of the others.
 */
export async function noteHosts(db: Db, attempts: readonly EndedAttempt[], now: number): Promise<void> {
	const proven = new Map<string, readonly string[]>()
	const moved = new Map<string, number>()
	const [held, others] = [new Set<string>(), new Set<string>()]
	for (const { target, failed, heldBack, unreached, network, result } of attempts) {
		const { host, provenAt } = target
		if (!failed) {
			const known = proven.get(host) ?? networksOf(target)
			const isNew = network !== undefined && !known.includes(network)
			if (!isNew && provenAt !== null && provenAt > now - renewMs) continue
			const older = known.filter((one) => one !== network)
			proven.set(host, [...older, ...(network === undefined ? [] : [network])].slice(-maxNetworks))
		} else if (provenAt === null) {
			// An attempt by a pass has no lease of the host to give back.
			if (!hasPass(target)) (heldBack ? held : others).add(host)
		} else if (heldBack && !unreached) moved.set(host, Math.max(result.startedAt, moved.get(host) ?? 0))
	}
	if (proven.size > 0) await proveHosts(db, proven, now)
	for (const [host, before] of [...moved].sort()) await lapseMovedHost(db, host, before)
	if (held.size > 0) await holdHosts(db, [...held], now + holdMs)
	const waiting = [...others].filter((host) => !proven.has(host))
	if (waiting.length > 0) await restHosts(db, waiting, now)
}

/** Both must be passed: a busy receiver fails often in a short outage, and a quiet one fails for long with few attempts. */
const failuresInARow = 50
const failingMs = hourMs

/** Hosts to remember; beyond that, the one that has failed for longest is forgotten. */
const maxHosts = 10_000

/**
 * Finds the proven hosts that answer no longer, which go back on probation: a name may lead to a stranger later. Each process counts in
 * memory, and only while a host fails, so that one that works costs nothing.
 */
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
