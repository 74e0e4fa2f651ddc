// Reads records alone: those that failed, and those of which a caller has decided something.

import type { Transaction } from '../../../platform/db/database.ts'
import type { WriteContext } from '../../../platform/db/write-context.ts'
import { type ExternalRecord, ProviderFailed, readRecord } from '../../connections/records/records.ts'
import { hashOf } from '../../mappings/hashes.ts'
import { findByExternalIds, type Link } from '../../mappings/link-store.ts'
import { mapLinked } from '../../mappings/links.ts'
import type { Checkpoint } from '../checkpoint.ts'
import { findOpenErrors, resolveErrors } from '../error-store.ts'
import { done, findDecided } from '../records/decision-store.ts'
import { changeLink, markGone } from '../records/link-store.ts'
import type { Session, Tally, Way } from '../run/session.ts'
import { asShown, decisionOf, goneThere } from './decided.ts'
import { letGo } from './holds.ts'
import { applyChunk } from './pull.ts'

type Write = WriteContext & { readonly db: Transaction }

/** Records that are read again together. */
const together = 25

/** Such as the id of a broken record, which nobody can ask for: it stays an error. */
export function refusedOnly(error: unknown): 'refused' {
	if (error instanceof ProviderFailed && error.kind === 'rejected') return 'refused'
	throw error
}

const inboundOf = ({ plan, run }: Session) =>
	({ organizationId: plan.scope.organizationId, syncId: run.syncId, direction: 'inbound' }) as const

/** Reads the records again that failed; true when there are no more. */
export async function retryFailed(session: Session, way: Way): Promise<boolean> {
	const { checkpoint, db } = session
	const ids = await findOpenErrors(db, inboundOf(session), { after: checkpoint.after, limit: together })
	const after = ids.at(-1)
	if (after === undefined) return true
	await readAgain(session, way, ids, { after })
	return ids.length < together
}

/** Reads the records whose link or conflict a caller has decided; true when there are no more. */
export async function pullDecided(session: Session, way: Way): Promise<boolean> {
	const { plan, checkpoint, db } = session
	const { decidedAfter = '' } = checkpoint
	if (decidedAfter === null) return true
	// After a pass over everything the others have been read, or are gone.
	const which = plan.push && checkpoint.isListed ? 'in' : 'all'
	const links = await findDecided(db, plan.scope, plan.sync.id, { after: decidedAfter, limit: together, which })
	const last = links.at(-1)
	if (!last && decidedAfter === '') return true
	if (!last) await session.mark({ decidedAfter: null })
	else {
		const ids = links.flatMap(({ externalId }) => externalId ?? [])
		await readAgain(session, way, ids, { decidedAfter: last.recordId })
	}
	return false
}

/** After a pass over everything: asks for those that failed, or were decided, and that it did not meet; true when there are no more. */
export async function readMissed(session: Session, way: Way): Promise<boolean> {
	const { run, checkpoint, capabilities, db } = session
	const { readsOne } = capabilities
	if (readsOne && !(await pullDecided(session, way))) return false
	const ids = await findOpenErrors(db, inboundOf(session), { after: checkpoint.after, limit: together, before: run.id })
	const after = ids.at(-1)
	if (after === undefined) return true
	if (readsOne) await readAgain(session, way, ids, { after }, true)
	else await session.commit((write, tally) => noteGone(session, write, tally, ids), { after })
	return ids.length < together
}

async function readAgain(
	session: Session,
	way: Way,
	ids: readonly string[],
	next: Partial<Checkpoint>,
	/** What nobody can ask for, and a pass over everything did not meet, is gone. */
	wasMissed = false,
): Promise<void> {
	const records: ExternalRecord[] = []
	const gone: string[] = []
	let refused = 0
	for (const id of ids) {
		const record = await readRecord(session.calls, session.plan.scope, id, way.reads).catch(refusedOnly)
		if (record === 'refused' && !wasMissed) refused++
		else if (record && record !== 'refused') records.push(record)
		else gone.push(id)
	}
	await applyChunk(session, way, records, next, { isCounted: () => true, count: undefined, total: null })
	if (gone.length + refused === 0) return
	await session.commit(async (write, tally) => {
		tally.read += refused
		tally.failed += refused
		await noteGone(session, write, tally, gone)
	}, {})
}

/** Closes the errors of records that are gone, and lets go of what they hold. Those that are linked are deleted here, or stay. */
async function noteGone(session: Session, write: Write, tally: Tally, ids: readonly string[]): Promise<void> {
	const { plan, run, capabilities } = session
	const { db, origin } = write
	tally.read += ids.length
	tally.skipped += ids.length
	const links = await findByExternalIds(db, plan.scope, ids)
	const isDeleting = plan.sync.deletePolicy === 'delete'
	// The deletion says what becomes of their errors.
	const closed = isDeleting ? ids.filter((id) => !links.has(id)) : ids
	if (isDeleting && capabilities.readsOne) await markGone(db, plan.scope, [...links.keys()], run.id)
	if (!isDeleting) for (const link of links.values()) await settleGone(session, write, link)
	await letGo(session, write, closed)
	await resolveErrors(db, inboundOf(session), closed, origin.now)
}

/** Does what was decided of a record that is gone at the provider, and is not deleted here. Where Remit wins it has still to go out. */
async function settleGone({ plan, run }: Session, write: Write, link: Link): Promise<void> {
	const { db, origin } = write
	const { scope, push, door } = plan
	const { recordId } = link
	const decision = decisionOf(plan, link)
	if (decision === null || (push && decision === 'remit')) return
	const shown = push && (await door.find(db, write, recordId))
	// What has changed here since goes out, and is a conflict then.
	if (shown && decisionOf(plan, await asShown(write, plan, link, goneThere(shown))) === null) return
	const pushed = shown && (await mapLinked(db, { ...scope, isOutbound: true }, push.fields, shown)).output
	await changeLink(db, scope, recordId, { ...done, ...(pushed && { pushedHash: hashOf(pushed) }) }, origin.now)
	const key = { organizationId: scope.organizationId, syncId: run.syncId, direction: 'outbound' as const }
	if (push) await resolveErrors(db, key, [recordId], origin.now)
}
