import type { Knex } from 'knex'
import { asNumber, type Db, type Dialect, type Placeholders, query } from '../db/database.ts'
import { jsonColumn } from '../db/json.ts'
import type { ListFilter } from '../db/records.ts'
import { hasEarlier } from '../events/fan-out-store.ts'
import type { WebhookDelivery } from '../generated/contract.ts'
import { fields } from '../generated/tables.ts'

interface Key {
	readonly organizationId: string
	readonly id: string
}

type Filters = Omit<ListFilter<'webhooks.deliveries.list'>, 'cursor'> & { readonly organizationId: string }

interface Page {
	readonly limit: number
	readonly offset: number
	/** The last delivery of the page before; this page goes on with older ones. */
	readonly cursor?: string
}

/** While an attempt is under way, `nextAttemptAt` holds the end of its lease, which callers do not see. */
const shown = (knex: Knex) => ({ nextAttemptAt: knex.raw(`case status when 'delivering' then null else "nextAttemptAt" end`) })

/** After its prefix a delivery's id begins with its event's, so the primary key finds an event's deliveries. */
function matching(knex: Knex, { eventId, ...filters }: Placeholders<Filters>) {
	const rows = knex('webhook_deliveries').where(filters)
	if (eventId === undefined) return rows
	return rows
		.where({ eventId })
		.whereRaw(`id >= 'whd_' || substr(?, 5)`, [eventId])
		.whereRaw(`id < 'whd_' || substr(?, 5) || '~'`, [eventId])
}

const page = query<Filters & Page, { json: string }>((knex, { limit, offset, cursor, ...filters }, dialect) => {
	const rows = matching(knex, filters)
		.select(jsonColumn(knex, dialect, fields.WebhookDelivery, shown(knex)))
		.orderBy('id', 'desc')
		.limit(asNumber(limit))
		.offset(asNumber(offset))
	return cursor === undefined ? rows : rows.where('id', '<', cursor)
})

const count = query<Filters, { total: number }>((knex, filters) => matching(knex, filters).count({ total: '*' }))

/** Deliveries as JSON texts, newest first. */
export const readDeliveries = (db: Db, filters: Filters, page_: Page) => db.column(page, { ...filters, ...page_ })

export const countDeliveries = async (db: Db, filters: Filters): Promise<number> =>
	(await db.get(count, { ...filters }))?.total ?? 0

const attemptFields = ['startedAt', 'durationMs', 'responseStatus', 'responseBody', 'error']

function attemptsOf(knex: Knex, dialect: Dialect): Knex.Raw {
	const pairs = attemptFields.map((name) => `'${name}', a."${name}"`).join(', ')
	const from = `from webhook_attempts a where a."organizationId" = webhook_deliveries."organizationId" and a."deliveryId" = webhook_deliveries.id`
	if (dialect === 'sqlite') return knex.raw(`(select json_group_array(json_object(${pairs}) order by a.number) ${from})`)
	return knex.raw(`(select coalesce(json_agg(json_build_object(${pairs}) order by a.number), '[]') ${from})`)
}

const one = query<Key, { json: string }>((knex, key, dialect) =>
	knex('webhook_deliveries')
		.where(key)
		.select(jsonColumn(knex, dialect, fields.WebhookDeliveryDetails, { ...shown(knex), attempts: attemptsOf(knex, dialect) })),
)

/** A delivery with its attempts, as JSON text. */
export const readDelivery = async (db: Db, key: Key): Promise<string | undefined> => (await db.get(one, key))?.json

const locked = query<Key, { json: string }>((knex, key, dialect) =>
	knex('webhook_deliveries')
		.where(key)
		.select(jsonColumn(knex, dialect, fields.WebhookDelivery, shown(knex)))
		.forUpdate(),
)

export async function lockDelivery(db: Db, key: Key): Promise<WebhookDelivery | undefined> {
	const row = await db.get(locked, key)
	return row && (JSON.parse(row.json) as WebhookDelivery)
}

const again = query<Key & { now: number }>((knex, { now, ...key }) =>
	knex('webhook_deliveries').where(key).update({ status: 'pending', retryCount: 0, nextAttemptAt: now, updatedAt: now }),
)

/** Makes a delivery due again, at once and with the whole schedule. */
export const deliverAgain = (db: Db, key: Key, now: number) => db.run(again, { ...key, now })

interface OfEndpoint {
	readonly organizationId: string
	readonly id: string
}

/** `+` makes SQLite find these by status instead of endpoint: an endpoint may have millions of deliveries in other statuses. */
const ofEndpoint = (dialect: Dialect) => `${dialect === 'sqlite' ? '+' : ''}"endpointId" = ?`

/** Only the first delivery of each record becomes due, unless an earlier one still waits: the others wait for it. */
const allAgain = query<{ organizationId: string; endpointId: string; since: number; now: number }>(
	(knex, { organizationId, endpointId, since, now }, dialect) =>
		knex.raw(
			`with again as (
				select id, row_number() over (partition by "resourceId" order by sequence) as place from webhook_deliveries
				where "organizationId" = ? and ${ofEndpoint(dialect)} and status in ('skipped', 'exhausted') and "createdAt" >= ?
			)
			update webhook_deliveries as a set status = 'pending', "retryCount" = 0, "updatedAt" = ?,
				"nextAttemptAt" = case when again.place = 1 and not ${hasEarlier('a')} then ${dialect === 'sqlite' ? '?' : '?::bigint'} end
			from again where a."organizationId" = ? and a.id = again.id`,
			[organizationId, endpointId, since, now, now, organizationId],
		),
)

/** Makes an endpoint's skipped and exhausted deliveries due again, those written from `since` on; returns how many. */
export const deliverAllAgain = (db: Db, { organizationId, id }: OfEndpoint, since: number, now: number) =>
	db.run(allAgain, { organizationId, endpointId: id, since, now })

interface Ending {
	readonly organizationId: string
	readonly endpointId: string
	readonly status: 'skipped' | 'cancelled'
	readonly now: number
}

/** A delivery under way is left to its result. */
const end = query<Ending>((knex, { organizationId, endpointId, status, now }, dialect) =>
	knex('webhook_deliveries')
		.where({ organizationId })
		.whereIn('status', ['pending', 'retrying'])
		.whereRaw(ofEndpoint(dialect), [endpointId])
		.update({ status, nextAttemptAt: null, updatedAt: now }),
)

/** Skips the deliveries that wait for a paused or disabled endpoint. They stay, and a caller may redeliver them. */
export const skipWaiting = (db: Db, { organizationId, id }: OfEndpoint, now: number) =>
	db.run(end, { organizationId, endpointId: id, status: 'skipped', now })

export const cancelWaiting = (db: Db, { organizationId, id }: OfEndpoint, now: number) =>
	db.run(end, { organizationId, endpointId: id, status: 'cancelled', now })
