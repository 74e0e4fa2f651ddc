// Repairs the queue: finds deliveries that wait although nothing will ever release them.
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

/** Makes deliveries due that wait for an earlier one which is done or was removed. */
export const releaseStuck = (db: Database, now: number) => db.transaction((tx) => tx.run(stuck, { now }))

/**
 * Repairs deliveries that two transactions missed because neither saw the rows of the other: one wrote a delivery while the
 * other paused or deleted its endpoint, or completed the delivery that it waits for. SQLite runs transactions one after the
 * other and needs no repair.
 */
export async function repairQueue(db: Database, now: number): Promise<void> {
	if (db.dialect === 'sqlite') return
	await db.transaction(async (tx) => {
		await tx.run(strays, { now })
		await tx.run(stuck, { now })
	})
}
