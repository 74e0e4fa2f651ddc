import type { Caller } from '../auth/caller.ts'
import { allows, type Scope } from '../auth/keys.ts'
import { toMs } from '../base/dates.ts'
import { ApiError, fieldError } from '../base/errors.ts'
import type { ApiKey, PageMeta } from '../generated/contract.ts'
import { listText } from '../http/answers.ts'
import type { Context, Handler } from '../http/handler.ts'
import { expireKey, findWorkingKey, insertKey, pageOfKeys, revokeKey } from './store.ts'

const notFound = (id: string) => new ApiError('api_key_not_found', `There is no API key ${id} that works.`)

export const list: Handler<'apiKeys.list'> = async ({ query, caller }, { db }) => {
	const { rows, total } = await pageOfKeys(db, caller.organizationId, query)
	return { status: 200, body: listText<ApiKey, PageMeta>(rows, { total, limit: query.limit, offset: query.offset }) }
}

export const create: Handler<'apiKeys.create'> = async ({ body, caller }, { db, now }) => {
	const { name, scopes, expiresAt } = body
	refuseEscalation(caller, scopes)
	const expiry = expiresAt ? toMs(expiresAt) : null
	if (expiry !== null && expiry <= now) throw fieldError('expires_in_past', '/expiresAt', 'A key cannot expire before it begins.')
	return created(await insertKey(db, caller.organizationId, { name, scopes: [...new Set(scopes)], now, expiresAt: expiry }))
}

const created = ({ id, key }: { id: string; key: string }) => ({ status: 201 as const, body: { id, key } })

export const remove: Handler<'apiKeys.delete'> = async ({ params, caller }, context) => {
	const { db, now } = context
	if (!(await revokeKey(db, params.id, now, caller.organizationId))) throw notFound(params.id)
	forgetKeys(context, caller)
	return { status: 200, body: { ok: true } }
}

/** How long an old key works on, unless the caller says otherwise. */
const overlapSeconds = 86_400

export const rotate: Handler<'apiKeys.rotate'> = async ({ params, body = {}, caller }, context) => {
	const { db, now } = context
	const { organizationId } = caller
	const old = await findWorkingKey(db, organizationId, params.id, now)
	if (!old) throw notFound(params.id)
	refuseEscalation(caller, old.scopes)
	const { name, scopes, expiresAt } = old
	const fresh = await insertKey(db, organizationId, { name, scopes, now, expiresAt })
	const end = now + (body.overlapSeconds ?? overlapSeconds) * 1000
	await expireKey(db, organizationId, params.id, Math.min(end, expiresAt ?? Infinity))
	forgetKeys(context, caller)
	return created(fresh)
}

/** A key can give away only what it has itself. */
function refuseEscalation(caller: Caller, scopes: readonly Scope[]): void {
	const errors = scopes.flatMap((scope, index) => {
		if (allows(caller.scopes, [scope])) return []
		return [{ pointer: `/scopes/${index}`, code: 'insufficient_scope', detail: `your own API key lacks ${scope}` }]
	})
	if (errors.length === 0) return
	throw new ApiError('insufficient_scope', 'An API key can give away only scopes that it has itself.', { errors })
}

/** This process refuses what no longer works at once. */
const forgetKeys = ({ afterCommit, callers }: Context, { organizationId }: Caller) =>
	afterCommit(() => callers.forget(organizationId))
