// Repairs the queue: finds deliveries that wait although nothing will ever release them.
import { type Database, query } from '../../../platform/db/database.ts'
import { hasEarlier, isFreeOfAll, isWaiting, waitingEndpoints } from '../../../platform/events/fan-out-store.ts'
import { longestWait } from '../../../platform/work/backoff.ts'
import { inParts } from '../../../platform/work/parts.ts'

/** Notes on endpoints that are not active what backlogs.ts is to skip or cancel. */
const strays = query<{ now: number }>((knex, { now }) =>
	knex.raw(
		`update webhook_endpoints as p set "skipUpTo" = (
			select max(d.id) from webhook_deliveries d where d."organizationId" = p."organizationId" and d."endpointId" = p.id)
		where (p.status <> 'active' or p."deletedAt" is not null) and p."skipUpTo" is null and exists (
			select 1 from webhook_deliveries d where d."organizationId" = p."organizationId" and d."endpointId" = p.id
			and d.${isWaiting} and ${isFreeOfAll})`,
		[now, now],
	),
)

/** Rows that a transaction changes, or looks at: on SQLite every other writer waits for it. */
const batch = 500

interface Place {
	readonly organizationId: string
	readonly endpointId: string
	readonly id: string
}

const isBehind = `status = 'pending' and "nextAttemptAt" is null`
const place = `("organizationId", "endpointId", id)`

/** The next deliveries that wait for another, in the order of their index. */
const behind = query<Place, Place>((knex, { organizationId, endpointId, id }) =>
	knex('webhook_deliveries')
		.whereRaw(isBehind)
		.whereRaw(`${place} > (?, ?, ?)`, [organizationId, endpointId, id])
		.orderBy(['organizationId', 'endpointId', 'id'])
		.limit(batch, { skipBinding: true })
		.select('organizationId', 'endpointId', 'id'),
)

interface Stretch {
	readonly now: number
	readonly fromOrganization: string
	readonly fromEndpoint: string
	readonly fromId: string
	readonly toOrganization: string
	readonly toEndpoint: string
	readonly toId: string
}

const stuck = query<Stretch>((knex, { now, ...ends }, dialect) =>
	knex.raw(
		`update webhook_deliveries as behind set "nextAttemptAt" = ?
		where ${isBehind} and ${place} > (?, ?, ?) and ${place} <= (?, ?, ?) and not ${hasEarlier('behind', dialect)}`,
		[now, ends.fromOrganization, ends.fromEndpoint, ends.fromId, ends.toOrganization, ends.toEndpoint, ends.toId],
	),
)

/** Asks for each endpoint alone, by the index of due deliveries: all that wait for an attempt may be a million. */
const overlong = query<{ now: number; latest: number }>((knex, { now, latest }, dialect) =>
	knex.raw(
		`with recursive ? update webhook_deliveries set "nextAttemptAt" = ?, "scheduledAt" = null, "leaseEnd" = null where ("organizationId", id) in (
			select d."organizationId", d.id from waiting w
			cross join webhook_deliveries d where d."organizationId" = w.o and d."endpointId" = w.e
			and d."nextAttemptAt" > ? limit ${batch})`,
		[waitingEndpoints(knex, dialect, now), now, latest],
	),
)

/**
 * Makes deliveries due that would wait for longer than the schedule can say, because the clock was set back. A lease that a
 * process left in that time ends too.
 */
export async function releaseOverlong(
	db: Database,
	schedule: readonly number[],
	now: number,
	signal?: AbortSignal,
): Promise<void> {
	const latest = now + longestWait(schedule)
	await inParts(async () => (await db.transaction((tx) => tx.run(overlong, { now, latest }))) === batch, signal)
}

/** Makes deliveries due that wait for an earlier one which is done. */
async function releaseStuck(db: Database, now: number, signal: AbortSignal | undefined): Promise<void> {
	let from: Place = { organizationId: '', endpointId: '', id: '' }
	await inParts(async () => {
		const to = (await db.all(behind, from)).at(-1)
		if (to === undefined) return false
		const begin = { fromOrganization: from.organizationId, fromEndpoint: from.endpointId, fromId: from.id }
		const end = { toOrganization: to.organizationId, toEndpoint: to.endpointId, toId: to.id }
		await db.transaction((tx) => tx.run(stuck, { now, ...begin, ...end }))
		from = to
		return true
	}, signal)
}

/**
 * Repairs deliveries that two transactions missed because neither saw the rows of the other: one wrote a delivery while the
 * other paused or deleted its endpoint, or completed the delivery that it waits for. SQLite runs transactions one after the
 * other and needs no repair.
 */
export async function repairQueue(db: Database, now: number, signal?: AbortSignal): Promise<void> {
	if (db.dialect === 'sqlite') return
	await db.transaction((tx) => tx.run(strays, { now }))
	await releaseStuck(db, now, signal)
}
