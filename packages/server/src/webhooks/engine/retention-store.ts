// Removes events, deliveries and their attempts that are older than the retention. A record's last event stays, since the
// record's `sequence` goes on from it.
import type { Knex } from 'knex'
import { beginningOf } from '../../base/ids.ts'
import { type Database, type Placeholders, type Query, query } from '../../db/database.ts'
import { listOrganizations } from '../../organizations/store.ts'
import { releaseStuck } from './repair-store.ts'

/** Rows that one transaction removes: on SQLite every other writer waits for it. */
const batch = 500

interface Old {
	readonly organizationId: string
	/** Ids begin with their time, so the ids of older rows sort before this one. */
	readonly before: string
}

const removal = (table: string, id: string, more: (rows: Knex.QueryBuilder) => Knex.QueryBuilder = (rows) => rows) =>
	query<Old>((knex, { organizationId, before }: Placeholders<Old>, dialect) => {
		const old = knex(table).where({ organizationId }).where(id, '<', before).orderBy(id).limit(batch, { skipBinding: true })
		const rows = knex(table).where({ organizationId })
		if (dialect === 'sqlite') return rows.whereIn(id, more(old).select(id)).delete()
		// PostgreSQL computes an array once, but may run the subquery of an `in` again for every row of the table.
		return rows.whereRaw('?? = any(array(?))', [id, more(old).select(id)]).delete()
	})

const oldEvents = removal('events', 'id', (rows) =>
	rows.whereRaw(`exists (select 1 from events later where later."organizationId" = events."organizationId"
		and later."resourceId" = events."resourceId" and later.sequence > events.sequence)`),
)
const oldDeliveries = removal('webhook_deliveries', 'id')
const oldAttempts = removal('webhook_attempts', 'deliveryId')

/** Removes everything that is older than the retention; returns the number of rows. */
export async function sweepWebhooks(db: Database, retentionDays: number, now: number): Promise<number> {
	const end = now - retentionDays * 86_400_000
	let removed = 0
	for (const { id: organizationId } of await listOrganizations(db)) {
		const removeAll = async (batchRemoval: Query<Old, unknown>, before: string) => {
			for (let count = 1; count > 0; removed += count) {
				count = await db.transaction((tx) => tx.run(batchRemoval, { organizationId, before }))
			}
		}
		await removeAll(oldAttempts, beginningOf('whd', end))
		await removeAll(oldDeliveries, beginningOf('whd', end))
		await removeAll(oldEvents, beginningOf('evt', end))
	}
	await releaseStuck(db, now)
	return removed
}
