import type { Sync, SyncErrorResolve, SyncRecordError } from '../../../generated/contract.ts'
import { ApiError } from '../../../platform/base/errors.ts'
import { recordChange } from '../../../platform/db/audit-log.ts'
import type { Db } from '../../../platform/db/database.ts'
import type { Handler } from '../../../platform/http/handler.ts'
import { answerPage } from '../../../platform/http/record-handlers.ts'
import { findError, noteDecision, readOpenErrors } from '../error-store.ts'
import { audited, syncs } from '../store.ts'
import { linkByHand } from './link.ts'
import { requireIdle, scopeOf } from './scope.ts'

export const list: Handler<'syncs.errors.list'> = async ({ params: { id }, query, caller }, context) => {
	const { organizationId } = caller
	await syncs.existing(context.db, organizationId, id)
	const { limit: _limit, offset: _offset, cursor: _cursor, ...filters } = query
	const of = { organizationId, syncId: id, ...filters }
	return answerPage<SyncRecordError>(`open errors of ${id}`, { query, caller }, context, (page) =>
		readOpenErrors(context.db, of, page),
	)
}

async function requireError(db: Db, { organizationId, id: syncId }: Sync, id: string): Promise<SyncRecordError> {
	const error = await findError(db, { organizationId, syncId, id })
	if (!error) throw new ApiError('sync_error_not_found', `The sync ${syncId} has no error ${id}.`)
	return error
}

export const get: Handler<'syncs.errors.get'> = async ({ params: { id, errorId }, caller }, { db }) => ({
	status: 200,
	body: { data: await requireError(db, await syncs.existing(db, caller.organizationId, id), errorId) },
})

export const resolve: Handler<'syncs.errors.resolve'> = async (call, { db, now, origin }) => {
	const { params, body, caller } = call
	const { use, version } = body
	const sync = await syncs.existing(db, caller.organizationId, params.id)
	await requireIdle(db, sync)
	const error = await requireError(db, sync, params.errorId)
	const pair = requireConflict(error, version)
	const scope = await scopeOf(db, sync)
	await linkByHand(db, scope, pair, { decision: sideOf(sync, use), decidedFor: sync.id }, now)
	const { id, organizationId, syncId } = error
	await noteDecision(db, { id, organizationId, syncId }, use)
	await recordChange({ db, origin }, { ...audited(sync), action: 'conflict_resolved', after: { ...pair, use } })
	return { status: 200, body: { data: { ...error, decision: use } } }
}

function requireConflict({ id, errors, resolvedAt, externalId, recordId }: SyncRecordError, version: string | undefined) {
	const nothing = (why: string) => new ApiError('nothing_to_resolve', `The error ${id} ${why}.`)
	if (resolvedAt !== null) throw nothing('is resolved')
	const conflict = errors.find(({ code }) => code === 'conflict')
	if (!conflict) throw nothing('is no conflict')
	if (version !== undefined && version !== conflict.version)
		throw new ApiError('conflict_changed', `The conflict of the error ${id} is another since: read it again.`)
	if (externalId === null || recordId === null) throw nothing('does not say which two records it is about: run the sync again')
	return { externalId, recordId }
}

/** Syncs of both ways share links, so a link names the side itself. */
const sideOf = ({ direction }: Sync, use: SyncErrorResolve['use']) =>
	(use === 'source') === (direction === 'outbound') ? 'remit' : 'provider'
