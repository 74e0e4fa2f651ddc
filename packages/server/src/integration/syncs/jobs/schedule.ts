// The job of a schedule: begins the next run of a sync when it is due.

import { requireOrganization } from '../../../accounts/doors.ts'
import type { Sync } from '../../../generated/contract.ts'
import { ApiError } from '../../../platform/base/errors.ts'
import { bySystem } from '../../../platform/base/origin.ts'
import type { Database } from '../../../platform/db/database.ts'
import { type WriteContext, writingIn } from '../../../platform/db/write-context.ts'
import type { JobHandler } from '../../../platform/work/jobs.ts'
import { restUntil } from '../../../platform/work/kinds.ts'
import { beginRun, blockSync } from '../begin.ts'
import { dueTime, nextTime } from '../schedule.ts'
import { noteOfSync } from '../state-store.ts'
import { syncs } from '../store.ts'

export const runSchedule =
	(db: Database): JobHandler =>
	(job) =>
		job.part(async (tx) => {
			const organization = await requireOrganization(db, job.organizationId)
			const write = await writingIn(tx, bySystem(job.now, 'jobs.syncSchedule'), organization)
			const sync = await syncs.lock(tx, job.organizationId, job.resourceId)
			if (!sync || sync.status === 'paused' || sync.nextRunAt === null) return undefined
			const plannedAt = dueTime(sync.schedule, organization.timeZone, sync.nextRunAt, job.now)
			if (plannedAt > job.now) {
				if (plannedAt !== sync.nextRunAt) await noteOfSync(tx, sync, job.now, { nextRunAt: plannedAt })
				return { dueAt: restUntil(plannedAt, job.now) }
			}
			const nextRunAt = nextTime(sync.schedule, organization.timeZone, job.now)
			await beginScheduled(write, sync, nextRunAt)
			return nextRunAt === null ? undefined : { dueAt: restUntil(nextRunAt, job.now) }
		})

/** A run that is still under way takes the place of this one. */
async function beginScheduled(write: WriteContext, sync: Sync, nextRunAt: number | null): Promise<void> {
	const { db, origin } = write
	try {
		await beginRun(write, sync, { trigger: 'schedule', mode: sync.mode })
	} catch (error) {
		if (!(error instanceof ApiError)) throw error
		if (error.code === 'sync_blocked') return blockSync(write, sync, error.message, nextRunAt)
	}
	await noteOfSync(db, sync, origin.now, { nextRunAt })
}
