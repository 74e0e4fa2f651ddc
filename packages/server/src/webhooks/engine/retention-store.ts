// Removes events, deliveries and their attempts that are older than the retention, once they are done: a delivery that still
// waits stays with its event. A record's last event stays too, since the record's `sequence` goes on from it. Hosts go that no
// endpoint names any more, and networks that have not answered for long.
import type { Knex } from 'knex'
import { dayMs } from '../../base/dates.ts'
import { beginningOf } from '../../base/ids.ts'
import { type Database, type Placeholders, type Query, query } from '../../db/database.ts'
import { isWaiting } from '../../events/fan-out-store.ts'
import { listOrganizations } from '../../organizations/store.ts'
import { inParts } from '../../work/parts.ts'

/** Rows of its table that a part looks at: on SQLite every other writer waits for it. */
const batch = 200

interface Stretch {
	readonly organizationId: string
	readonly after: string
	/** Ids begin with their time, so the ids of older rows sort before this one. */
	readonly before: string
}

interface Part {
	readonly organizationId: string
	readonly after: string
	readonly upTo: string
}

/** The last id of the next part; null when none is left. */
const nextEnd = (table: string) =>
	query<Stretch, { last: string | null }>((knex, { organizationId, after, before }) =>
		knex
			.from(
				knex(table)
					.where({ organizationId })
					.where('id', '>', after)
					.where('id', '<', before)
					.orderBy('id')
					.limit(batch, { skipBinding: true })
					.select('id')
					.as('part'),
			)
			.max({ last: 'id' }),
	)

type Where = (rows: Knex.QueryBuilder) => Knex.QueryBuilder

const removal = (table: string, id: string, done: Where) =>
	query<Part>((knex, { organizationId, after, upTo }: Placeholders<Part>) =>
		done(knex(table).where({ organizationId }).where(id, '>', after).where(id, '<=', upTo)).delete(),
	)

const doneAttempts = removal('webhook_attempts', 'deliveryId', (rows) =>
	rows.whereRaw(`not exists (select 1 from webhook_deliveries d where d."organizationId" = webhook_attempts."organizationId"
		and d.id = webhook_attempts."deliveryId" and d.${isWaiting})`),
)
const doneDeliveries = removal('webhook_deliveries', 'id', (rows) => rows.whereRaw(`not ${isWaiting}`))
const doneEvents = removal('events', 'id', (rows) =>
	rows
		.whereRaw(`exists (select 1 from events later where later."organizationId" = events."organizationId"
			and later."resourceId" = events."resourceId" and later.sequence > events.sequence)`)
		.whereRaw(`not exists (select 1 from webhook_deliveries d where d."organizationId" = events."organizationId"
			and d.id >= 'whd_' || substr(events.id, 5) and d.id < 'whd_' || substr(events.id, 5) || '~')`),
)

/** What goes, in this order; the last removal of each counts. */
const kinds = [
	{ prefix: 'whd', end: nextEnd('webhook_deliveries'), removals: [doneAttempts, doneDeliveries] },
	{ prefix: 'evt', end: nextEnd('events'), removals: [doneEvents] },
] as const

interface Sweep {
	readonly db: Database
	readonly organizationId: string
	readonly before: string
	readonly signal: AbortSignal | undefined
}

async function removeDone(
	{ db, organizationId, before, signal }: Sweep,
	end: Query<Stretch, { last: string | null }>,
	removals: readonly Query<Part, unknown>[],
) {
	let [after, removed] = ['', 0]
	await inParts(async () => {
		const upTo = (await db.get(end, { organizationId, after, before }))?.last ?? null
		if (upTo === null) return false
		const part = { organizationId, after, upTo }
		removed += await db.transaction(
			async (tx) => {
				let count = 0
				for (const one of removals) count = await tx.run(one, part)
				return count
			},
			// What a power cut brings back goes in the next hour.
			{ durable: false },
		)
		after = upTo
		return true
	}, signal)
	return removed
}

/** Removes everything that is done and older than the retention; returns the number of deliveries and events. */
export async function sweepWebhooks(db: Database, retentionDays: number, now: number, signal?: AbortSignal): Promise<number> {
	const end = now - retentionDays * dayMs
	let removed = 0
	for (const { id: organizationId } of await listOrganizations(db)) {
		for (const kind of kinds) {
			const before = beginningOf(kind.prefix, end)
			removed += await removeDone({ db, organizationId, before, signal }, kind.end, kind.removals)
		}
	}
	return removed
}

/** A host that nobody has named for so long, or a network that has not answered for so long, is a stranger again. */
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

/** Forgets hosts that no endpoint names, and networks; returns their number. */
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
