// The hosts that webhooks go to. Until a host has answered 2xx, and again once it has failed for long, it is on probation: it may be
// a stranger whom somebody wants to flood, so that it gets one attempt at a time and few an hour, whichever endpoints,
// organizations and processes they are of. A host is proven at the networks where it answered. A network has a row too, as
// `192.0.2.1/32`: until it has answered 2xx under any name, all names share its few attempts an hour, since anybody can make names
// that lead to a stranger.
import { hourMs } from '../../../platform/base/dates.ts'
import { type Db, query } from '../../../platform/db/database.ts'
import { isAnyOf } from '../../../platform/db/records.ts'
import { mayBeTried } from '../probation-store.ts'

interface Admission {
	readonly host: string
	readonly now: number
	readonly hourAgo: number
	readonly leaseEnd: number
}

const admission = query<Admission>((knex, { host, now, hourAgo, leaseEnd }) =>
	knex.raw(
		`insert into webhook_hosts as h (host, "hourBegan", attempts, "leaseUntil") values (?, ?, 1, ?)
		on conflict (host) do update set
			attempts = case when h."hourBegan" <= ? then 1 else h.attempts + 1 end,
			"hourBegan" = case when h."hourBegan" <= ? then excluded."hourBegan" else h."hourBegan" end,
			"leaseUntil" = excluded."leaseUntil"
		where h."provenAt" is null and ${mayBeTried}`,
		[host, now, leaseEnd, hourAgo, hourAgo, now, hourAgo],
	),
)

/** Leases a host or network on probation for one attempt, until `leaseEnd`; false when it must wait, or has just been proven. */
export const admitAttempt = async (db: Db, host: string, now: number, leaseEnd: number): Promise<boolean> =>
	(await db.run(admission, { host, now, hourAgo: now - hourMs, leaseEnd })) > 0

/**
 * Counts an attempt of a proven host to where it is not proven, of which it has 20 an hour; false when it had them. The count is
 * a row of its own: otherwise failures at a closed port would use up what the host gets on probation.
 */
export const admitElsewhere = (db: Db, host: string, now: number): Promise<boolean> => admitAttempt(db, `${host}/`, now, 0)

const provenAmong = query<{ hosts: readonly string[] }, { host: string }>((knex, { hosts }, dialect) =>
	knex('webhook_hosts').whereRaw(isAnyOf('host', dialect), [hosts]).whereNotNull('provenAt').select('host'),
)

/** A name may have more addresses than an attempt can try. */
const mostNetworks = 8

/**
 * The networks that a probe may reach: those in `known`, where its host is proven, those that have answered any
 * host, and those that have had few attempts this hour, which this one is counted for.
 */
export async function admitNetworks(db: Db, known: readonly string[], all: readonly string[], now: number): Promise<string[]> {
	const networks = all.slice(0, mostNetworks)
	const open = new Set(known)
	const isClosed = (network: string) => !open.has(network)
	const openProven = async (hosts: readonly string[]) => {
		for (const { host } of await db.all(provenAmong, { hosts })) open.add(host)
	}
	await openProven(networks)
	// In one order in every process, so that none waits for a row that another holds.
	for (const network of networks.filter(isClosed).sort()) if (await admitAttempt(db, network, now, 0)) open.add(network)
	// One that another attempt has just proven admits none.
	const refused = networks.filter(isClosed)
	if (refused.length > 0) await openProven(refused)
	return networks.filter((network) => open.has(network))
}

const proof = query<{ host: string; networks: string; now: number }>((knex, { host, networks, now }) =>
	knex.raw(
		`insert into webhook_hosts as h (host, networks, "provenAt", "hourBegan", attempts, "leaseUntil") values (?, ?, ?, 0, 0, 0)
		on conflict (host) do update set "provenAt" = excluded."provenAt", "lapsedAt" = null,
			networks = excluded.networks, "leaseUntil" = 0,
			attempts = case when h."provenAt" is null and h.attempts > 0 then h.attempts - 1 else h.attempts end`,
		[host, networks, now],
	),
)

/**
 * Ends the probation of hosts, each with the networks where it has answered 2xx. The attempt that did it does not count: a
 * receiver may have more addresses than attempts an hour. Earlier ones do, lest a name begin anew by leading here and there.
 */
export async function proveHosts(db: Db, proven: ReadonlyMap<string, readonly string[]>, now: number): Promise<void> {
	const rows = new Map([...proven.values()].flat().map((network): [string, readonly string[]] => [network, []]))
	for (const [host, networks] of proven) rows.set(host, networks)
	for (const [host, networks] of [...rows].sort(([one], [other]) => (one < other ? -1 : 1)))
		await db.run(proof, { host, networks: JSON.stringify(networks), now })
}

type Lapse = { hosts: readonly string[]; before: number; lapsedAt: number | null }
const lapse = (changes: object) =>
	query<Lapse>((knex, { hosts, before, lapsedAt }, dialect) =>
		knex('webhook_hosts')
			.whereRaw(isAnyOf('host', dialect), [hosts])
			// Another process may have proven it since.
			.where('provenAt', '<=', before)
			.update({ provenAt: null, lapsedAt, leaseUntil: 0, ...changes }),
	)
const lapseEverywhere = lapse({ networks: '[]', hourBegan: 0, attempts: 0 })
/** Keeps the count: otherwise a name that goes back and forth would begin anew each time. */
const lapseElsewhere = lapse({})

/** Puts hosts back on probation that have failed for long. */
export const lapseHosts = (db: Db, hosts: readonly string[], now: number) =>
	db.run(lapseEverywhere, { hosts, before: now - hourMs, lapsedAt: now })

/**
 * Puts a host on probation that was proven by `before`, and leads to networks where it is not. None of its endpoints has a pass: a
 * name that goes back and forth would give each of them a new one.
 */
export const lapseMovedHost = (db: Db, host: string, before: number) =>
	db.run(lapseElsewhere, { hosts: [host], before, lapsedAt: null })

type Wait = { hosts: readonly string[]; unlessBelow: number; from: number; eachMs: number }

const wait = query<Wait>((knex, { hosts, unlessBelow, from, eachMs }, dialect) => {
	const number = 'cast(? as bigint)'
	const until = `case when attempts < ${number} then 0 else ${number} + attempts * ${number} end`
	return knex('webhook_hosts')
		.whereRaw(isAnyOf('host', dialect), [hosts])
		.whereNull('provenAt')
		.update({ leaseUntil: knex.raw(until, [unlessBelow, from, eachMs]) })
})

/** Lets hosts on probation wait. */
export const holdHosts = (db: Db, hosts: readonly string[], until: number) =>
	db.run(wait, { hosts, unlessBelow: 0, from: until, eachMs: 0 })

/** So many attempts of an hour follow each other at once; the others are spread over 45 minutes of it. */
const attemptsInARow = 5
const restAfterEachMs = 15_000

/**
 * Ends the lease of hosts whose attempt failed, which rest the longer the more attempts they have had: a receiver that begins to work
 * while events wait for it would otherwise have used up its hour in seconds.
 */
export const restHosts = (db: Db, hosts: readonly string[], now: number) =>
	db.run(wait, { hosts, unlessBelow: attemptsInARow, from: now, eachMs: restAfterEachMs })
