// What probation allows, as SQL about a host `h` (`webhook_hosts`) and an endpoint `p` there (`webhook_endpoints`): the engine makes its
// attempts by it, and deliveries show it. And what ends a host's waiting.
import { hourMs } from '../../platform/base/dates.ts'
import { type Db, type Dialect, query } from '../../platform/db/database.ts'
import { isAnyOf } from '../../platform/db/records.ts'
import { isLeased } from '../../platform/events/fan-out-store.ts'

const attemptsAnHour = 20

/** SQL: whether the host `h`, which is on probation, may get an attempt. It takes `now` and `hourAgo`. */
export const mayBeTried = `h."leaseUntil" <= ? and (h."hourBegan" <= ? or h.attempts < ${attemptsAnHour})`

const latest = (dialect: Dialect, ...times: string[]) => `${dialect === 'sqlite' ? 'max' : 'greatest'}(${times.join(', ')})`

/** SQL: from when on it may be tried, in Unix milliseconds. */
const mayBeTriedFrom = (dialect: Dialect) =>
	latest(dialect, 'h."leaseUntil"', `case when h.attempts < ${attemptsAnHour} then 0 else h."hourBegan" + ${hourMs} end`)

/** SQL: whether the endpoint `p` has a pass: it may get an attempt although its host `h` has lapsed, whatever else `h` gets. */
export const hasPass = `(h."lapsedAt" is not null and p."worksSince" is not null)`

/** SQL: whether probation holds the endpoint `p` back at no time. */
const isFree = `(h."provenAt" is not null or ${hasPass})`

const ofDelivery = `from webhook_endpoints p join webhook_hosts h on h.host = p.host
	where p."organizationId" = webhook_deliveries."organizationId" and p.id = webhook_deliveries."endpointId"`

/** SQL: whether a delivery waits for its host to answer. PostgreSQL might read all endpoints and hosts for an `exists`. */
export const isOnProbation = `(status in ('pending', 'retrying') and not ${isLeased} and coalesce((select not ${isFree} ${ofDelivery}), true))`

/** SQL: when a delivery that waits is attempted, at the earliest; null when it is done, under way, or behind another. */
export const attemptedFrom = (dialect: Dialect) => {
	const hostMayBeTriedFrom = `coalesce((select ${mayBeTriedFrom(dialect)} ${ofDelivery} and not ${isFree}), 0)`
	return `case when "nextAttemptAt" is not null and not ${isLeased} then ${latest(dialect, '"nextAttemptAt"', hostMayBeTriedFrom)} end`
}

const release = query<{ hosts?: readonly string[] }>((knex, { hosts }, dialect) => {
	const held = knex('webhook_hosts').where('leaseUntil', '>', 0)
	if (hosts !== undefined) held.whereRaw(isAnyOf('host', dialect), [hosts])
	return held.update({ leaseUntil: 0 })
})

/** Ends the waiting of hosts on probation; without hosts, of all, since the process has ended that leased them. */
export const releaseHosts = (db: Db, hosts?: readonly string[]) => db.run(release, hosts === undefined ? {} : { hosts })
