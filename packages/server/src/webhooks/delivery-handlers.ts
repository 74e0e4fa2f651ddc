import { ApiError } from '../base/errors.ts'
import { recordChange } from '../db/audit-log.ts'
import type { CursorMeta, WebhookDelivery, WebhookDeliveryDetails } from '../generated/contract.ts'
import { dataText, listText } from '../http/answers.ts'
import type { Handler } from '../http/handler.ts'
import { countDeliveries, deliverAgain, lockDelivery, readDeliveries, readDelivery } from './delivery-store.ts'
import { requireReady } from './endpoint-rules.ts'
import { endpoints } from './endpoint-store.ts'

const notFound = (id: string) =>
	new ApiError('webhook_delivery_not_found', `There is no delivery ${id}, or it is no longer kept.`)

export const list: Handler<'webhooks.deliveries.list'> = async ({ query, caller }, { db }) => {
	const { limit, offset, cursor, ...rest } = query
	const filters = { ...rest, organizationId: caller.organizationId }
	const rows = await readDeliveries(db, filters, { limit, offset, ...(cursor !== undefined && { cursor }) })
	const total = cursor === undefined ? await countDeliveries(db, filters) : null
	const last = rows.at(-1)
	const nextCursor = last === undefined ? (cursor ?? null) : (JSON.parse(last) as WebhookDelivery).id
	return { status: 200, body: listText<WebhookDelivery, CursorMeta>(rows, { total, limit, offset, nextCursor }) }
}

export const get: Handler<'webhooks.deliveries.get'> = async ({ params: { id }, caller: { organizationId } }, { db }) => {
	const delivery = await readDelivery(db, { organizationId, id })
	if (delivery === undefined) throw notFound(id)
	return { status: 200, body: dataText<WebhookDeliveryDetails>(delivery) }
}

export const redeliver: Handler<'webhooks.deliveries.redeliver'> = async ({ params: { id }, caller }, { db, now, origin }) => {
	const key = { organizationId: caller.organizationId, id }
	const delivery = await lockDelivery(db, key)
	if (!delivery) throw notFound(id)
	const endpoint = await endpoints.lockShared(db, caller.organizationId, delivery.endpointId)
	if (!endpoint) throw new ApiError('webhook_endpoint_not_active', `The endpoint ${delivery.endpointId} was deleted.`)
	await requireReady(db, endpoint)
	if (delivery.status === 'pending' || delivery.status === 'delivering')
		throw new ApiError('delivery_under_way', `The delivery ${id} is ${delivery.status} already.`)
	await deliverAgain(db, key, now)
	const { organizationId, id: resourceId } = endpoint
	const audited = { organizationId, resource: 'webhook_endpoint', resourceId } as const
	await recordChange({ db, origin }, { ...audited, action: 'redelivered', after: { deliveryId: id } })
	return { status: 200, body: { ok: true } }
}
