import type { EventType, WebhookDelivery } from '../../generated/contract.ts'
import type { Caller } from '../../platform/auth/caller.ts'
import { covers } from '../../platform/auth/keys.ts'
import { ApiError } from '../../platform/base/errors.ts'
import { beginningOf } from '../../platform/base/ids.ts'
import { typesMatching } from '../../platform/contract/event-patterns.ts'
import { recordChange } from '../../platform/db/audit-log.ts'
import type { Db } from '../../platform/db/database.ts'
import type { Handler } from '../../platform/http/handler.ts'
import { answerPage } from '../../platform/http/record-handlers.ts'
import {
	type Branch,
	deliverAgain,
	findDelivery,
	lockDelivery,
	maxMergedOffset,
	readDeliveries,
	readDeliveriesAmong,
} from './delivery-store.ts'
import { requireReady } from './endpoint-rules.ts'
import { endpoints, endpointsWithin, resumeEndpoint } from './endpoint-store.ts'

const notFound = (id: string) =>
	new ApiError('webhook_delivery_not_found', `There is no delivery ${id}, or it is no longer kept.`)

export const list: Handler<'webhooks.deliveries.list'> = async ({ query, caller }, context) => {
	const { db, now } = context
	const { limit: _, offset, cursor: _cursor, type, resourceType, since, status, ...rest } = query
	const types = typesMatching({ type, resourceType }, null)
	const filters = {
		...rest,
		organizationId: caller.organizationId,
		...(types && { types }),
		...(status === 'delivering' ? { underWayAt: now } : status !== undefined && { status }),
		...((status === 'pending' || status === 'retrying') && { atRestAt: now }),
		...(since !== undefined && { from: beginningOf('whd', since) }),
	}
	const branches = await branchesOf(db, caller, filters)
	if (branches && offset > maxMergedOffset) throw tooFar()
	return answerPage<WebhookDelivery>('delivery', { query, caller }, context, (page) =>
		branches ? readDeliveriesAmong(db, branches, filters, page) : readDeliveries(db, filters, page),
	)
}

interface Narrowing {
	readonly endpointId?: string
	readonly eventId?: string
	readonly resourceId?: string
	readonly types?: readonly EventType[]
}

/** The stretches of an index that make up the list; undefined when it is one. */
async function branchesOf(db: Db, caller: Caller, filters: Narrowing): Promise<readonly Branch[] | undefined> {
	const { endpointId, eventId, resourceId, types } = filters
	const to = await visibleEndpoints(db, caller, endpointId)
	// Few deliveries are of one event or record.
	const isByType = types !== undefined && (eventId ?? resourceId) === undefined
	const ofTypes = isByType ? types.map((eventType) => ({ eventType })) : [{}]
	if (to) return to.flatMap((id) => ofTypes.map((branch) => ({ ...branch, endpointId: id })))
	return isByType ? ofTypes : undefined
}

function tooFar(): ApiError {
	const detail = `must be at most ${maxMergedOffset} with a filter by type, and for a key that is limited to some kinds of records: read on by cursor`
	return new ApiError('invalid_request', 'The offset is too large.', {
		errors: [{ parameter: 'offset', code: 'maximum', detail }],
	})
}

/** The endpoints whose deliveries a key sees that is limited to some kinds of records; undefined for all. */
async function visibleEndpoints(db: Db, { organizationId, reach }: Caller, filter?: string): Promise<string[] | undefined> {
	if (reach === null) return undefined
	const visible = await endpointsWithin(db, organizationId, reach)
	return filter === undefined ? visible : visible.filter((id) => id === filter)
}

export const get: Handler<'webhooks.deliveries.get'> = async ({ params: { id }, caller }, { db }) => {
	const data = await findDelivery(db, { organizationId: caller.organizationId, id })
	if (data === undefined || !(await isVisible(db, caller, data))) throw notFound(id)
	return { status: 200, body: { data } }
}

const isVisible = async (db: Db, caller: Caller, { endpointId }: WebhookDelivery): Promise<boolean> =>
	(await visibleEndpoints(db, caller))?.includes(endpointId) ?? true

export const redeliver: Handler<'webhooks.deliveries.redeliver'> = async ({ params: { id }, caller }, { db, now, origin }) => {
	const key = { organizationId: caller.organizationId, id }
	const delivery = await lockDelivery(db, key)
	if (!delivery) throw notFound(id)
	const endpoint = await endpoints.lock(db, caller.organizationId, delivery.endpointId)
	if (!covers(caller.reach, endpoint?.resources ?? null)) throw notFound(id)
	if (!endpoint) throw new ApiError('webhook_endpoint_not_active', `The endpoint ${delivery.endpointId} was deleted.`)
	await requireReady(db, endpoint)
	if (delivery.status === 'pending' || delivery.status === 'delivering')
		throw new ApiError('delivery_under_way', `The delivery ${id} is ${delivery.status} already.`)
	await deliverAgain(db, key, now)
	await resumeEndpoint(db, endpoint, now)
	const { organizationId, id: resourceId } = endpoint
	const audited = { organizationId, resource: 'webhook_endpoint', resourceId } as const
	await recordChange({ db, origin }, { ...audited, action: 'redelivered', after: { deliveryId: id } })
	return { status: 200, body: { ok: true } }
}
