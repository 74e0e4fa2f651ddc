// After an outage of an endpoint its first success brings the waiting retries forward: they would otherwise wait up to a day. An attempt
// that was brought forward and fails leaves the schedule as it was, so that no delivery uses up its attempts by it.
import { asNumber, type Db, query } from '../../platform/db/database.ts'
import { isFree, isLeased } from '../../platform/events/fan-out-store.ts'
import type { EndpointKey } from './endpoint-store.ts'

/** Failures for a shorter time are no outage, but of an event that is rejected, and it would be tried again after each success. */
const outageMs = 60_000

const recovery = query<EndpointKey & { from: number; now: number }>((knex, { organizationId, id, from, now }) =>
	knex.raw(
		`update webhook_endpoints set "forwardAfter" = '', "forwardTo" = ?,
			"forwardFrom" = case when "forwardFrom" < ? then "forwardFrom" else ? end
		where "organizationId" = ? and id = ?`,
		[now, from, from, organizationId, id],
	),
)

/** Notes that an endpoint works again, which has failed since a time. */
export async function noteRecovery(
	db: Db,
	{ organizationId, id }: EndpointKey,
	failingSince: number,
	now: number,
): Promise<void> {
	// The first attempt that failed had begun, and may have ended, before it was noted.
	if (now - failingSince >= outageMs) await db.run(recovery, { organizationId, id, from: failingSince - outageMs, now })
}

/** What is still to be brought forward. */
export interface Forward {
	/** Deliveries after this id. */
	readonly forwardAfter: string
	/** Whose last attempt was between these times. */
	readonly forwardFrom: number
	readonly forwardTo: number
}

/** Deliveries that one transaction looks at: on SQLite all wait for it. */
const partSize = 250

/** SQL: the condition of their index, without which SQLite does not use it. What was skipped or exhausted may be millions more. */
const isRetrying = `status = 'retrying'`

interface Range {
	readonly organizationId: string
	readonly endpointId: string
	readonly after: string
}

const stretch = query<Range, { count: number; last: string | null }>((knex, { organizationId, endpointId, after }) =>
	knex
		.from(
			knex('webhook_deliveries')
				.where({ organizationId, endpointId })
				.whereRaw(isRetrying)
				.where('id', '>', after)
				.orderBy('id')
				.limit(asNumber(partSize), { skipBinding: true })
				.select('id')
				.as('part'),
		)
		.count({ count: '*' })
		.max({ last: 'id' }),
)

const forward = query<Range & { last: string; now: number; from: number; to: number }>(
	(knex, { organizationId, endpointId, after, last, now, from, to }) =>
		knex.raw(
			`update webhook_deliveries set "scheduledAt" = "nextAttemptAt", "nextAttemptAt" = ?
			where "organizationId" = ? and "endpointId" = ? and ${isRetrying} and not ${isLeased} and id > ? and id <= ?
			and "scheduledAt" is null and "nextAttemptAt" > ? and "updatedAt" between ? and ?`,
			[now, organizationId, endpointId, after, last, now, from, to],
		),
)

/** Deliveries that are due already; more are brought forward once these have been attempted. */
const enoughDue = query<{ organizationId: string; endpointId: string; now: number }, { count: number }>(
	(knex, { organizationId, endpointId, now }) =>
		knex
			.from(
				knex('webhook_deliveries')
					.where({ organizationId, endpointId })
					.where('nextAttemptAt', '<=', now)
					.whereRaw(isFree, [now])
					.limit(asNumber(partSize), { skipBinding: true })
					.select('id')
					.as('part'),
			)
			.count({ count: '*' }),
)

/**
 * Brings the next part forward, oldest first. Returns the last delivery that it looked at; null at the end. It rests while a part is due: an
 * endpoint that fails again must not have them all due.
 */
export async function forwardPart(
	db: Db,
	{ organizationId, id }: EndpointKey,
	left: Forward,
	now: number,
): Promise<string | null> {
	const range = { organizationId, endpointId: id, after: left.forwardAfter }
	const due = await db.get(enoughDue, { organizationId, endpointId: id, now })
	if ((due?.count ?? 0) >= partSize) return left.forwardAfter
	const { count, last } = (await db.get(stretch, range)) ?? { count: 0, last: null }
	if (last === null) return null
	await db.run(forward, { ...range, last, now, from: left.forwardFrom, to: left.forwardTo })
	return count < partSize ? null : last
}
