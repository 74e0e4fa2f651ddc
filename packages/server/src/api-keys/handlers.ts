import type { Caller } from '../auth/caller.ts'
import { allows, type Scope } from '../auth/keys.ts'
import { toMs } from '../base/dates.ts'
import { ApiError, fieldError } from '../base/errors.ts'
import type { ApiKey } from '../generated/contract.ts'
import type { Context, Handler } from '../http/handler.ts'
import { listHandler, removed } from '../http/record-handlers.ts'
import { apiKeys, createKey, expireKey, revokeKey } from './store.ts'

const notFound = (id: string) => new ApiError('api_key_not_found', `There is no API key ${id} that works.`)

export const list: Handler<'apiKeys.list'> = listHandler<ApiKey, object>(apiKeys)

export const create: Handler<'apiKeys.create'> = async ({ body, caller }, context) => {
	const { name, scopes, expiresAt } = body
	rejectEscalation(caller, scopes)
	const expiry = expiresAt ? toMs(expiresAt) : null
	if (expiry !== null && expiry <= context.now)
		throw fieldError('expires_in_past', '/expiresAt', 'A key cannot expire before it begins.')
	return created(await createKey(context, caller.organizationId, { name, scopes: [...new Set(scopes)], expiresAt: expiry }))
}

const created = ({ id, key }: { id: string; key: string }) => ({ status: 201 as const, body: { id, key } })

export const remove: Handler<'apiKeys.delete'> = async ({ params, caller }, context) => {
	if (!(await revokeKey(context, params.id, caller.organizationId))) throw notFound(params.id)
	forgetKeys(context, caller)
	return removed
}

/** How long an old key still works after its rotation, unless the caller says otherwise. */
const overlapSeconds = 86_400

export const rotate: Handler<'apiKeys.rotate'> = async ({ params, body = {}, caller }, context) => {
	const { db, now } = context
	const { organizationId } = caller
	const old = await apiKeys.lock(db, organizationId, params.id)
	if (!old || !isWorking(old, now)) throw notFound(params.id)
	rejectEscalation(caller, old.scopes)
	const { name, scopes, expiresAt } = old
	const fresh = await createKey(context, organizationId, { name, scopes, expiresAt })
	const end = now + (body.overlapSeconds ?? overlapSeconds) * 1000
	await expireKey(context, old, Math.min(end, expiresAt ?? Infinity))
	forgetKeys(context, caller)
	return created(fresh)
}

const isWorking = ({ revokedAt, expiresAt }: ApiKey, now: number) => revokedAt === null && (expiresAt === null || expiresAt > now)

/** Throws 403 unless the caller's own key has the scopes that the new key gets. */
function rejectEscalation(caller: Caller, scopes: readonly Scope[]): void {
	const errors = scopes.flatMap((scope, index) => {
		if (allows(caller.scopes, [scope])) return []
		return [{ pointer: `/scopes/${index}`, code: 'insufficient_scope', detail: `your own API key lacks ${scope}` }]
	})
	if (errors.length === 0) return
	throw new ApiError('insufficient_scope', 'An API key can give away only scopes that it has itself.', { errors })
}

/** Makes this process reject a revoked or expired key at once. */
const forgetKeys = ({ afterCommit, callers }: Context, { organizationId }: Caller) =>
	afterCommit(() => callers.forget(organizationId))
