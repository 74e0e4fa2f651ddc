// Repairs of the queue: deliveries that wait for nothing are let go.
import { type Database, query } from '../../db/database.ts'
import { hasEarlier, isWaiting } from '../../events/fan-out-store.ts'

const strays = query<{ now: number }>((knex, { now }) =>
	knex.raw(
		`update webhook_deliveries as d set
			status = case when p."deletedAt" is null then 'skipped' else 'cancelled' end, "nextAttemptAt" = null, "updatedAt" = ?
		from webhook_endpoints p where p."organizationId" = d."organizationId" and p.id = d."endpointId"
		and (p.status <> 'active' or p."deletedAt" is not null) and d.${isWaiting}
		and (d.status <> 'delivering' or d."nextAttemptAt" <= ?)`,
		[now, now],
	),
)

const stuck = query<{ now: number }>((knex, { now }) =>
	knex.raw(
		`update webhook_deliveries as behind set "nextAttemptAt" = ?
		where behind.status = 'pending' and behind."nextAttemptAt" is null and not ${hasEarlier('behind')}`,
		[now],
	),
)

/** Lets those go that wait for a delivery which was removed. */
export const freeNext = (db: Database, now: number) => db.transaction((tx) => tx.run(stuck, { now }))

/**
 * Deliveries that two transactions left to each other, each not seeing the other's: written for an endpoint while it was
 * paused or deleted, or waiting for one that was done. Not on SQLite, where transactions run one after the other.
 */
export async function repairQueue(db: Database, now: number): Promise<void> {
	if (db.dialect === 'sqlite') return
	await db.transaction(async (tx) => {
		await tx.run(strays, { now })
		await tx.run(stuck, { now })
	})
}
