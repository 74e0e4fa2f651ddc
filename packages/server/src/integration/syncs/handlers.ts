import type { Sync, SyncRun } from '../../generated/contract.ts'
import { historyHandler } from '../../platform/audit/history.ts'
import { ApiError } from '../../platform/base/errors.ts'
import { recordChange } from '../../platform/db/audit-log.ts'
import type { Db } from '../../platform/db/database.ts'
import type { WriteContext } from '../../platform/db/write-context.ts'
import { type Handler, writeContext } from '../../platform/http/handler.ts'
import { recordHandlers } from '../../platform/http/record-handlers.ts'
import { budgetOf } from '../connections/records/budget.ts'
import { beginRun, blockSync, endRun, goOn, lastRunOf } from './begin.ts'
import { obstacle } from './rules.ts'
import { changeRun, lockActiveRun } from './run-store.ts'
import { nextTime } from './schedule.ts'
import { noteOfSync } from './state-store.ts'
import { audited, changeSync, createSync, recordSyncEvent, removeSync, scheduleNext, syncs } from './store.ts'

const answers = recordHandlers(syncs, '/syncs', {
	create: createSync,
	change: changeSync,
	async remove(write: WriteContext, sync: Sync) {
		const run = await lockActiveRun(write.db, sync.organizationId, sync.id)
		if (run)
			await endRun(write, sync, run, { status: 'cancelled', error: { code: 'sync_deleted', detail: 'The sync was deleted.' } })
		const { organizationId, id } = sync
		await removeSync(write, (await syncs.lock(write.db, organizationId, id)) ?? sync)
	},
})

export const { list, get, update, remove } = answers

export const history = historyHandler(syncs)

export const create: Handler<'syncs.create'> = async ({ body, caller }, context) => {
	const write = writeContext(context, caller)
	const sync = await createSync(write, body)
	const { start = true } = body
	const reason = await obstacle(write.db, sync)
	if (reason) await blockSync(write, sync, reason.detail)
	const run = start && !reason ? await beginRun(write, sync, { trigger: 'manual', mode: sync.mode }) : undefined
	const { version } = (await syncs.find(write.db, sync.organizationId, sync.id)) ?? sync
	const { status, headers } = answers.created({ id: sync.id, version })
	return { status, headers, body: { id: sync.id, runId: run?.id ?? null } }
}

async function lock(db: Parameters<typeof syncs.lock>[0], organizationId: string, id: string): Promise<Sync> {
	const sync = await syncs.lock(db, organizationId, id)
	if (!sync) throw syncs.notFound(id)
	return sync
}

export const run: Handler<'syncs.run'> = async ({ params: { id }, body, caller }, context) => {
	const sync = await lock(context.db, caller.organizationId, id)
	const mode = body?.mode ?? sync.mode
	const data = await beginRun(writeContext(context, caller), sync, { trigger: 'manual', mode })
	await recordChange(context, { ...audited(sync), action: 'run', after: { runId: data.id, mode } })
	return { status: 200, body: { data } }
}

export const cancel: Handler<'syncs.cancel'> = async ({ params: { id }, caller }, context) => {
	const { db } = context
	const sync = await lock(db, caller.organizationId, id)
	const active = await lockActiveRun(db, caller.organizationId, id)
	if (!active) throw new ApiError('no_active_run', `No run of the sync ${id} is under way.`)
	await endRun(writeContext(context, caller), sync, active, { status: 'cancelled' })
	const { now } = context
	await recordChange(context, { ...audited(sync), action: 'cancelled', after: { runId: active.id } })
	const data: SyncRun = { ...active, status: 'cancelled', error: null, waitingUntil: null, finishedAt: now, updatedAt: now }
	return { status: 200, body: { data } }
}

/** The sync with the run that is under way as its last one: what becomes of a run is no change of its sync that anybody is told of. */
async function withLastRun(db: Db, sync: Sync, run: SyncRun | undefined, now: number): Promise<Sync> {
	if (!run) return sync
	const lastRun = lastRunOf(run)
	await noteOfSync(db, sync, now, { lastRun })
	return { ...sync, lastRun }
}

/** Changes whether a sync is paused, and tells of it. */
async function turn(write: WriteContext, sync: Sync, changes: Partial<Sync>): Promise<Sync> {
	const changed = await syncs.update(write, sync, changes)
	await recordSyncEvent(write.db, write.origin, 'sync.updated', changed, { before: sync })
	return changed
}

export const pause: Handler<'syncs.pause'> = async ({ params: { id }, caller }, context) => {
	const { db, now } = context
	const sync = await lock(db, caller.organizationId, id)
	if (sync.status === 'paused') return { status: 200, body: { data: sync } }
	const active = await lockActiveRun(db, caller.organizationId, id)
	const error = { code: 'paused', detail: 'The sync is paused.' } as const
	// One that waits for somebody to confirm goes on waiting for that.
	if (active && active.error?.code !== 'too_many_deletions')
		await changeRun(db, active, active.status, now, { status: 'waiting', error, waitingUntil: null })
	const shown = await withLastRun(db, sync, active && { ...active, status: 'waiting' }, now)
	const data = await turn(writeContext(context, caller), shown, { status: 'paused', statusReason: null, nextRunAt: null })
	return { status: 200, body: { data } }
}

export const resume: Handler<'syncs.resume'> = async ({ params: { id }, caller }, context) => {
	const { db, now, services } = context
	const { organizationId, organization } = caller
	const sync = await lock(db, organizationId, id)
	if (sync.status !== 'paused') return { status: 200, body: { data: sync } }
	const active = await lockActiveRun(db, organizationId, id)
	const goesOn = active?.error?.code === 'paused'
	if (goesOn) await goOn(db, active, now)
	context.afterCommit(() => budgetOf(services).release({ organizationId, id: sync.connectionId }))
	const shown = await withLastRun(db, sync, goesOn ? { ...active, status: 'queued' } : undefined, now)
	const nextRunAt = nextTime(sync.schedule, organization.timeZone, now)
	const data = await turn(writeContext(context, caller), shown, { status: active ? 'running' : 'idle', nextRunAt })
	await scheduleNext(db, data, now)
	return { status: 200, body: { data } }
}
