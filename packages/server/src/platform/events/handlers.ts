import type { PageMeta, WebhookEvent, WebhookEventType } from '../../generated/contract.ts'
import { ApiError } from '../base/errors.ts'
import { typesMatching } from '../contract/event-patterns.ts'
import type { Database } from '../db/database.ts'
import { totalOf } from '../db/pages.ts'
import { dataText, listText } from '../http/answers.ts'
import type { Handler } from '../http/handler.ts'
import { answerPage } from '../http/record-handlers.ts'
import { pageOfAll } from '../lists/given.ts'
import { countEvents, endOfFeed, findEnd, findPlaceBefore, readEvents } from './feed-store.ts'
import { readEvent } from './store.ts'
import { describedTypes } from './types.ts'

export const listTypes: Handler<'webhooks.eventTypes.list'> = (call, context) =>
	answerPage<WebhookEventType>('event types', call, context, async (page) => pageOfAll(describedTypes(), page))

/** A cursor of the feed is a place, whatever the filters and the order; `nextCursor` is there also at the end, for what is to come. */
export const list: Handler<'webhooks.events.list'> = async ({ query, caller }, { db }) => {
	const { limit, offset, cursor, order, type, resourceType, ...rest } = query
	const { organizationId, reach } = caller
	const types = typesMatching({ type, resourceType }, reach)
	const [only, ...others] = types ?? []
	const isOne = only !== undefined && others.length === 0
	const filters = { ...rest, organizationId, ...(isOne && { type: only }) }
	const at = await placeOf(db, organizationId, query)
	const { rows, length, hasMore, last } = await readEvents(db, filters, { limit, offset, ...at }, isOne ? undefined : types)
	const count = () => countEvents(db, filters, at.after, isOne ? undefined : types)
	const total = cursor === undefined ? await totalOf({ limit, offset }, { length, hasMore }, count) : null
	const unread = cursor === 'now' && order !== 'desc' ? String(at.after) : (cursor ?? null)
	const nextCursor = last === undefined ? unread : String(last)
	const meta = { total, limit, offset, hasMore, nextCursor }
	return { status: 200, next: hasMore ? nextCursor : null, body: listText<WebhookEvent, PageMeta>(rows, meta) }
}

type Query = Parameters<typeof list>[0]['query']

/** Where the page begins. */
async function placeOf(db: Database, organizationId: string, { cursor, order, since }: Query): Promise<Place> {
	const first = since === undefined ? 0 : await findPlaceBefore(db, organizationId, since)
	if (order === 'desc') return { after: first, before: cursor === undefined || cursor === 'now' ? endOfFeed : Number(cursor) }
	const after = cursor === 'now' ? await findEnd(db, organizationId) : Number(cursor ?? 0)
	return { after: Math.max(first, after) }
}

interface Place {
	readonly after: number
	readonly before?: number
}

export const get: Handler<'webhooks.events.get'> = async ({ params: { id }, caller }, { db }) => {
	const event = await readEvent(db, caller.organizationId, id, typesMatching({}, caller.reach))
	if (event === undefined) throw new ApiError('event_not_found', `There is no event ${id}, or it is no longer kept.`)
	return { status: 200, body: dataText<WebhookEvent>(event) }
}
