// Ends a run that has come to its end, and notes how far it has read.
import { endRun } from '../begin.ts'
import { findState } from '../state-store.ts'
import { syncs } from '../store.ts'
import type { RunOutcome } from './break-off.ts'
import { watermarkOf } from './pull.ts'
import { RunStopped, type Session } from './session.ts'

export async function finish(session: Session): Promise<RunOutcome> {
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
		const startedAt = run.startedAt ?? job.now
		const full = checkpoint.isFullPass &&
			run.mode !== 'failed' && {
				fullAt: startedAt,
				...(plan.sync.deletePolicy === 'delete' && { passBefore: { runId: run.id, startedAt } }),
			}
		const ended = await endRun({ db: tx, origin }, sync, run, { status, progress: run.progress, state: { ...state, ...full } })
		if (!ended) throw new RunStopped()
		return { organizationId: sync.organizationId, syncId: sync.id, runId: run.id, outcome: status }
	})
}
