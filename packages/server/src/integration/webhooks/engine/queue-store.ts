// What comes of the deliveries of the queue that were claimed (claim-store.ts): results, and the next deliveries of their records.
import type { Knex } from 'knex'
import { hourMs } from '../../../platform/base/dates.ts'
import { type Db, type Dialect, query, sent } from '../../../platform/db/database.ts'
import { type Part, RowList } from '../../../platform/db/row-lists.ts'
import { isHolding, isLeased, isWaiting, ofRecord } from '../../../platform/events/fan-out-store.ts'

/** The result of a claimed delivery, as it is written. */
export interface DeliveryResult {
	readonly organizationId: string
	readonly id: string
	readonly endpointId: string
	readonly resourceId: string
	/** Of the attempt. */
	readonly number: number
	/** The event's `sequence` in its record. */
	readonly sequence: number
	/** Whether later events of its record may have been sent before the attempt: then none waits for it. */
	readonly wasOutOfOrder: boolean
	/** The lease under which the delivery was claimed. */
	readonly leaseEnd: number
	readonly status: 'succeeded' | 'retrying' | 'exhausted'
	readonly nextAttemptAt: number | null
	/** Not null: the next attempt is not to be brought forward. */
	readonly scheduledAt: number | null
	/** 1, or 0 for an attempt that was brought forward: the schedule goes on as if it had not been made. */
	readonly counts: 0 | 1
	readonly startedAt: number
	readonly durationMs: number
	readonly responseStatus: number | null
	readonly responseBody: string | null
	readonly error: string | null
	readonly endedAt: number
	/** What is stored of the request, as JSON. */
	readonly request: string | null
}

type Result = Omit<DeliveryResult, 'wasOutOfOrder' | 'resourceId' | 'sequence'>

const results = new RowList<Result>({
	organizationId: 'text',
	id: 'text',
	endpointId: 'text',
	number: 'bigint',
	leaseEnd: 'bigint',
	status: 'text',
	nextAttemptAt: 'bigint',
	scheduledAt: 'bigint',
	counts: 'bigint',
	startedAt: 'bigint',
	durationMs: 'bigint',
	responseStatus: 'bigint',
	responseBody: 'text',
	error: 'text',
	endedAt: 'bigint',
	request: 'text',
})

/** A delivery that was rejected holds the later ones of its record back for so long. */
const holdMs = 300_000

/**
 * While an endpoint fails for longer, nothing else is sent in the place of what it rejects: it is down, and each record would have an event more
 * to retry every five minutes. But what a recovery does not bring forward, because its receiver asked for a time, holds no longer than ever.
 */
const downMs = hourMs

const mayRetry = `(r.status = 'retrying' and p.status = 'active' and p."deletedAt" is null)`

/** The attempt began in an outage, and failed after the recovery (recovery-store.ts), which did not find it among the retries. */
const missedRecovery = `(r.status = 'retrying' and r."scheduledAt" is null and r."startedAt" < p."forwardTo" and p."forwardTo" <= r."endedAt")`

const attemptValues = ['startedAt', 'durationMs', 'responseStatus', 'responseBody', 'error', 'request'] as const
const attemptColumns = ['organizationId', 'deliveryId', 'number', ...attemptValues]

/** Writes the results. A delivery is not retried when its endpoint was paused, disabled or deleted meanwhile. PostgreSQL writes the attempts with them. */
const outcome = query<Part<Result>, { outOfOrder: number }>((knex, part, dialect) => {
	const update = knex.raw(
		`update webhook_deliveries as d set
			status = case when r.status <> 'retrying' or (p.status = 'active' and p."deletedAt" is null) then r.status
				when p."deletedAt" is null then 'skipped' else 'cancelled' end,
			"leaseEnd" = null,
			"nextAttemptAt" = case when p.status = 'active' and p."deletedAt" is null then case when ${missedRecovery} then r."endedAt" else r."nextAttemptAt" end end,
			"scheduledAt" = case when p.status = 'active' and p."deletedAt" is null then case when ${missedRecovery} then r."nextAttemptAt" else r."scheduledAt" end end,
			"outOfOrder" = d."outOfOrder" or (${mayRetry} and p.ordering = 'none'),
			"holdsUntil" = case when ${mayRetry} and p.ordering = 'resource' and not d."outOfOrder"
				and (d."holdsUntil" is not null or p."failingSince" is null or p."failingSince" > r."endedAt" - ${downMs} or r."scheduledAt" is not null)
				then coalesce(d."holdsUntil", r."endedAt" + ${holdMs}) end,
			"attemptCount" = d."attemptCount" + 1, "retryCount" = d."retryCount" + r.counts,
			"lastResponseStatus" = r."responseStatus", "lastError" = r.error, "updatedAt" = r."endedAt"
		from ? join webhook_endpoints p on p."organizationId" = r."organizationId" and p.id = r."endpointId"
		where d."organizationId" = r."organizationId" and d.id = r.id
		and d."leaseEnd" = r."leaseEnd"
		returning ${dialect === 'sqlite' ? '"outOfOrder"' : 'r.*'}`,
		[results.table(knex, part, dialect)],
	)
	return dialect === 'sqlite' ? update : intoAttempts(knex, 'written').with('written', update)
})

/** Writes a result that is final, which does not depend on the endpoint. Most are, and on SQLite the join costs half of such a write. */
const conclusion = query<
	Pick<Result, 'organizationId' | 'id' | 'leaseEnd' | 'status' | 'counts' | 'responseStatus' | 'error' | 'endedAt'>
>((knex, { organizationId, id, leaseEnd, status, counts, responseStatus, error, endedAt }) =>
	knex('webhook_deliveries')
		.where({ organizationId, id, leaseEnd })
		.update({
			status,
			leaseEnd: null,
			nextAttemptAt: null,
			scheduledAt: null,
			holdsUntil: null,
			attemptCount: knex.raw('?? + 1', ['attemptCount']),
			retryCount: knex.raw('?? + ?', ['retryCount', counts]),
			lastResponseStatus: responseStatus,
			lastError: error,
			updatedAt: endedAt,
		}),
)

/** On SQLite, whether the result let go what waits for the delivery. */
async function complete(db: Db, result: DeliveryResult): Promise<boolean> {
	const row = result.status === 'retrying' ? await retry(db, result) : await conclude(db, result)
	if (!row) return false
	await results.run(db, attempts, [attemptOf(result)])
	return !result.wasOutOfOrder && (result.status !== 'retrying' || row.outOfOrder === 1)
}

const retry = async (db: Db, result: DeliveryResult) => (await results.all(db, outcome, [resultOf(result)]))[0]

async function conclude(db: Db, result: DeliveryResult) {
	const { organizationId, id, leaseEnd, status, counts, responseStatus, error, endedAt } = result
	const count = await db.run(conclusion, { organizationId, id, leaseEnd, status, counts, responseStatus, error, endedAt })
	return count === 1 ? { outOfOrder: 0 } : undefined
}

const intoAttempts = (knex: Knex, rows: string | Knex.Raw) =>
	knex
		.into(knex.raw('?? (??)', ['webhook_attempts', attemptColumns]))
		.insert(knex.select('organizationId', 'id', 'number', ...attemptValues).from(rows))

const attempts = query<Part<Result>>((knex, part, dialect) => intoAttempts(knex, results.table(knex, part, dialect)))

/** Where a delivery is in the order of its record's, and when it let the next one go. */
type Place = Pick<DeliveryResult, 'organizationId' | 'id' | 'endpointId' | 'resourceId' | 'sequence' | 'endedAt'>

const places = new RowList<Place>({
	organizationId: 'text',
	id: 'text',
	endpointId: 'text',
	resourceId: 'text',
	sequence: 'bigint',
	endedAt: 'bigint',
})

/** SQL: the first of a record's later deliveries to an endpoint that is not done. */
const nextOf = (
	dialect: Dialect,
	{ organizationId, endpointId, resourceId, sequence }: Record<keyof Omit<Place, 'id' | 'endedAt'>, string>,
) =>
	`select d.id ${ofRecord(endpointId, dialect)} where b."organizationId" = ${organizationId} and b."resourceId" = ${resourceId}
		and b.sequence > ${sequence} and ${isHolding('d')} order by b.sequence limit 1`

const owners = new RowList<Pick<Place, 'organizationId' | 'endpointId'>>({ organizationId: 'text', endpointId: 'text' })

/**
 * Makes the next deliveries due behind those that hold none back any more, of endpoints where one waits: mostly none does, and then `places` is not
 * even read. The `with` finds the ids first, and each row by itself: otherwise PostgreSQL reads all deliveries to join them, or all that wait anywhere. It
 * asks again whether it waits: a pause may have ended it while this statement waited for its row.
 */
const promotion = query<{ owners: string; places: string }>((knex, { owners: all, places: json }, dialect) => {
	const next = nextOf(dialect, {
		organizationId: 'r."organizationId"',
		endpointId: 'r."endpointId"',
		resourceId: 'r."resourceId"',
		sequence: 'r.sequence',
	})
	const ifAny = knex.raw('(case when exists (select 1 from behind) then ?::text end)', [json])
	return knex.raw(
		`with behind as materialized (select r."organizationId" as o, r."endpointId" as e from ?
			where (select 1 from webhook_deliveries where "organizationId" = r."organizationId" and "endpointId" = r."endpointId"
				and status = 'pending' and "nextAttemptAt" is null limit 1) is not null),
		done as materialized (select * from ?),
		n as materialized (select r."organizationId", r."endedAt", (${next}) as id from behind join done as r on r."organizationId" = o and r."endpointId" = e
			where (select not ${isHolding('x')} from webhook_deliveries x where x."organizationId" = r."organizationId" and x.id = r.id limit 1))
		update webhook_deliveries set "nextAttemptAt" = n."endedAt" from n
		where n.id is not null and webhook_deliveries."organizationId" = n."organizationId" and webhook_deliveries.id = n.id
		and webhook_deliveries."nextAttemptAt" is null and webhook_deliveries.${isWaiting}`,
		[owners.table(knex, { rows: all }, dialect), places.table(knex, { rows: ifAny }, dialect)],
	)
})

const next = query<Omit<Place, 'id' | 'endedAt'>, { id: string }>(
	(knex, { organizationId, endpointId, resourceId, sequence }, dialect) =>
		knex.raw(nextOf(dialect, { organizationId: '+?', endpointId: '?', resourceId: '+?', sequence: '+?' }), [
			endpointId,
			organizationId,
			resourceId,
			sequence,
		]),
)

/** By the index of what waits for another delivery, which SQLite would not choose by itself. */
const anyBehind = query<Pick<Place, 'organizationId' | 'endpointId'>>((knex, { organizationId, endpointId }) =>
	knex.raw(
		`select 1 from webhook_deliveries indexed by webhook_deliveries_behind
		where "organizationId" = ? and "endpointId" = ? and status = 'pending' and "nextAttemptAt" is null limit 1`,
		[organizationId, endpointId],
	),
)

const makeDue = query<{ organizationId: string; id: string; now: number }>((knex, { organizationId, id, now }) =>
	knex('webhook_deliveries').where({ organizationId, id }).whereNull('nextAttemptAt').update({ nextAttemptAt: now }),
)

/**
 * Makes a record's next delivery to an endpoint due, once the one before it is done or holds it back no longer. Mostly none waits at the
 * endpoint: that is asked once, and not for each record.
 */
async function promote(db: Db, all: readonly Place[]): Promise<void> {
	if (all.length === 0) return
	if (db.dialect === 'postgres') {
		const ofEndpoints = new Map(all.map(({ organizationId, endpointId }) => [endpointId, { organizationId, endpointId }]))
		await db.run(promotion, { owners: JSON.stringify([...ofEndpoints.values()]), places: JSON.stringify(all) })
		return
	}
	for (const ofEndpoint of Map.groupBy(all, ({ endpointId }) => endpointId).values()) {
		const { organizationId, endpointId } = ofEndpoint[0] as Place
		if (!(await db.get(anyBehind, { organizationId, endpointId }))) continue
		for (const { resourceId, sequence, endedAt } of ofEndpoint) {
			const found = await db.get(next, { organizationId, endpointId, resourceId, sequence })
			if (found) await db.run(makeDue, { organizationId, id: found.id, now: endedAt })
		}
	}
}

/** Writes results and releases the deliveries that waited for them. A result whose lease has been lost is dropped. */
export async function completeDeliveries(db: Db, ended: readonly DeliveryResult[]): Promise<void> {
	// A delivery may have been claimed twice, and within a millisecond under the same lease.
	const all = [...new Map(ended.map((result) => [`${result.id} ${result.leaseEnd}`, result])).values()]
	if (db.dialect === 'sqlite') {
		const letGo: DeliveryResult[] = []
		for (const result of all) if (await complete(db, result)) letGo.push(result)
		return promote(db, letGo.map(placeOf))
	}
	await sent(db, results.run(db, outcome, all.map(resultOf)))
	// A statement of its own: it sees what was stored while the one before waited for a lock.
	await sent(db, promote(db, all.filter(({ wasOutOfOrder }) => !wasOutOfOrder).map(placeOf)))
}

const placeOf = ({ organizationId, id, endpointId, resourceId, sequence, endedAt }: DeliveryResult): Place => ({
	organizationId,
	id,
	endpointId,
	resourceId,
	sequence,
	endedAt,
})

const resultOf = ({ wasOutOfOrder: _, resourceId: _resource, sequence: _sequence, ...result }: DeliveryResult): Result => result

/** Only what the statement reads: on SQLite each column is a parameter. */
function attemptOf(result: DeliveryResult): Partial<Result> {
	const { organizationId, id, number, startedAt, durationMs, responseStatus, responseBody, error, request } = result
	return { organizationId, id, number, startedAt, durationMs, responseStatus, responseBody, error, request }
}

type Held = Pick<DeliveryResult, 'organizationId' | 'id' | 'endpointId' | 'resourceId' | 'sequence'>

/** Of deliveries that end at once: on SQLite all others wait for the transaction. */
const endsAtOnce = 250

/** `materialized`, because PostgreSQL may run a plain subquery again for every row. An attempt that is under way ends first. */
const endings = query<{ now: number }, Held>((knex, { now }, dialect) =>
	knex.raw(
		`with part as materialized (select "organizationId" as organization, id as delivery from webhook_deliveries
			where "holdsUntil" <= ? and status = 'retrying' and not ${isLeased} order by "holdsUntil" limit ${endsAtOnce}
			${dialect === 'sqlite' ? '' : 'for update skip locked'})
		update webhook_deliveries set "outOfOrder" = true, "holdsUntil" = null from part where "organizationId" = organization and id = delivery
		returning "organizationId", id, "endpointId", "resourceId", sequence`,
		[now],
	),
)

/** Lets deliveries go that wait for one that was rejected five minutes ago: it is retried on its own. True when some are left. */
export async function endHolds(db: Db, now: number): Promise<boolean> {
	const ended = await db.all(endings, { now })
	await promote(
		db,
		ended.map((held) => ({ ...held, endedAt: now })),
	)
	return ended.length === endsAtOnce
}

const release = query<Part<Result>>((knex, part, dialect) =>
	knex.raw(
		`update webhook_deliveries as d set "leaseEnd" = null from ?
		where d."organizationId" = r."organizationId" and d.id = r.id and d."leaseEnd" = r."leaseEnd"`,
		[results.table(knex, part, dialect)],
	),
)

/** Returns claimed deliveries to the queue as if they had not been attempted. */
export const releaseDeliveries = (db: Db, all: readonly Pick<Result, 'organizationId' | 'id' | 'leaseEnd'>[]): Promise<void> =>
	results.run(
		db,
		release,
		all.map(({ organizationId, id, leaseEnd }) => ({ organizationId, id, leaseEnd })),
	)

const releaseAll = query<object>((knex) =>
	knex('webhook_deliveries').whereRaw(isLeased).update({ leased: false, leaseEnd: null }),
)

/** Returns all that an ended process left. */
export const releaseEveryDelivery = (db: Db) => db.run(releaseAll, {})
