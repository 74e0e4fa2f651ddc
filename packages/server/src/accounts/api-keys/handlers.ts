import type { ApiKey } from '../../generated/contract.ts'
import type { Caller } from '../../platform/auth/caller.ts'
import { allows, covers, type Reach, type Scope, scopesWithin } from '../../platform/auth/keys.ts'
import { toMs } from '../../platform/base/dates.ts'
import { ApiError, fieldError } from '../../platform/base/errors.ts'
import type { Db } from '../../platform/db/database.ts'
import type { Context, Handler } from '../../platform/http/handler.ts'
import { listHandler, removed } from '../../platform/http/record-handlers.ts'
import { lockOrganization } from '../organizations/store.ts'
import { apiKeys, countWorkingKeys, createKey, expireKey, type KeyFilter, revokeKey } from './store.ts'

const notFound = (id: string) => new ApiError('api_key_not_found', `There is no API key ${id} that works.`)

const readPage = listHandler<ApiKey, KeyFilter>(apiKeys)

export const list: Handler<'apiKeys.list'> = ({ query, caller }, context) =>
	readPage({ caller, query: { ...query, ...(caller.reach && { within: caller.reach }) } }, context)

/** The key, locked. To a key that is limited to some kinds of records, one that reaches others is none. */
async function lock({ organizationId, reach }: Caller, id: string, db: Db): Promise<ApiKey> {
	const key = await apiKeys.lock(db, organizationId, id)
	if (!key || !covers(reach, key.resources)) throw notFound(id)
	return key
}

export const create: Handler<'apiKeys.create'> = async ({ body, caller }, context) => {
	const { name, scopes, resources = null, expiresAt } = body
	const expiry = expiresAt ? toMs(expiresAt) : null
	rejectEscalation(caller, { scopes, resources, expiresAt: expiry })
	if (expiry !== null && expiry <= context.now)
		throw fieldError('expires_in_past', '/expiresAt', 'A key cannot expire before it begins.')
	await requireRoom(context, caller)
	return created(
		await createKey(context, caller.organizationId, {
			name,
			scopes: [...new Set(scopes)],
			resources: resources && [...new Set(resources)],
			expiresAt: expiry,
		}),
	)
}

const created = ({ id, key }: { id: string; key: string }) => ({ status: 201 as const, body: { id, key } })

export const remove: Handler<'apiKeys.delete'> = async ({ params, caller }, context) => {
	await lock(caller, params.id, context.db)
	if (!(await revokeKey(context, params.id, caller.organizationId))) throw notFound(params.id)
	forgetKeys(context, caller)
	return removed
}

/** How long an old key still works after its rotation, unless the caller says otherwise. */
const overlapSeconds = 86_400

export const rotate: Handler<'apiKeys.rotate'> = async ({ params, body = {}, caller }, context) => {
	const { db, now } = context
	const { organizationId } = caller
	const old = await lock(caller, params.id, db)
	if (!isWorking(old, now)) throw notFound(params.id)
	const { name, scopes, resources, expiresAt } = old
	rejectEscalation(caller, old)
	const end = now + (body.overlapSeconds ?? overlapSeconds) * 1000
	await expireKey(context, old, Math.min(end, expiresAt ?? Infinity))
	await requireRoom(context, caller)
	const fresh = await createKey(context, organizationId, { name, scopes, resources, expiresAt })
	forgetKeys(context, caller)
	return created(fresh)
}

const isWorking = ({ revokedAt, expiresAt }: ApiKey, now: number) => revokedAt === null && (expiresAt === null || expiresAt > now)

interface Power {
	readonly scopes: readonly Scope[]
	readonly resources: Reach
	readonly expiresAt: number | null
}

/** Throws 403 unless the caller's own key has the scopes, reaches the kinds of records, and works as long as the new key. */
function rejectEscalation(caller: Caller, { scopes, resources, expiresAt }: Power): void {
	if (caller.expiresAt !== null && (expiresAt ?? Infinity) > caller.expiresAt) {
		const detail = `your own API key expires at ${caller.expiresAt}`
		const errors = [{ pointer: '/expiresAt', code: 'insufficient_scope', detail }]
		throw new ApiError('insufficient_scope', 'An API key that expires can create only keys that expire no later.', { errors })
	}
	if (!covers(caller.reach, resources)) {
		const detail = `your own API key is limited to ${caller.reach?.join(', ')}`
		const errors = [{ pointer: '/resources', code: 'insufficient_scope', detail }]
		throw new ApiError('insufficient_scope', 'An API key can give away only the resources that it has itself.', { errors })
	}
	const given = scopesWithin(scopes, resources)
	const errors = scopes.flatMap((scope, index) => {
		if (!given.includes(scope) || allows(caller.scopes, [scope])) return []
		return [{ pointer: `/scopes/${index}`, code: 'insufficient_scope', detail: `your own API key lacks ${scope}` }]
	})
	if (errors.length === 0) return
	throw new ApiError('insufficient_scope', 'An API key can give away only scopes that it has itself.', { errors })
}

/**
 * Limits are by key and minute: without an end to the keys of a minute an organization would have no limit. So a key that ended,
 * also by a rotation, counts for as long.
 */
const maxKeys = 100
const countedMs = 60_000

/** Throws when the organization has as many keys as it may. It stays locked, so that two requests cannot both be the last. */
async function requireRoom({ db, now }: Context, { organizationId }: Caller): Promise<void> {
	await lockOrganization(db, organizationId)
	if ((await countWorkingKeys(db, { organizationId, since: now - countedMs, limit: maxKeys })) < maxKeys) return
	const detail = `The organization has ${maxKeys} API keys that work, the most that it may: revoke one, which counts for a minute more.`
	throw new ApiError('too_many_api_keys', detail)
}

/** Makes this process reject a revoked or expired key at once. */
const forgetKeys = ({ afterCommit, callers }: Context, { organizationId }: Caller) =>
	afterCommit(() => callers.forget(organizationId))
