import type { SyncRecordError, SyncRun } from '../../generated/contract.ts'
import { ApiError } from '../../platform/base/errors.ts'
import { recordChange } from '../../platform/db/audit-log.ts'
import type { Db } from '../../platform/db/database.ts'
import type { Handler } from '../../platform/http/handler.ts'
import { answerPage } from '../../platform/http/record-handlers.ts'
import { goOn, lastRunOf } from './begin.ts'
import { readErrors } from './error-store.ts'
import { confirmDeletions, findStoredRun, readRuns, runs } from './run-store.ts'
import { noteOfSync } from './state-store.ts'
import { audited, syncs } from './store.ts'

export const list: Handler<'syncs.runs.list'> = async ({ params: { id }, query, caller }, context) => {
	const { organizationId } = caller
	await syncs.existing(context.db, organizationId, id)
	const key = { organizationId, syncId: id }
	return answerPage<SyncRun>(`runs of ${id}`, { query, caller }, context, (page) => readRuns(context.db, key, page))
}

export const get: Handler<'syncs.runs.get'> = async ({ params: { id, runId }, caller }, { db }) => ({
	status: 200,
	body: { data: await requireRun(db, caller.organizationId, id, runId) },
})

export const listErrors: Handler<'syncs.runs.errors.list'> = async ({ params: { id, runId }, query, caller }, context) => {
	const { organizationId } = caller
	await requireRun(context.db, organizationId, id, runId)
	const key = { organizationId, syncId: id, runId }
	return answerPage<SyncRecordError>(`errors of ${runId}`, { query, caller }, context, (page) =>
		readErrors(context.db, key, page),
	)
}

export const confirm: Handler<'syncs.runs.confirm'> = async ({ params: { id, runId }, caller }, { db, now, origin }) => {
	const { organizationId } = caller
	const sync = await syncs.lock(db, organizationId, id)
	if (!sync) throw syncs.notFound(id)
	const run = await runs.lock(db, organizationId, runId)
	if (run?.syncId !== id) throw runs.notFound(runId)
	if (run.status !== 'waiting' || run.error?.code !== 'too_many_deletions')
		throw new ApiError('nothing_to_confirm', `The run ${runId} is ${run.status}, and does not wait for a confirmation.`)
	const stored = await findStoredRun(db, run)
	if (stored) await confirmDeletions(db, run, stored.checkpoint, now)
	await goOn(db, run, now)
	const confirmed = { ...run, status: 'queued', error: null, updatedAt: now } as const
	await noteOfSync(db, sync, now, { lastRun: lastRunOf(confirmed) })
	await recordChange({ db, origin }, { ...audited({ organizationId, id }), action: 'deletions_confirmed', after: { runId } })
	return { status: 200, body: { data: confirmed } }
}

async function requireRun(db: Db, organizationId: string, syncId: string, runId: string): Promise<SyncRun> {
	await syncs.existing(db, organizationId, syncId)
	const run = await runs.find(db, organizationId, runId)
	if (run?.syncId !== syncId) throw runs.notFound(runId)
	return run
}
