import type { Caller } from '../auth/caller.ts'
import { ApiError } from '../base/errors.ts'
import { typesAbout } from '../contract/event-patterns.ts'
import type { CursorMeta, EventType, PageMeta, WebhookEvent, WebhookEventType } from '../generated/contract.ts'
import { dataText, listText } from '../http/answers.ts'
import type { Handler } from '../http/handler.ts'
import { countEvents, readEvent, readEvents } from './store.ts'
import { describedTypes } from './types.ts'

export const listTypes: Handler<'webhooks.eventTypes.list'> = async ({ query: { limit, offset } }) => {
	const types = describedTypes()
	const meta = { total: types.length, limit, offset }
	return { status: 200, body: listText<WebhookEventType, PageMeta>(types.slice(offset, offset + limit), meta) }
}

export const list: Handler<'webhooks.events.list'> = async ({ query, caller }, { db }) => {
	const { limit, offset, cursor, ...rest } = query
	const filters = { ...rest, organizationId: caller.organizationId }
	const types = typesWithin(caller, rest.type)
	const { rows, last } = await readEvents(db, filters, { limit, offset, after: Number(cursor ?? 0) }, types)
	const total = cursor === undefined ? await countEvents(db, filters, types) : null
	const nextCursor = last === undefined ? (cursor ?? null) : String(last)
	return { status: 200, body: listText<WebhookEvent, CursorMeta>(rows, { total, limit, offset, nextCursor }) }
}

/** The types that a caller's key is limited to; undefined for all. The filter by a type that is among them is limit enough. */
function typesWithin({ reach }: Caller, filter?: EventType): readonly EventType[] | undefined {
	if (reach === null) return undefined
	const types = typesAbout(reach)
	if (filter === undefined) return types
	return types.includes(filter) ? undefined : []
}

export const get: Handler<'webhooks.events.get'> = async ({ params: { id }, caller }, { db }) => {
	const event = await readEvent(db, caller.organizationId, id, typesWithin(caller))
	if (event === undefined) throw new ApiError('event_not_found', `There is no event ${id}, or it is no longer kept.`)
	return { status: 200, body: dataText<WebhookEvent>(event) }
}
