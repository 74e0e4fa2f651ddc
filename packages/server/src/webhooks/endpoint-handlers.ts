import { toMs } from '../base/dates.ts'
import { fieldError } from '../base/errors.ts'
import { deliveryIdOf } from '../events/fan-out-store.ts'
import type { Handler } from '../http/handler.ts'
import { answersOf, removed } from '../http/record-handlers.ts'
import { type Egress, UnresolvableUrl, UnsafeUrl } from '../outside/egress.ts'
import { cancelWaiting, deliverAllAgain, skipWaiting } from './delivery-store.ts'
import { refuseInactive } from './endpoint-rules.ts'
import { endpoints, insertEndpoint, recordEndpointEvent, removeEndpoint, rotateSecret as rotate } from './endpoint-store.ts'

const answers = answersOf(endpoints, {
	name: 'webhook endpoint',
	notFound: 'webhook_endpoint_not_found',
	path: '/webhooks/endpoints',
})

export const list: Handler<'webhooks.endpoints.list'> = answers.list

export const get: Handler<'webhooks.endpoints.get'> = answers.get

export const create: Handler<'webhooks.endpoints.create'> = async ({ body, caller }, { outside, now, conclude }) => {
	await refuseUnsafe(outside.egress, body.url)
	return conclude(async (tx) => {
		const { secret, ...endpoint } = await insertEndpoint(tx, outside.secrets, caller.organizationId, body, now)
		const { id } = endpoint
		return { ...answers.created(endpoint), body: { id, secret } }
	})
}

export const update: Handler<'webhooks.endpoints.update'> = async (call, { outside, now, conclude }) => {
	const { body } = call
	if (body.url !== undefined) await refuseUnsafe(outside.egress, body.url)
	return conclude(async (tx) => {
		const before = await answers.lock(call, tx)
		// What was held against it is forgotten when its owner says that it works.
		const mended = body.status === 'active' && { disabledReason: null, failingSince: null, warnedAt: null }
		const after = await endpoints.update(tx, before, { ...body, ...mended }, now)
		if (after.status !== 'active') await skipWaiting(tx, after, now)
		return answers.changed(after)
	})
}

export const remove: Handler<'webhooks.endpoints.delete'> = async (call, { db, now }) => {
	const endpoint = await answers.lock(call, db)
	await removeEndpoint(db, endpoint, now)
	await cancelWaiting(db, endpoint, now)
	return removed
}

/** An action is no change that could be lost: it takes no `If-Match`. */
const anyVersion = <C extends object>(call: C) => ({ ...call, expectVersion: () => {} })

/** How long an old secret signs on, unless the caller says otherwise. */
const graceSeconds = 86_400

export const rotateSecret: Handler<'webhooks.endpoints.rotateSecret'> = async (call, { db, now, outside }) => {
	const endpoint = await answers.lock(anyVersion(call), db)
	const grace = (call.body?.graceSeconds ?? graceSeconds) * 1000
	const previousSecretExpiresAt = grace > 0 ? now + grace : null
	const secret = await rotate(db, outside.secrets, endpoint, previousSecretExpiresAt, now)
	return { status: 200, body: { secret, previousSecretExpiresAt } }
}

export const test: Handler<'webhooks.endpoints.test'> = async (call, { db, origin }) => {
	const endpoint = await answers.lock(anyVersion(call), db)
	refuseInactive(endpoint)
	const eventId = await recordEndpointEvent(db, origin, endpoint, 'webhook.test', endpoint.id)
	return { status: 200, body: { id: deliveryIdOf(eventId, endpoint.id) } }
}

export const redeliver: Handler<'webhooks.endpoints.redeliver'> = async (call, { db, now }) => {
	const endpoint = await answers.lock(anyVersion(call), db)
	refuseInactive(endpoint)
	const since = call.body?.since === undefined ? 0 : toMs(call.body.since)
	return { status: 200, body: { count: await deliverAllAgain(db, endpoint, since, now) } }
}

/** Before it is stored; and again, by its sockets, whenever it is called. */
async function refuseUnsafe(egress: Egress, url: string): Promise<void> {
	try {
		await egress.check(url)
	} catch (error) {
		if (error instanceof UnsafeUrl) throw fieldError('unsafe_url', '/url', error.message)
		if (error instanceof UnresolvableUrl) throw fieldError('unresolvable_url', '/url', error.message)
		throw error
	}
}
