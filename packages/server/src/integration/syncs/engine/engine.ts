// The job of a run: takes it up, and goes on with it part by part until it ends, waits, or others are to have their turn.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Sync, SyncRun } from '../../../generated/contract.ts'
import type { Database } from '../../../platform/db/database.ts'
import type { Services } from '../../../platform/outside/services.ts'
import type { Again, Job, JobHandler } from '../../../platform/work/jobs.ts'
import { restUntil } from '../../../platform/work/kinds.ts'
import { endRun } from '../begin.ts'
import { beginning, type Checkpoint } from '../checkpoint.ts'
import { markLost } from '../records/internal-store.ts'
import { nextPart } from '../records/lost-store.ts'
import { obstacle } from '../rules.ts'
import { checkSchema } from '../run/schema.ts'
import { mappingsOf, originOf, planOf, RunStopped, Session, type Way } from '../run/session.ts'
import { changeRun, findStoredRun, recordRunEvent, runs, type StoredRun } from '../run-store.ts'
import { findState, noteOfSync } from '../state-store.ts'
import { syncs } from '../store.ts'
import { pullDecided, readMissed, retryFailed } from './again.ts'
import { Blocked, breakOff, type RunOutcome } from './break-off.ts'
import { deleteAtProvider, deleteInRemit, isLetDelete } from './deletions.ts'
import { hasPageAhead, pullPage, watermarkOf } from './pull.ts'
import { pushBatch, pushDecided, settleBatch } from './push.ts'

export interface Options {
	readonly db: Database
	readonly services: Services
	/** For how long the feed of events keeps what happened. */
	readonly keptMs: number
	/** The number of requests that this process has received so far. */
	readonly requests: () => number
	/** Called with the bytes that a part of a run stored. */
	readonly stored: (organizationId: string, bytes: number) => void
	/** Throws ApiError when an organization has stored what it may store today. */
	readonly requireStorage: (organizationId: string) => void
	/** Called with an error that nobody expects. */
	readonly failed: (error: unknown, runId: string) => void
	/** Called with each end of a run, and once for each reason that it waits for. */
	readonly ended: (outcome: RunOutcome) => void
}

/** How long a run goes on before other jobs have their turn. */
const sliceMs = 5_000

export const runSync =
	(options: Options): JobHandler =>
	async (job) => {
		const taken = await takeUp(job)
		if (!taken || 'dueAt' in taken) return taken
		try {
			return await goThrough(options, job, taken)
		} catch (error) {
			if (error instanceof RunStopped) return undefined
			// The server ends: another one goes on.
			if (job.signal.aborted) return { dueAt: job.now }
			return breakOff(job, error, options)
		}
	}

/** Takes up a run that is due; undefined when it has ended, or waits for somebody; a time when it waits until then. */
function takeUp(job: Job): Promise<(StoredRun & { readonly sync: Sync }) | Again> {
	const key = { organizationId: job.organizationId, id: job.resourceId }
	return job.part(async (tx) => {
		const found = await runs.find(tx, job.organizationId, job.resourceId)
		const sync = found && (await syncs.lock(tx, job.organizationId, found.syncId))
		const stored = await findStoredRun(tx, key)
		if (!stored || !sync || stored.run.finishedAt !== null) return undefined
		const { run } = stored
		const { now } = job
		if (sync.status === 'paused') {
			const error = { code: 'paused', detail: 'The sync is paused.' } as const
			if (run.error?.code !== 'paused')
				await changeRun(tx, run, run.status, now, { status: 'waiting', error, waitingUntil: null })
			return undefined
		}
		if (run.status === 'waiting' && run.waitingUntil === null) return undefined
		// The job may come too early: after a kill it is due at once.
		if (run.waitingUntil !== null && run.waitingUntil > now && !isAheadOf(run, now))
			return { dueAt: restUntil(run.waitingUntil, now) }
		const isFirst = run.startedAt === null
		const attempt = run.attempt + (job.attempt > 1 ? 1 : 0)
		const changes = { status: 'running', error: null, waitingUntil: null, startedAt: run.startedAt ?? now, attempt } as const
		if (!(await changeRun(tx, run, run.status, now, changes))) return undefined
		const running: SyncRun = { ...run, ...changes, updatedAt: now }
		if (isFirst) await recordRunEvent(tx, originOf(run, now), 'sync.run.started', running)
		await noteOfSync(tx, sync, now, {
			status: 'running',
			lastRun: { id: run.id, status: 'running', createdAt: run.createdAt, finishedAt: null },
		})
		return { ...stored, run: running, sync: { ...sync, ...stored.checkpoint.settings } }
	})
}

/** Whether the clock was set back since a run began to wait: how long it has waited, nobody knows. */
const isAheadOf = ({ updatedAt }: SyncRun, now: number) => updatedAt > now

async function goThrough(
	{ requireStorage, ...options }: Options,
	job: Job,
	{ run, sync, checkpoint }: StoredRun & { sync: Sync },
): Promise<Again> {
	const plan = await planOf(options.db, options.services.records, sync, run, checkpoint.mappedBefore)
	const reason = await obstacle(options.db, sync)
	if (reason) throw new Blocked(reason)
	if (!plan) throw new Blocked({ code: 'mapping_not_active', detail: 'The mapping is gone.' })
	const until = performance.now() + sliceMs
	const session = new Session({ ...options, job, plan, run, checkpoint, until })
	await checkSchema(session)
	while (!job.signal.aborted) {
		requireStorage(job.organizationId)
		if (await step(session)) {
			options.ended(await finish(session))
			return undefined
		}
		// A page that was asked for is written: another worker would ask for it again, and calls may be few.
		if (session.isOver && !hasPageAhead(session)) break
	}
	return { dueAt: job.now }
}

/** Does the next part; true when the run has come to its end. */
async function step(session: Session): Promise<boolean> {
	const { checkpoint, plan } = session
	const { pull, push, sync } = plan
	const isDeleting = sync.deletePolicy === 'delete'
	if (checkpoint.phase === 'settle') {
		if (push && !(await settleBatch(session, push))) return false
		await goTo(session, 'pull')
		return false
	}
	if (checkpoint.phase === 'pull') {
		if (pull && !(await pullPart(session, pull))) return false
		await goTo(session, isDeleting ? 'pullDeletions' : 'push')
		return false
	}
	if (checkpoint.phase === 'pullDeletions') {
		if (checkpoint.after === '' && !(await isLetDelete(session, checkpoint.isFull))) return false
		if (!(await deleteInRemit(session, checkpoint.isFull))) return false
		await goTo(session, 'push')
		return false
	}
	if (!push) return true
	if (checkpoint.phase === 'push') return pushAndGoOn(session, push, isDeleting)
	if (checkpoint.after === '' && !(await isLetDelete(session, false))) return false
	return deleteAtProvider(session)
}

async function pullPart(session: Session, pull: Way): Promise<boolean> {
	const { checkpoint, capabilities, run } = session
	const { isFullPass, isListed } = checkpoint
	// A pass that reads everything has these as well, unless they are gone.
	if (!isFullPass && capabilities.readsOne && !(await pullDecided(session, pull))) return false
	if (run.mode === 'failed' && capabilities.readsOne) return retryFailed(session, pull)
	if (isListed) return readMissed(session, pull)
	return (await pullPage(session, pull)) && !isFullPass
}

async function pushAndGoOn(session: Session, push: Way, isDeleting: boolean): Promise<boolean> {
	if (!(await pushDecided(session, push)) || !(await pushBatch(session, push))) return false
	if (!isDeleting) return true
	if (session.checkpoint.isFull && !(await markPart(session))) return false
	await goTo(session, 'pushDeletions')
	return false
}

/** Marks the next links whose record of Remit is gone; true when there are no more. */
async function markPart(session: Session): Promise<boolean> {
	const { plan, run, checkpoint, db } = session
	const part = await nextPart(db, plan.scope, checkpoint.marked ?? '')
	await session.commit((write) => markLost(write.db, plan.scope, part, run.id), { marked: part.upTo ?? null })
	// Requests come in between.
	await nextTurn()
	return part.upTo === undefined
}

/** What the run has read stays known, and a full run is one in each phase. */
const goTo = (session: Session, phase: Checkpoint['phase']) => {
	const { newest, beganAt, since, isFull, listed, told } = session.checkpoint
	return session.mark({
		...beginning,
		newest,
		beganAt,
		since,
		listed,
		...(told && { told }),
		isFull: phase !== 'push' && isFull,
		phase,
	})
}

/** Ends a run that has come to its end, and notes how far it has read. */
async function finish(session: Session): Promise<RunOutcome> {
	const { plan, job, origin } = session
	return job.part(async (tx) => {
		const sync = await syncs.lock(tx, plan.sync.organizationId, plan.sync.id)
		const { run, checkpoint } = session
		if (!sync) throw new RunStopped()
		const status = run.progress.failed > 0 ? 'partially_succeeded' : 'succeeded'
		const before = await findState(tx, sync)
		const read =
			run.mode === 'failed'
				? before
				: { ...before, ...(plan.pull && session.capabilities.filtersChanges && { since: watermarkOf(checkpoint, job.now) }) }
		const state =
			plan.push && run.mode !== 'failed' && checkpoint.place !== null
				? { ...read, place: checkpoint.place, placedAt: checkpoint.placedAt }
				: read
		const mapped = run.mode !== 'failed' && { mapped: mappingsOf(checkpoint.settings, run) }
		const startedAt = run.startedAt ?? job.now
		const full = checkpoint.isFullPass &&
			run.mode !== 'failed' && {
				fullAt: startedAt,
				...(plan.sync.deletePolicy === 'delete' && { passBefore: { runId: run.id, startedAt } }),
			}
		const ended = await endRun({ db: tx, origin }, sync, run, {
			status,
			progress: run.progress,
			state: { ...state, ...mapped, ...full },
		})
		if (!ended) throw new RunStopped()
		return { organizationId: sync.organizationId, syncId: sync.id, runId: run.id, outcome: status }
	})
}
