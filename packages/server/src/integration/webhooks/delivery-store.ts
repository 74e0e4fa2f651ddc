import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Knex } from 'knex'
import type { DeliveryStatus, EventType, WebhookDelivery, WebhookDeliveryDetails } from '../../generated/contract.ts'
import { fields } from '../../generated/tables.ts'
import { type Db, type Dialect, type Placeholders, query } from '../../platform/db/database.ts'
import { jsonColumn } from '../../platform/db/json.ts'
import { listOf } from '../../platform/db/list-of.ts'
import {
	type CountedPage,
	countBound,
	countRows,
	cutPage,
	type Order,
	onPage,
	type PageParameters,
	type PageQuery,
	pageParameters,
	totalOf,
} from '../../platform/db/pages.ts'
import { isAnyOf, type ListFilter } from '../../platform/db/records.ts'
import { isLeased } from '../../platform/events/fan-out-store.ts'
import { readEvent } from '../../platform/events/store.ts'
import { attemptedFrom, isOnProbation } from './probation-store.ts'
import { type SentRequest, shownRequest } from './sent-request.ts'

interface Key {
	readonly organizationId: string
	readonly id: string
}

type Filters = Pick<ListFilter<'webhooks.deliveries.list'>, 'endpointId' | 'eventId' | 'resourceId'> & {
	readonly organizationId: string
	readonly eventType?: EventType
	readonly status?: DeliveryStatus
	/** Only those that are under way at this time, or none of them: their column has what they were before. */
	readonly underWayAt?: number
	readonly atRestAt?: number
	/** Only of these types. */
	readonly types?: readonly EventType[]
	/** Only this delivery and newer ones. */
	readonly from?: string
}

const shown = (knex: Knex, dialect: Dialect) => ({
	status: knex.raw(`case when ${isLeased} then 'delivering' else status end`),
	nextAttemptAt: knex.raw(attemptedFrom(dialect)),
	onProbation: knex.raw(isOnProbation),
})

/**
 * The few that are under way, by their ids, so that the others are counted by an index which does not have this column. No index of PostgreSQL
 * has it: they are among the first that are due at each endpoint, behind those that became due meanwhile.
 */
const underWay = (
	knex: Knex,
	organizationId: Knex.Value,
	endpointId: Knex.Value | undefined,
	now: Knex.Value,
	dialect: Dialect,
) =>
	dialect === 'sqlite'
		? knex('webhook_deliveries').where({ organizationId }).whereRaw(isLeased).select('id')
		: knex.raw(
				`select d.id from webhook_endpoints p cross join lateral (
					select id, "leaseEnd" from webhook_deliveries where "organizationId" = p."organizationId" and "endpointId" = p.id
					and "nextAttemptAt" <= ? order by "nextAttemptAt" limit ${countBound}) as d
				where p."organizationId" = ? ${endpointId === undefined ? '' : 'and p.id = ?'} and d."leaseEnd" is not null`,
				[now, organizationId, ...(endpointId === undefined ? [] : [endpointId])],
			)

/** After its prefix a delivery's id begins with its event's, so the primary key finds an event's deliveries. */
function matching(
	knex: Knex,
	{ eventId, types, from, underWayAt, atRestAt, ...filters }: Placeholders<Filters>,
	dialect: Dialect,
) {
	const rows = knex('webhook_deliveries').where(filters)
	const { organizationId, endpointId } = filters
	if (underWayAt !== undefined)
		rows.whereRaw(dialect === 'sqlite' ? 'id in (?)' : 'id = any(array(?))', [
			underWay(knex, organizationId, endpointId, underWayAt, dialect),
		])
	if (atRestAt !== undefined) rows.whereRaw('id not in (?)', [underWay(knex, organizationId, endpointId, atRestAt, dialect)])
	if (types !== undefined) rows.whereRaw(isAnyOf('eventType', dialect), [types])
	if (from !== undefined) rows.where('id', '>=', from)
	if (eventId === undefined) return rows
	return rows
		.where({ eventId })
		.whereRaw(`id >= 'whd_' || substr(?, 5)`, [eventId])
		.whereRaw(`id < 'whd_' || substr(?, 5) || '~'`, [eventId])
}

const newestFirst: Order = { column: 'id', direction: 'desc' }

const list = listOf<Filters>({
	table: 'webhook_deliveries',
	order: newestFirst,
	matching,
	columns: (knex, dialect) => jsonColumn(knex, dialect, fields.WebhookDelivery, shown(knex, dialect)),
})

/** A page of deliveries as JSON texts, newest first. */
export const readDeliveries = (db: Db, filters: Filters, page: PageQuery) => list.readCounted(db, filters, page)

const count = query<Filters, { total: number }>((knex, filters, dialect) => countRows(knex, matching(knex, filters, dialect)))

const newest = query<Filters & PageParameters, { id: string }>(
	(knex, { limit, offset, afterKey, afterId, ...filters }, dialect) => {
		const at = { limit, offset, afterKey, afterId } as Placeholders<PageParameters>
		return onPage(matching(knex, filters as unknown as Placeholders<Filters>, dialect), at, newestFirst).select('id')
	},
)

const byIds = query<{ organizationId: string; ids: readonly string[] }, { json: string }>(
	(knex, { organizationId, ids }, dialect) =>
		knex('webhook_deliveries')
			.where({ organizationId })
			.whereRaw(isAnyOf('id', dialect), [ids])
			.select(jsonColumn(knex, dialect, fields.WebhookDelivery, shown(knex, dialect)))
			.orderBy('id', 'desc'),
)

/** Beyond it `readDeliveriesAmong` would read too many ids at once. */
export const maxMergedOffset = 10_000

/** What narrows a list to one stretch of an index. */
export type Branch = Pick<Filters, 'endpointId' | 'eventType'>

/** A branch of one type needs no list of them. */
function within({ types, ...filters }: Filters, branch: Branch): Filters {
	return { ...filters, ...branch, ...(types !== undefined && branch.eventType === undefined && { types }) }
}

/** The same of these endpoints or types alone: the newest of each, by its index, and of those the newest. */
export async function readDeliveriesAmong(
	db: Db,
	branches: readonly Branch[],
	filters: Filters,
	{ limit, offset, after }: PageQuery,
): Promise<CountedPage> {
	const { organizationId } = filters
	const [only, ...others] = branches
	if (only === undefined) return { rows: [], hasMore: false, total: after ? null : 0 }
	if (others.length === 0) return readDeliveries(db, within(filters, only), { limit, offset, after })
	const found: string[] = []
	const first = pageParameters({ limit: limit + offset, offset: 0, after })
	for (const branch of branches) {
		for (const { id } of await db.all(newest, { ...within(filters, branch), ...first })) found.push(id)
		// A deep offset reads many of each.
		if (offset > 0) await nextTurn()
	}
	const { rows: ids, hasMore } = cutPage(found.sort().reverse().slice(offset), limit)
	const rows = await db.column(byIds, { organizationId, ids })
	const counted = () => countAmong(db, branches, filters)
	const total = after ? null : await totalOf({ limit, offset }, { length: rows.length, hasMore }, counted)
	const end = ids.at(-1)
	return { rows, hasMore, total, ...(hasMore && end !== undefined && { end: { key: end, id: end } }) }
}

/** Counts on while the sum is not beyond the bound. */
async function countAmong(db: Db, branches: readonly Branch[], filters: Filters): Promise<number> {
	let total = 0
	for (const branch of branches) {
		total += (await db.get(count, within(filters, branch)))?.total ?? 0
		if (total > countBound) break
		await nextTurn()
	}
	return total
}

const attemptFields = ['startedAt', 'durationMs', 'responseStatus', 'responseBody', 'error']

function attemptsOf(knex: Knex, dialect: Dialect): Knex.Raw {
	const pairs = attemptFields.map((name) => `'${name}', a."${name}"`).join(', ')
	const from = `from webhook_attempts a where a."organizationId" = webhook_deliveries."organizationId" and a."deliveryId" = webhook_deliveries.id`
	if (dialect === 'sqlite') return knex.raw(`(select json_group_array(json_object(${pairs}) order by a.number) ${from})`)
	return knex.raw(`(select coalesce(json_agg(json_build_object(${pairs}) order by a.number), '[]') ${from})`)
}

/** What is stored of the last attempt's request. */
function lastRequest(knex: Knex, dialect: Dialect): Knex.Raw {
	const sqlite = dialect === 'sqlite'
	const sent = sqlite ? 'json(a.request)' : 'a.request::json'
	return knex.raw(`(select case when a.request is not null then ${sqlite ? 'json_object' : 'json_build_object'}('startedAt', a."startedAt", 'sent', ${sent}) end
		from webhook_attempts a where a."organizationId" = webhook_deliveries."organizationId" and a."deliveryId" = webhook_deliveries.id
		order by a.number desc limit 1)`)
}

const one = query<Key, { json: string }>((knex, key, dialect) =>
	knex('webhook_deliveries')
		.where(key)
		.select(
			jsonColumn(knex, dialect, fields.WebhookDeliveryDetails, {
				...shown(knex, dialect),
				attempts: attemptsOf(knex, dialect),
				request: lastRequest(knex, dialect),
			}),
		),
)

type Stored = Omit<WebhookDeliveryDetails, 'request'> & {
	readonly request: { readonly startedAt: number; readonly sent: Pick<SentRequest, 'url' | 'headers'> } | null
}

/** A delivery with its attempts and its last request. */
export async function findDelivery(db: Db, key: Key): Promise<WebhookDeliveryDetails | undefined> {
	const row = await db.get(one, key)
	if (row === undefined) return undefined
	const { request: last, ...delivery } = JSON.parse(row.json) as Stored
	const body = last && (await readEvent(db, key.organizationId, delivery.eventId))
	if (!last || !body) return { ...delivery, request: null }
	return { ...delivery, request: shownRequest({ ...last.sent, startedAt: last.startedAt }, delivery.eventId, body) }
}

const locked = query<Key, { json: string }>((knex, key, dialect) =>
	knex('webhook_deliveries')
		.where(key)
		.select(jsonColumn(knex, dialect, fields.WebhookDelivery, shown(knex, dialect)))
		.forUpdate(),
)

export async function lockDelivery(db: Db, key: Key): Promise<WebhookDelivery | undefined> {
	const row = await db.get(locked, key)
	return row && (JSON.parse(row.json) as WebhookDelivery)
}

const again = query<Key & { now: number }>((knex, { now, ...key }) =>
	knex('webhook_deliveries')
		.where(key)
		.update({
			...{ status: 'pending', retryCount: 0, nextAttemptAt: now, updatedAt: now },
			...{ scheduledAt: null, holdsUntil: null, outOfOrder: false },
		}),
)

/** Makes a delivery due again, at once and with the whole schedule. */
export const deliverAgain = (db: Db, key: Key, now: number) => db.run(again, { ...key, now })
