// A provider says that something changed: a run of each sync of the account begins, after the one that is under way.

import { requireOrganization } from '../../../accounts/doors.ts'
import type { Sync } from '../../../generated/contract.ts'
import { ApiError } from '../../../platform/base/errors.ts'
import { bySystem } from '../../../platform/base/origin.ts'
import type { Database } from '../../../platform/db/database.ts'
import { type WriteContext, writingIn } from '../../../platform/db/write-context.ts'
import type { Job, JobHandler } from '../../../platform/work/jobs.ts'
import { scheduleJob } from '../../../platform/work/jobs-store.ts'
import { jobKinds } from '../../../platform/work/kinds.ts'
import type { ObjectManifest } from '../../connections/providers/manifest.ts'
import { findProvider } from '../../connections/providers/providers.ts'
import { connections } from '../../connections/store.ts'
import { mappings } from '../../mappings/store.ts'
import { beginRun, blockSync } from '../begin.ts'
import { sidesOf } from '../rules.ts'
import type { SyncKey } from '../state-store.ts'
import { syncs } from '../store.ts'
import { markSync } from '../webhook-store.ts'

/** Makes runs of syncs due. */
export async function wakeSyncs(db: Database, keys: readonly SyncKey[], now: number): Promise<void> {
	for (const { organizationId, id } of keys) {
		const job = { organizationId, kind: jobKinds.syncWebhook, resourceId: id, dueAt: now }
		await db.transaction((tx) => scheduleJob(tx, job), { organizationId })
	}
}

/** The time between two runs that read everything, where the provider cannot say what changed. */
const fullPassMs = 15 * 60_000

/** The job that a webhook makes due. */
export const runWebhook =
	(db: Database): JobHandler =>
	async (job) => {
		const { organizationId, resourceId, now, checkpoint } = job
		const sync = await syncs.find(db, organizationId, resourceId)
		if (!sync) return undefined
		const object = await objectOf(db, sync)
		const lastAt = object?.changes === null && sync.lastRun ? sync.lastRun.createdAt : 0
		// One that began later than now began before the clock was set back.
		if (lastAt <= now && lastAt + fullPassMs > now) return { dueAt: lastAt + fullPassMs }
		await begin(db, job)
		// What the provider's index did not have yet comes with a second run.
		const lagMs = object?.changes?.style === 'search' ? object.changes.lagMs : 0
		const isSecond = checkpoint !== null && Number(checkpoint) <= now
		return lagMs > 0 && !isSecond ? { dueAt: now + lagMs, checkpoint: String(now + lagMs) } : undefined
	}

async function objectOf(db: Database, sync: Sync): Promise<ObjectManifest | undefined> {
	const { organizationId, connectionId, mappingId } = sync
	const connection = await connections.find(db, organizationId, connectionId)
	const mapping = await mappings.find(db, organizationId, mappingId)
	const name = mapping && sidesOf(mapping).object
	return connection && findProvider(connection.provider)?.objects.find((object) => object.name === name)
}

async function begin(db: Database, job: Job): Promise<void> {
	const organization = await requireOrganization(db, job.organizationId)
	await job.part(async (tx) => {
		const write = await writingIn(tx, bySystem(job.now, 'jobs.syncWebhook'), organization)
		const sync = await syncs.lock(tx, job.organizationId, job.resourceId)
		if (sync && sync.status !== 'paused') await beginOrMark(write, sync)
	})
}

async function beginOrMark(write: WriteContext, sync: Sync): Promise<void> {
	try {
		await beginRun(write, sync, { trigger: 'webhook', mode: 'incremental' })
	} catch (error) {
		if (!(error instanceof ApiError)) throw error
		if (error.code === 'sync_already_running') await markSync(write.db, sync, write.origin.now)
		if (error.code === 'sync_blocked') await blockSync(write, sync, error.message)
	}
}
