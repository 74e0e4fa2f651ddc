// Removes events, deliveries and their attempts that are older than the retention. A record's last event stays, since the
// record's `sequence` goes on from it.
import type { Knex } from 'knex'
import { dayMs } from '../../base/dates.ts'
import { beginningOf } from '../../base/ids.ts'
import { type Database, type Placeholders, type Query, query } from '../../db/database.ts'
import { listOrganizations } from '../../organizations/store.ts'
import { inParts } from '../../work/parts.ts'
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

/** A host that nobody has named for so long is a stranger again. */
const hostsKeptMs = 7 * dayMs

const nextHost = query<{ after: string }, { last: string | null }>((knex, { after }) =>
	knex
		.from(
			knex('webhook_hosts')
				.where('host', '>', after)
				.orderBy('host')
				.limit(batch, { skipBinding: true })
				.select('host')
				.as('part'),
		)
		.max({ last: 'host' }),
)

/** The endpoints are read once a part: a look-up for each host would need an index that each endpoint pays for. */
const unnamedHosts = query<{ after: string; upTo: string; before: number }>((knex, { after, upTo, before }) =>
	knex('webhook_hosts')
		.where('host', '>', after)
		.where('host', '<=', upTo)
		.where('hourBegan', '<', before)
		.where('leaseUntil', '<', before)
		.whereRaw('coalesce("provenAt", 0) < ?', [before])
		.whereNotIn('host', knex('webhook_endpoints').whereNull('deletedAt').select('host'))
		.delete(),
)

/** Forgets hosts that no endpoint names; returns their number. */
export async function sweepHosts(db: Database, now: number, signal?: AbortSignal): Promise<number> {
	let [after, removed] = ['', 0]
	await inParts(async () => {
		const upTo = (await db.get(nextHost, { after }))?.last ?? null
		if (upTo === null) return false
		const part = { after, upTo, before: now - hostsKeptMs }
		removed += await db.transaction((tx) => tx.run(unnamedHosts, part), { durable: false })
		after = upTo
		return true
	}, signal)
	return removed
}
