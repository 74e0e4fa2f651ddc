import type { WebhookEndpoint } from '../../generated/contract.ts'
import type { Caller } from '../../platform/auth/caller.ts'
import { covers } from '../../platform/auth/keys.ts'
import { toMs } from '../../platform/base/dates.ts'
import { recordChange } from '../../platform/db/audit-log.ts'
import type { Db } from '../../platform/db/database.ts'
import { deliveryIdOf } from '../../platform/events/fan-out-store.ts'
import { requireSafeUrl } from '../../platform/http/caller-urls.ts'
import { type Handler, writeContext } from '../../platform/http/handler.ts'
import { recordAnswers, removed } from '../../platform/http/record-handlers.ts'
import {
	changeEndpoint,
	removeEndpoint,
	requireActive,
	requireOwnNames,
	requireReach,
	requireReadyForAll,
	requireRoom,
} from './endpoint-rules.ts'
import {
	createEndpoint,
	endpoints,
	headerColumns,
	hostOf,
	recordEndpointEvent,
	resumeEndpoint,
	rotateSecret as rotate,
} from './endpoint-store.ts'
import { releaseHosts } from './probation-store.ts'
import { countAgain, deliverAllAgain } from './redelivery-store.ts'
import { readStats } from './stats-store.ts'

const answers = recordAnswers(endpoints, '/webhooks/endpoints')

export const list: Handler<'webhooks.endpoints.list'> = ({ query, caller }, context) =>
	answers.list({ caller, query: { ...query, ...(caller.reach && { within: caller.reach }) } }, context)

export const get: Handler<'webhooks.endpoints.get'> = async (call, context) => {
	const { params, caller } = call
	if (caller.reach !== null) await requireVisible(context.db, caller, params.id)
	return answers.get(call, context)
}

export const stats: Handler<'webhooks.endpoints.stats'> = async ({ params: { id }, caller }, { db, now }) => {
	await requireVisible(db, caller, id)
	return { status: 200, body: { data: await readStats(db, caller.organizationId, id, now) } }
}

/** To a key that is limited to some kinds of records, an endpoint that gets others is none. */
async function requireVisible(db: Db, { organizationId, reach }: Caller, id: string): Promise<WebhookEndpoint> {
	const endpoint = await endpoints.find(db, organizationId, id)
	if (!endpoint || !covers(reach, endpoint.resources)) throw endpoints.notFound(id)
	return endpoint
}

const lock = async (call: Parameters<typeof answers.lock>[0], db: Db): Promise<WebhookEndpoint> => {
	if (call.caller.reach !== null) await requireVisible(db, call.caller, call.params.id)
	return answers.lock(call, db)
}

export const create: Handler<'webhooks.endpoints.create'> = async ({ body, caller }, { services, commit }) => {
	const resources = caller.reach && [...caller.reach]
	requireReach(resources, body.eventTypes)
	requireOwnNames(body.headers)
	await requireSafeUrl(services.egress, body.url, '/url', caller.organizationId)
	return commit(async (tx, origin) => {
		await requireRoom(tx, caller.organizationId)
		const write = writeContext({ db: tx, origin }, caller)
		const { secret, ...endpoint } = await createEndpoint(write, services.secrets, { ...body, resources })
		const { id } = endpoint
		return { ...answers.created(endpoint), body: { id, secret } }
	})
}

export const update: Handler<'webhooks.endpoints.update'> = async (call, { services, commit }) => {
	const { body, caller } = call
	const { headers, ...changes } = body
	requireOwnNames(headers)
	const key = { organizationId: caller.organizationId, id: call.params.id }
	const columns = headers && headerColumns(services.secrets, key, headers)
	if (body.url !== undefined) await requireSafeUrl(services.egress, body.url, '/url', caller.organizationId)
	return commit(async (tx, origin) => {
		const stored = await lock(call, tx)
		return answers.changed(await changeEndpoint(writeContext({ db: tx, origin }, caller), stored, { ...changes, ...columns }))
	})
}

export const remove: Handler<'webhooks.endpoints.delete'> = async (call, context) => {
	await removeEndpoint(context, await lock(call, context.db))
	return removed
}

/** An action overwrites no other caller's change, so it takes no `If-Match`. */
const anyVersion = <C extends object>(call: C) => ({ ...call, expectVersion: () => {} })

/** How long the old secret keeps signing unless the caller sets it. */
const defaultGraceSeconds = 86_400

export const rotateSecret: Handler<'webhooks.endpoints.rotateSecret'> = async (call, context) => {
	const { db, now, services } = context
	const endpoint = await lock(anyVersion(call), db)
	const grace = (call.body?.graceSeconds ?? defaultGraceSeconds) * 1000
	const previousSecretExpiresAt = grace > 0 ? now + grace : null
	return { status: 200, body: await rotate(context, services.secrets, endpoint, previousSecretExpiresAt) }
}

export const test: Handler<'webhooks.endpoints.test'> = async (call, { db, now, origin }) => {
	const endpoint = await lock(anyVersion(call), db)
	requireActive(endpoint)
	const eventId = await recordEndpointEvent(db, origin, endpoint, 'webhook.test', endpoint.id)
	// A person waits for it. It is one of the attempts of the hour that the host gets on probation.
	await releaseHosts(db, [hostOf(endpoint.url)])
	await resumeEndpoint(db, endpoint, now)
	await recordChange({ db, origin }, { ...audited(endpoint), action: 'tested' })
	return { status: 200, body: { id: deliveryIdOf(eventId, endpoint.id) } }
}

export const redeliver: Handler<'webhooks.endpoints.redeliver'> = async (call, { db, now, origin, commit }) => {
	const since = call.body?.since === undefined ? 0 : toMs(call.body.since)
	const status = call.body?.status ?? null
	// Asked for again under the lock; but what is refused need not be counted.
	await requireReadyForAll(db, await requireVisible(db, call.caller, call.params.id))
	const counted = await countAgain(db, { organizationId: call.caller.organizationId, id: call.params.id }, status, since)
	return commit(async (tx) => {
		const endpoint = await lock(anyVersion(call), tx)
		await requireReadyForAll(tx, endpoint)
		await resumeEndpoint(tx, endpoint, now)
		const part = await deliverAllAgain(tx, endpoint, status, since, now)
		const count = part.isAll ? part.count : counted
		const after = { since, ...(status !== null && { status }), count }
		await recordChange({ db: tx, origin }, { ...audited(endpoint), action: 'redelivered', after })
		return { status: 200, body: { count } }
	})
}

const audited = ({ organizationId, id }: WebhookEndpoint) =>
	({ organizationId, resource: 'webhook_endpoint', resourceId: id }) as const
