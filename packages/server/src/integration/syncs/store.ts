// The records of syncs.

import type { Sync, SyncCreate, SyncUpdate } from '../../generated/contract.ts'
import { blanks, fields } from '../../generated/tables.ts'
import { newId } from '../../platform/base/ids.ts'
import type { Db } from '../../platform/db/database.ts'
import { type ListFilter, records } from '../../platform/db/records.ts'
import type { WriteContext } from '../../platform/db/write-context.ts'
import { changesBetween } from '../../platform/events/changes.ts'
import { eventsAbout } from '../../platform/events/record-events.ts'
import { scheduleJob } from '../../platform/work/jobs-store.ts'
import { jobKinds, restUntil } from '../../platform/work/kinds.ts'
import { requireSync } from './rules.ts'
import { nextTime } from './schedule.ts'
import type { SyncState } from './state-store.ts'

export const syncs = records<Sync, ListFilter<'syncs.list'>, { readonly deletedAt: number | null; readonly state: SyncState }>({
	name: 'sync',
	table: 'syncs',
	fields: fields.Sync,
	softDelete: true,
})

export const recordSyncEvent = eventsAbout<Sync, 'sync.created' | 'sync.updated' | 'sync.blocked' | 'sync.deleted'>('sync')

const defaults = {
	mode: 'incremental',
	schedule: { type: 'manual' },
	conflictPolicy: 'source_wins',
	deletePolicy: 'ignore',
	errorPolicy: 'continue',
	keepSeen: true,
} as const

export async function createSync(write: WriteContext, { start: _, ...input }: SyncCreate): Promise<Sync> {
	const { db, origin, organization } = write
	const { now } = origin
	const said = { ...blanks.Sync, ...defaults, ...input }
	await requireSync(write, said)
	const system = { organizationId: organization.id, id: newId('syn'), createdAt: now, updatedAt: now, version: 1 }
	const nextRunAt = nextTime(said.schedule, organization.timeZone, now)
	const sync: Sync = { ...said, status: 'idle', openErrors: 0, ...system, nextRunAt }
	const data = await syncs.insert(write, sync, { deletedAt: null, state: {} })
	await scheduleNext(db, sync, origin.now)
	await recordSyncEvent(db, origin, 'sync.created', sync, { data })
	return sync
}

/** Changes a sync that was read with `lock`. */
export async function changeSync(write: WriteContext, stored: Sync, input: SyncUpdate): Promise<Sync> {
	const { db, origin, organization } = write
	await requireSync(write, { ...stored, ...input }, stored)
	const { schedule } = input
	const isRescheduled = schedule && Object.keys(changesBetween({ schedule: stored.schedule }, { schedule })).length > 0
	const next = isRescheduled && { nextRunAt: nextTime(schedule, organization.timeZone, origin.now) }
	const sync = await syncs.update(write, stored, { ...input, ...(stored.status !== 'paused' && next) })
	if (Object.keys(changesBetween(stored, sync)).length === 0) return sync
	await scheduleNext(db, sync, origin.now)
	await recordSyncEvent(db, origin, 'sync.updated', sync, { before: stored })
	return sync
}

/** Deletes a sync that was read with `lock`. Its runs and links stay. */
export async function removeSync(write: WriteContext, stored: Sync): Promise<void> {
	const { db, origin } = write
	const sync = await syncs.update(write, stored, { deletedAt: origin.now }, 'deleted')
	await recordSyncEvent(db, origin, 'sync.deleted', sync)
}

/** Makes the schedule's job due when the next run begins by itself. */
export async function scheduleNext(db: Db, { organizationId, id, nextRunAt, status }: Sync, now: number): Promise<void> {
	if (nextRunAt === null || status === 'paused') return
	const dueAt = restUntil(nextRunAt, now)
	await scheduleJob(db, { organizationId, kind: jobKinds.syncSchedule, resourceId: id, dueAt })
}

/** A sync in the audit log. */
export const audited = ({ organizationId, id }: Pick<Sync, 'organizationId' | 'id'>) =>
	({ organizationId, resource: 'sync', resourceId: id }) as const
