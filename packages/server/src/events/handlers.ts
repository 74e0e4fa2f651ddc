import { ApiError } from '../base/errors.ts'
import type { CursorMeta, PageMeta, WebhookEvent, WebhookEventType } from '../generated/contract.ts'
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
	const { rows, last } = await readEvents(db, filters, { limit, offset, after: Number(cursor ?? 0) })
	const total = cursor === undefined ? await countEvents(db, filters) : null
	const nextCursor = last === undefined ? (cursor ?? null) : String(last)
	return { status: 200, body: listText<WebhookEvent, CursorMeta>(rows, { total, limit, offset, nextCursor }) }
}

export const get: Handler<'webhooks.events.get'> = async ({ params: { id }, caller }, { db }) => {
	const event = await readEvent(db, caller.organizationId, id)
	if (event === undefined) throw new ApiError('event_not_found', `There is no event ${id}, or it is no longer kept.`)
	return { status: 200, body: dataText<WebhookEvent>(event) }
}
