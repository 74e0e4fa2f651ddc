// The queue of deliveries: rows in the database of the events, which platform/events/fan-out-store.ts writes. The engine finds the endpoints for which some are
// due, with what a delivery to them needs, and claims deliveries under a lease. A process that dies loses nothing, since its leases end.
import { hourMs } from '../../../platform/base/dates.ts'
import { asNumber, type Db, query } from '../../../platform/db/database.ts'
import { isAnyOf } from '../../../platform/db/records.ts'
import { RowList } from '../../../platform/db/row-lists.ts'
import { isFree, waitingEndpoints } from '../../../platform/events/fan-out-store.ts'
import type { HealthState } from '../endpoint-store.ts'
import { hasPass, mayBeTried } from '../probation-store.ts'

/** An endpoint with deliveries that are due, and its health. */
export interface Target extends HealthState {
	readonly organizationId: string
	readonly endpointId: string
	readonly version: number
	readonly url: string
	/** The host of the URL. */
	readonly host: string
	/** When the host was last proven; null while it is on probation. */
	readonly provenAt: number | null
	/** When the host went on probation for its failures; null when it is proven, or on probation for another reason. */
	readonly lapsedAt: number | null
	/** JSON: the networks where the host is proven; null when nothing is known of it. */
	readonly networks: string | null
	readonly secret: string
	readonly previousSecret: string | null
	readonly previousSecretExpiresAt: number | null
	/** The headers of its requests, sealed. */
	readonly headers: string | null
	/** When a person last ended what pause its receiver had asked for. */
	readonly resumedAt: number | null
	/** Since when its first delivery is due that nobody holds; not on SQLite. */
	readonly due?: number
}

/** For each of `w` in turn, by two keys: SQLite might begin with all endpoints, and PostgreSQL has the same in mind while there are few. */
const endpointAndHost = {
	sqlite: `cross join webhook_endpoints as p on p."organizationId" = w.o and p.id = w.e left join webhook_hosts as h on h.host = p.host`,
	postgres: `cross join lateral (select * from webhook_endpoints where "organizationId" = w.o and id = w.e limit 1) as p
		left join lateral (select * from webhook_hosts where host = p.host limit 1) as h on true`,
}

/** `offset 0`, since PostgreSQL would look for `due` once more where it is selected. */
const waitingOnce = {
	sqlite: 'select o, e from waiting where due <= ?',
	postgres: 'select * from (select o, e, due from waiting offset 0) as once where due <= ?',
}

const targets = query<{ now: number; hourAgo: number }, Target>((knex, { now, hourAgo }, dialect) =>
	knex
		.from(knex.raw(`(with recursive ? ${waitingOnce[dialect]}) as w`, [waitingEndpoints(knex, dialect, now), now]))
		.joinRaw(endpointAndHost[dialect])
		// As an expression: the index of statuses would hold all endpoints of the organization.
		.whereRaw(`p.status || '' = 'active'`)
		.whereNull('p.deletedAt')
		.whereNull('p.skipUpTo')
		.whereRaw(`(h.host is null or h."provenAt" is not null or ${hasPass} or (${mayBeTried}))`, [now, hourAgo])
		.select('p.organizationId', 'p.id as endpointId', 'p.version', 'p.url', 'p.host', 'h.provenAt', 'h.lapsedAt', 'h.networks')
		.select('p.failingSince', 'p.warnedAt', 'p.worksSince', 'p.resumedAt')
		.select('p.secret', 'p.previousSecret', 'p.previousSecretExpiresAt', 'p.headers')
		.select(dialect === 'sqlite' ? [] : ['w.due']),
)

/** The active endpoints with deliveries that are due, whatever others there are; but those whose host is on probation and must wait, unless they have a pass. */
export const findTargets = (db: Db, now: number) => db.all(targets, { now, hourAgo: now - hourMs })

/** A delivery that was claimed. */
export interface ClaimedDelivery {
	readonly organizationId: string
	readonly endpointId: string
	readonly deliveryId: string
	readonly eventId: string
	readonly resourceId: string
	/** Of the event in its record. */
	readonly sequence: number
	readonly retryCount: number
	/** Attempts so far. */
	readonly attemptCount: number
	/** When the schedule has this attempt, if it was brought forward. */
	readonly scheduledAt: number | null
	/** Whether later events of its record may have arrived; SQLite has 0 or 1. */
	readonly outOfOrder: boolean | number
	/** Since when it was due. */
	readonly dueSince: number
}

/** What is claimed of an endpoint. */
export interface EndpointClaim {
	readonly endpointId: string
	readonly limit: number
	/** Only what is due since this time or later: on PostgreSQL what has been delivered is passed over row by row until a vacuum. */
	readonly from?: number | undefined
	/** On PostgreSQL: nothing is claimed unless the endpoint still has this version, and its host is proven. */
	readonly ifVersion?: number | undefined
}

interface Claiming {
	readonly organizationId: string
	readonly now: number
	readonly leaseEnd: number
}

interface ClaimQuery extends Omit<EndpointClaim, 'ifVersion'> {
	readonly organizationId: string
	readonly now: number
}

const claimed = `"organizationId", "endpointId", id as "deliveryId", "eventId", "resourceId", sequence, "retryCount", "attemptCount", "scheduledAt",
	"outOfOrder", "nextAttemptAt" as "dueSince"`

const first = query<ClaimQuery, ClaimedDelivery>((knex, { organizationId, endpointId, now, limit, from }) => {
	const rows = knex('webhook_deliveries')
		.where({ organizationId, endpointId })
		.where('nextAttemptAt', '<=', now)
		.whereRaw(isFree, [now])
		.orderBy(['nextAttemptAt', 'id'])
		.limit(asNumber(limit))
		.select(knex.raw(claimed))
	return from === undefined ? rows : rows.where('nextAttemptAt', '>=', from)
})

const lease = query<Claiming & { ids: readonly string[] }>((knex, { organizationId, ids, leaseEnd, now }) =>
	knex('webhook_deliveries')
		.where({ organizationId })
		.whereRaw(isAnyOf('id', 'sqlite'), [ids])
		.update({ leaseEnd, updatedAt: now }),
)

const endpointClaims = new RowList<EndpointClaim>({ endpointId: 'text', limit: 'bigint', from: 'bigint', ifVersion: 'bigint' })

/** As an expression: the index of statuses would hold all endpoints of the organization. */
const isAsBefore = `(r."ifVersion" is null or exists (select 1 from webhook_endpoints p join webhook_hosts h on h.host = p.host
	where p."organizationId" = ? and p.id = r."endpointId" and p.version = r."ifVersion" and p.status || '' = 'active' and p."deletedAt" is null
	and p."skipUpTo" is null and h."provenAt" is not null))`

/** `leased` is true where an older server has lost its lease. PostgreSQL computes the array once. */
const claimingAll = query<Claiming & { rows: string }, ClaimedDelivery>(
	(knex, { organizationId, now, leaseEnd, rows }, dialect) =>
		knex.raw(
			`update webhook_deliveries set leased = false, "leaseEnd" = ?, "updatedAt" = ?
		where "organizationId" = ? and id = any(array(select d.id from ? cross join lateral (
			select id from webhook_deliveries where "organizationId" = ? and "endpointId" = r."endpointId" and ${isAsBefore}
			and "nextAttemptAt" <= ? and "nextAttemptAt" >= coalesce(r."from", 0) and ${isFree}
			order by "nextAttemptAt", id limit r."limit" for update skip locked) as d))
		returning ${claimed}`,
			[leaseEnd, now, organizationId, endpointClaims.table(knex, { rows }, dialect), organizationId, organizationId, now, now],
		),
)

/**
 * Claims due deliveries of endpoints of an organization, under a lease until `leaseEnd`. It changes no column that an index of PostgreSQL has. On
 * PostgreSQL by one statement, since each costs a round trip.
 */
export async function claimDeliveries(db: Db, claiming: Claiming, of: readonly EndpointClaim[]): Promise<ClaimedDelivery[]> {
	if (db.dialect === 'postgres') return db.all(claimingAll, { ...claiming, rows: JSON.stringify(of) })
	const { organizationId, now } = claiming
	const deliveries: ClaimedDelivery[] = []
	for (const { endpointId, limit, from } of of)
		deliveries.push(...(await db.all(first, { organizationId, endpointId, now, limit, from })))
	const ids = deliveries.map(({ deliveryId }) => deliveryId)
	if (ids.length > 0) await db.run(lease, { ...claiming, ids })
	return deliveries
}
