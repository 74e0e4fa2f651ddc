// Removes events, deliveries and their attempts that are older than the retention, once they are done: a delivery that still
// waits stays with its event. A record's last event stays too, since the record's `sequence` goes on from it. Hosts go that no
// endpoint names any more, and networks that have not answered for long.
import type { Knex } from 'knex'
import { dayMs, hourMs } from '../../../platform/base/dates.ts'
import { beginningOf, timeOfId } from '../../../platform/base/ids.ts'
import { type Database, type Db, type Placeholders, query } from '../../../platform/db/database.ts'
import { isWaiting } from '../../../platform/events/fan-out-store.ts'
import type { JobHandler } from '../../../platform/work/jobs.ts'
import { inParts } from '../../../platform/work/parts.ts'

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

const kinds = {
	deliveries: { prefix: 'whd', end: nextEnd('webhook_deliveries'), removals: [doneAttempts, doneDeliveries] },
	events: { prefix: 'evt', end: nextEnd('events'), removals: [doneEvents] },
} as const

type RetainedKind = keyof typeof kinds

/** In the order in which they go: an event stays until its deliveries are gone. */
const retainedKinds: readonly RetainedKind[] = ['deliveries', 'events']

/** Removes done rows of the next part of a kind, after an id; returns the part's last id, null when none is left. */
async function removePart(
	db: Db,
	kind: RetainedKind,
	{ organizationId, after, until }: { organizationId: string; after: string; until: number },
): Promise<string | null> {
	const { prefix, end, removals } = kinds[kind]
	const upTo = (await db.get(end, { organizationId, after, before: beginningOf(prefix, until) }))?.last ?? null
	if (upTo !== null) for (const one of removals) await db.run(one, { organizationId, after, upTo })
	return upTo
}

const oldestEvent = query<{ organizationId: string; from: string }, { id: string }>((knex, { organizationId, from }) =>
	knex('events').where({ organizationId }).where('id', '>=', from).orderBy('id').limit(1, { skipBinding: true }).select('id'),
)

const waitingDelivery = query<{ organizationId: string; before: string }, { id: string }>((knex, { organizationId, before }) =>
	knex('webhook_deliveries').where({ organizationId }).where('id', '<', before).limit(1, { skipBinding: true }).select('id'),
)

/** The shortest time between two removals of an organization, and the longest while old deliveries wait for their end. */
const restMs = { shortest: hourMs, whileWaiting: dayMs }

/** Removes an organization's events and deliveries that are done and older than the retention. */
export const removeRetained =
	(db: Database, retentionDays: number): JobHandler =>
	async (job) => {
		const { organizationId, signal } = job
		const keptMs = retentionDays * dayMs
		const until = job.now - keptMs
		for (const kind of retainedKinds) {
			let after = ''
			await inParts(async () => {
				// What a power cut brings back goes the next time.
				const part = { organizationId, after, until }
				const upTo = await job.part((tx) => removePart(tx, kind, part), { durable: false })
				after = upTo ?? after
				return upTo !== null
			}, signal)
		}
		if (signal.aborted) return { dueAt: job.now }
		const oldest = await db.get(oldestEvent, { organizationId, from: beginningOf('evt', until) })
		const waiting = await db.get(waitingDelivery, { organizationId, before: beginningOf('whd', until) })
		const due = [...(oldest ? [timeOfId(oldest.id) + keptMs + 1] : []), ...(waiting ? [job.now + restMs.whileWaiting] : [])]
		return due.length === 0 ? undefined : { dueAt: Math.max(Math.min(...due), job.now + restMs.shortest) }
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
