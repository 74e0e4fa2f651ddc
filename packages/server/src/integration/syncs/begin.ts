// Begins and ends runs, in the transaction of whoever does so. Callers hold the lock of the sync.

import type { LastSyncRun, Sync, SyncRun, SyncRunError } from '../../generated/contract.ts'
import { dayMs } from '../../platform/base/dates.ts'
import { ApiError } from '../../platform/base/errors.ts'
import type { Writing } from '../../platform/db/audit-log.ts'
import type { Db } from '../../platform/db/database.ts'
import type { WriteContext } from '../../platform/db/write-context.ts'
import { ensureJobs, scheduleJob } from '../../platform/work/jobs-store.ts'
import { jobKinds } from '../../platform/work/kinds.ts'
import { findDefinition, mappings } from '../mappings/store.ts'
import { beginning, type Checkpoint, type Mappings } from './checkpoint.ts'
import { obstacle } from './rules.ts'
import { changeRun, insertRun, lockActiveRun, recordRunEvent } from './run-store.ts'
import { findState, noteOfSync, type SyncState } from './state-store.ts'
import { recordSyncEvent } from './store.ts'
import { unmarkSync } from './webhook-store.ts'

export const lastRunOf = ({ id, status, createdAt, finishedAt }: SyncRun): LastSyncRun => ({ id, status, createdAt, finishedAt })

/** Begins a run; throws 409 when none can begin. */
export async function beginRun(write: WriteContext, sync: Sync, input: Pick<SyncRun, 'trigger' | 'mode'>): Promise<SyncRun> {
	const { db, origin } = write
	if (sync.status === 'paused') throw new ApiError('sync_paused', `The sync ${sync.id} is paused: resume it first.`)
	const active = await lockActiveRun(db, sync.organizationId, sync.id)
	if (active) throw new ApiError('sync_already_running', `The run ${active.id} of this sync is ${active.status}.`)
	const reason = await obstacle(db, sync)
	if (reason) throw new ApiError('sync_blocked', reason.detail)
	return startRun(write, sync, input, origin.now)
}

async function startRun(
	{ db }: Pick<WriteContext, 'db'>,
	sync: Sync,
	{ trigger, mode }: Pick<SyncRun, 'trigger' | 'mode'>,
	now: number,
): Promise<SyncRun> {
	const { organizationId, id: syncId } = sync
	const [there, back] = await Promise.all([
		versionOf(db, organizationId, sync.mappingId),
		versionOf(db, organizationId, sync.reverseMappingId),
	])
	const versions = { mappingVersion: there ?? 0, reverseMappingVersion: back }
	const state = await findState(db, sync)
	const mappedBefore = await otherMappings(db, organizationId, state.mapped, { ...sync, ...versions })
	const checkpoint = firstCheckpoint(sync, mode, { ...state, mapped: mappedBefore }, now)
	const run = await insertRun(db, { organizationId, syncId, trigger, mode, ...versions }, checkpoint, now)
	await noteOfSync(db, sync, now, { status: 'queued', statusReason: null, lastRun: lastRunOf(run) })
	await scheduleJob(db, { organizationId, kind: jobKinds.syncRun, resourceId: run.id, dueAt: now })
	return run
}

async function versionOf(db: Db, organizationId: string, id: string | null): Promise<number | null> {
	return id === null ? null : ((await mappings.find(db, organizationId, id))?.version ?? null)
}

/** The mappings before, where their fields say something else than those of now. */
async function otherMappings(db: Db, organizationId: string, past: Mappings | undefined, now: Mappings) {
	if (!past) return undefined
	const isSame =
		(await saySame(db, organizationId, [past.mappingId, past.mappingVersion], [now.mappingId, now.mappingVersion])) &&
		(await saySame(
			db,
			organizationId,
			[past.reverseMappingId, past.reverseMappingVersion],
			[now.reverseMappingId, now.reverseMappingVersion],
		))
	return isSame ? undefined : past
}

type Version = readonly [id: string | null, version: number | null]

async function saySame(db: Db, organizationId: string, past: Version, now: Version): Promise<boolean> {
	if (past[0] === now[0] && past[1] === now[1]) return true
	const [before, after] = await Promise.all(
		[past, now].map(([mappingId, version]) =>
			mappingId === null ? undefined : findDefinition(db, { organizationId, mappingId, version: version ?? 0 }),
		),
	)
	return JSON.stringify(before?.fields) === JSON.stringify(after?.fields)
}

/** Deletions that a provider's list of changes does not have are found once a day. */
const fullPassMs = dayMs

function firstCheckpoint(
	sync: Sync,
	mode: SyncRun['mode'],
	{ since, place, placedAt = 0, fullAt = 0, passBefore, mapped }: SyncState,
	now: number,
): Checkpoint {
	const { direction, mappingId, reverseMappingId, conflictPolicy, deletePolicy, errorPolicy, keepSeen } = sync
	const runBefore = sync.lastRun?.id ?? ''
	const settings = { mappingId, reverseMappingId, conflictPolicy, deletePolicy, errorPolicy, keepSeen }
	const phase = direction === 'outbound' ? 'push' : direction === 'inbound' ? 'pull' : 'settle'
	// A pass that was later than now was before the clock was set back.
	const isOld = now - fullAt >= fullPassMs || fullAt > now
	const isDue = phase !== 'push' && mode === 'incremental' && deletePolicy === 'delete' && isOld
	// What a mapping says anew, it says of all records.
	const isWhole = mode === 'full' || (mode === 'incremental' && mapped !== undefined)
	const isAll = isWhole || isDue
	const isFull = isAll || (mode === 'incremental' && (phase === 'push' ? place : since) == null)
	const from = { since: isAll ? null : (since ?? null), place: isWhole ? null : (place ?? null) }
	return {
		...beginning,
		settings,
		phase,
		isFull,
		isFullPass: isFull && phase !== 'push',
		...from,
		placedAt,
		runBefore,
		...(passBefore && { passBefore }),
		...(mapped && { mappedBefore: mapped }),
	}
}

/** Marks a sync as one that cannot run, and tells of it unless it is marked already. */
export async function blockSync(
	{ db, origin }: Writing,
	sync: Sync,
	statusReason: string,
	nextRunAt = sync.nextRunAt,
): Promise<void> {
	const { now } = origin
	await noteOfSync(db, sync, now, { status: 'blocked', statusReason, nextRunAt })
	if (sync.status === 'blocked' && sync.statusReason === statusReason) return
	const after: Sync = { ...sync, status: 'blocked', statusReason, nextRunAt, updatedAt: now, version: sync.version + 1 }
	await recordSyncEvent(db, origin, 'sync.blocked', after)
}

/** Lets a run go on that waits. */
export async function goOn(db: Db, { organizationId, id, status }: SyncRun, now: number): Promise<void> {
	await changeRun(db, { organizationId, id }, status, now, { status: 'queued', error: null, waitingUntil: null })
	await scheduleJob(db, { organizationId, kind: jobKinds.syncRun, resourceId: id, dueAt: now })
}

export type End = 'succeeded' | 'partially_succeeded' | 'failed' | 'cancelled'

interface Ending {
	readonly status: End
	readonly error?: SyncRunError
	readonly progress?: SyncRun['progress']
	/** How far the run has read, when it came to its end. */
	readonly state?: SyncState
	/** Why the sync cannot run on. */
	readonly blockedBy?: string
}

/** Ends a run that has a status; false when it has another one by now. The sync is idle again, unless it is paused. */
export async function endRun(
	write: Writing,
	sync: Sync,
	run: SyncRun,
	{ status, error, progress = run.progress, state, blockedBy }: Ending,
): Promise<boolean> {
	const { db, origin } = write
	const { now } = origin
	const changes = { status, error: error ?? null, progress, waitingUntil: null, finishedAt: now }
	if (!(await changeRun(db, run, run.status, now, changes))) return false
	const ended: SyncRun = { ...run, ...changes, updatedAt: now }
	await recordRunEvent(db, origin, `sync.run.${status}`, ended)
	const { organizationId } = sync
	await ensureJobs(db, { organizationId, kind: jobKinds.syncRetention, resourceIds: [''], dueAt: now + dayMs })
	const lastRun = lastRunOf(ended)
	const kept = sync.status === 'paused' ? {} : { status: 'idle' as const, statusReason: null }
	await noteOfSync(db, sync, now, { ...kept, lastRun, ...(state && { state }) })
	const isMarked = await unmarkSync(db, sync)
	if (blockedBy !== undefined && sync.status !== 'paused') await blockSync(write, { ...sync, lastRun }, blockedBy)
	else if (isMarked && sync.status !== 'paused' && (await obstacle(db, sync)) === undefined)
		await startRun({ db }, { ...sync, lastRun }, { trigger: 'webhook', mode: 'incremental' }, now)
	return true
}
