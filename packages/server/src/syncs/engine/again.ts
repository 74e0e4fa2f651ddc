// Reads records alone: those that failed, and those of which a caller has decided something.
import { type ExternalRecord, ProviderFailed, readRecord } from '../../connections/records/records.ts'
import type { Checkpoint } from '../checkpoint.ts'
import { findOpenErrors, resolveErrors } from '../error-store.ts'
import { findDecided, forgetDecisions } from '../records/decision-store.ts'
import { markGone } from '../records/link-store.ts'
import { applyChunk } from './pull.ts'
import type { Session, Way } from './session.ts'

/** Records that are read again together. */
const together = 25

/** Such as the id of a broken record, which nobody can ask for: it stays an error. */
function refusedOnly(error: unknown): 'refused' {
	if (error instanceof ProviderFailed && error.kind === 'rejected') return 'refused'
	throw error
}

/** Reads the records again that failed; true when there are no more. */
export async function retryFailed(session: Session, way: Way): Promise<boolean> {
	const { plan, run, checkpoint, db } = session
	const key = { organizationId: plan.scope.organizationId, syncId: run.syncId, direction: 'inbound' as const }
	const ids = await findOpenErrors(db, key, checkpoint.after, together)
	const after = ids.at(-1)
	if (after === undefined) return true
	await readAgain(session, way, ids, { after })
	return ids.length < together
}

/** Reads the records whose link or conflict a caller has decided; true when there are no more. A pass that reads everything has them as well. */
export async function pullDecided(session: Session, way: Way): Promise<boolean> {
	const { plan, checkpoint, capabilities, db } = session
	const { decidedAfter = '' } = checkpoint
	if (decidedAfter === null || checkpoint.isFullPass || !capabilities.readsOne) return true
	const links = await findDecided(db, plan.scope, plan.sync.id, { after: decidedAfter, limit: together, isOut: false })
	const last = links.at(-1)
	if (!last && decidedAfter === '') return true
	if (!last) await session.commit(async () => {}, { decidedAfter: null })
	else {
		const ids = links.map(({ externalId }) => externalId)
		await readAgain(session, way, ids, { decidedAfter: last.recordId })
	}
	return false
}

async function readAgain(session: Session, way: Way, ids: readonly string[], next: Partial<Checkpoint>): Promise<void> {
	const { plan, run } = session
	const records: ExternalRecord[] = []
	const gone: string[] = []
	let refused = 0
	for (const id of ids) {
		const record = await readRecord(session.calls, plan.scope, id, way.reads).catch(refusedOnly)
		if (record === 'refused') refused++
		else if (record) records.push(record)
		else gone.push(id)
	}
	await applyChunk(session, way, records, next, { isCounted: () => true, count: undefined, total: null })
	if (gone.length + refused === 0) return
	const key = { organizationId: plan.scope.organizationId, syncId: run.syncId, direction: 'inbound' as const }
	await session.commit(async ({ db: tx, origin }, tally) => {
		tally.read += gone.length + refused
		tally.failed += refused
		if (plan.sync.deletePolicy === 'delete') await markGone(tx, plan.scope, gone, run.id)
		else await forgetDecisions(tx, plan.scope, gone)
		tally.skipped += gone.length
		await resolveErrors(tx, key, gone, origin.now)
	}, {})
}
