// The hosts that webhooks go to. Until a host has answered 2xx, and again once it has failed for long, it is on probation: it may be
// a stranger whom somebody wants to flood, so that it gets one attempt at a time and few an hour, whichever endpoints,
// organizations and processes they are of.
import { hourMs } from '../../base/dates.ts'
import { type Db, query } from '../../db/database.ts'
import { isAnyOf } from '../../db/records.ts'

const attemptsAnHour = 20

/** SQL: whether the host `h`, which is on probation, may get an attempt. It takes `now` and `hourAgo`. */
export const mayBeTried = `h."leaseUntil" <= ? and (h."hourBegan" <= ? or h.attempts < ${attemptsAnHour})`

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

/** Leases a host on probation for one attempt, until `leaseEnd`; false when it must wait, or has just been proven. */
export const admitAttempt = async (db: Db, host: string, now: number, leaseEnd: number): Promise<boolean> =>
	(await db.run(admission, { host, now, hourAgo: now - hourMs, leaseEnd })) > 0

const proof = query<{ host: string; now: number }>((knex, { host, now }) =>
	knex.raw(
		`insert into webhook_hosts as h (host, "provenAt", "hourBegan", attempts, "leaseUntil") values (?, ?, 0, 0, 0)
		on conflict (host) do update set "provenAt" = excluded."provenAt", "leaseUntil" = 0`,
		[host, now],
	),
)

/** Ends the probation of hosts, which have answered 2xx. */
export async function proveHosts(db: Db, hosts: readonly string[], now: number): Promise<void> {
	// In one order in every process, so that none waits for a row that another holds.
	for (const host of [...hosts].sort()) await db.run(proof, { host, now })
}

const lapse = query<{ hosts: readonly string[]; before: number }>((knex, { hosts, before }, dialect) =>
	knex('webhook_hosts')
		.whereRaw(isAnyOf('host', dialect), [hosts])
		// Another process may have proven it since.
		.where('provenAt', '<=', before)
		.update({ provenAt: null, leaseUntil: 0, hourBegan: 0, attempts: 0 }),
)

/** Puts hosts back on probation that have failed for long. */
export const lapseHosts = (db: Db, hosts: readonly string[], now: number) => db.run(lapse, { hosts, before: now - hourMs })

const release = query<{ hosts?: readonly string[] }>((knex, { hosts }, dialect) => {
	const held = knex('webhook_hosts').where('leaseUntil', '>', 0)
	if (hosts !== undefined) held.whereRaw(isAnyOf('host', dialect), [hosts])
	return held.update({ leaseUntil: 0 })
})

/** Lets hosts on probation have their next attempt; without hosts, all that an ended process left under a lease. */
export const releaseHosts = (db: Db, hosts?: readonly string[]) => db.run(release, hosts === undefined ? {} : { hosts })
