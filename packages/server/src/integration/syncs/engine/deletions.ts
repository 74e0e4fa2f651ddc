// Deletes what the other side has no more: at the end of a pass, and never many records at once without somebody's word.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ApiError } from '../../../platform/base/errors.ts'
import { beginningOf } from '../../../platform/base/ids.ts'
import type { Db, Transaction } from '../../../platform/db/database.ts'
import type { Shown } from '../../../platform/db/record-door.ts'
import type { WriteContext } from '../../../platform/db/write-context.ts'
import { CannotDo, type ProviderFailed, readRecord, removeRecord } from '../../connections/records/records.ts'
import type { FieldError } from '../../mappings/engine/engine.ts'
import { hashOfFields } from '../../mappings/hashes.ts'
import type { Link } from '../../mappings/link-store.ts'
import { type Output, rejected } from '../../mappings/outputs.ts'
import { noteError, resolveErrors } from '../error-store.ts'
import { noteEnded } from '../records/ended-link-store.ts'
import { changeLink, removeLink, unlinked } from '../records/link-store.ts'
import { countPart, findLost, hasLinks, type Lost, lostIn, nextPart, type Part } from '../records/lost-store.ts'
import type { Plan, Session, Tally } from '../run/session.ts'
import { findState } from '../state-store.ts'
import { refusedOnly } from './again.ts'
import { winner } from './apply.ts'
import { asShown, decidedWinner, goneThere, versionOf } from './decided.ts'
import { findHeir, handOver, isAtProvider, isPassedOn } from './holds.ts'
import { baseOf, conflictError, goneReason, lastSeenOf, sidesOf } from './offending.ts'

type Write = WriteContext & { readonly db: Transaction }

/** A run would delete too much; somebody has to confirm it. */
export class TooManyDeletions extends Error {}

const most = 10
const share = 0.2

/** Whether so many at once look like a mistake. One record alone never does. */
const isTooMany = (lost: number, linked: number) => lost > 1 && (lost > linked / 2 || (lost > most && lost > linked * share))

const batch = 25

const by = ({ run, checkpoint, capabilities, plan }: Session) => ({
	run,
	checkpoint,
	capabilities,
	isInbound: plan.pull !== undefined,
})

/** Throws TooManyDeletions unless the run may delete what it found; false when it was broken off before it could tell. */
export async function isLetDelete(session: Session, isFull: boolean): Promise<boolean> {
	const { plan, checkpoint, db, job } = session
	if (checkpoint.isConfirmed) return true
	const of = lostIn(by(session), isFull)
	const inherited = { ...of, ...(await inheritedBy(session)) }
	// An index has those that the provider, or the feed of events, has named.
	const few = of.unseenBefore === undefined ? (await findLost(db, plan.scope, of, { after: '' }, most + 1)).length : undefined
	if (few !== undefined && few <= most && (few < 2 || (await hasLinks(db, plan.scope, 2 * few)))) {
		if (inherited.linkedBefore !== undefined) await requireNone(session, inherited, { after: '' })
		return true
	}
	const all = { linked: 0, lost: 0 }
	for (let after: string | undefined = ''; after !== undefined; ) {
		if (job.signal.aborted) return false
		const part = await nextPart(db, plan.scope, after)
		const counted = await countPart(db, plan.scope, of, part)
		if (counted.lost > 0 && inherited.linkedBefore !== undefined) await requireNone(session, inherited, part)
		all.linked += counted.linked
		all.lost += counted.lost
		after = part.upTo
		// Requests come in between.
		await nextTurn()
	}
	// A provider that lists nothing at all has more likely lost its list than its records.
	const isEmpty = isFull && checkpoint.listed === 0 && all.lost > 0
	if (!isEmpty && !isTooMany(all.lost, all.linked)) return true
	throw new TooManyDeletions(`${all.lost} of ${all.linked} linked records would be deleted.`)
}

/** Links that a sync has of one before it: nobody has said of this one that it may delete what only that one has seen. */
async function inheritedBy({ plan, checkpoint, db }: Session): Promise<Pick<Lost, 'linkedBefore' | 'readBefore'>> {
	const { createdAt } = plan.sync
	if (checkpoint.phase === 'pullDeletions') return { linkedBefore: createdAt, readBefore: beginningOf('run', createdAt) }
	// A run that came to its end has looked for what is gone in Remit.
	return (await findState(db, plan.sync)).place == null ? { linkedBefore: createdAt } : {}
}

async function requireNone({ plan, db }: Session, inherited: Lost, part: Part): Promise<void> {
	if ((await findLost(db, plan.scope, inherited, part, 1)).length === 0) return
	throw new TooManyDeletions(
		'Records would be deleted that were linked before this sync was made, and that no run of it has read.',
	)
}

/** The next links that have lost their other side, after the last id; `isLast` when no others follow them. */
async function nextLost({ plan, checkpoint, db, job }: Session, of: Lost) {
	for (let { after } = checkpoint; ; ) {
		const part = of.unseenBefore === undefined ? { after } : await nextPart(db, plan.scope, after)
		const links = await findLost(db, plan.scope, of, part, batch)
		if (part.upTo === undefined) return { links, isLast: links.length < batch }
		if (links.length > 0 || job.signal.aborted) return { links, isLast: false }
		after = part.upTo
		await nextTurn()
	}
}

/** Deletes records of Remit whose other side is gone, after the last id; true when none is left. */
export async function deleteInRemit(session: Session, isFull: boolean): Promise<boolean> {
	const { capabilities } = session
	const { links, isLast } = await nextLost(session, lostIn(by(session), isFull))
	for (const { isToldGone, ...link } of links) {
		if (session.job.signal.aborted) return false
		const { recordId, externalId } = link
		// A page that moved while it was read may have hidden a record, and before somebody confirms it may come back: ask for it alone.
		const mayBeThere = !isToldGone || session.checkpoint.isConfirmed
		const isThere = mayBeThere && capabilities.readsOne && (await isAtProvider(session, externalId as string))
		const heir = isThere ? undefined : await findHeir(session, link)
		await session.commit(
			async (write, tally) => {
				if (isThere) return
				if (heir !== undefined && (await handOver(session, write, link, heir))) return void tally.skipped++
				await noteDeletion(session, write, tally, 'inbound', link, await deleteOne(session, write, link))
			},
			{ after: recordId },
		)
	}
	return isLast
}

/** Undefined when the record is gone; `kept` when it stays since it has changed here, and wins; `unlinked` when a caller has decided that it stays. */
type Deletion = undefined | 'kept' | 'unlinked' | readonly FieldError[]

async function deleteOne({ plan }: Session, write: Write, known: Link): Promise<Deletion> {
	const { recordId, internalHash } = known
	const { pull, door, sync } = plan
	const locked = await door.lock(write, recordId)
	if (!locked) return undefined
	const link = await asShown(write, plan, known, goneThere(locked.shown))
	const hasMoved = pull !== undefined && hashOfFields(locked.shown, pull.writes) !== internalHash
	// Nobody says when it was deleted: what has changed here counts as later.
	const decided = decidedWinner(plan, link)
	if (decided === 'target') return 'unlinked'
	const wins = decided ?? (hasMoved ? winner(sync.conflictPolicy, 0, locked.shown.updatedAt) : 'source')
	if (wins === 'nobody') return [await goneConflict(write.db, plan, link, locked.shown)]
	if (wins === 'target') return 'kept'
	try {
		await write.db.attempt(() => locked.remove())
		return undefined
	} catch (error) {
		if (!(error instanceof ApiError)) throw error
		return rejected(error)
	}
}

async function goneConflict(db: Db, { scope, pull }: Plan, { externalId }: Link, shown: Shown): Promise<FieldError> {
	const base = pull && (await baseOf(db, scope, pull, externalId))
	const sides = sidesOf(pull?.writes ?? [], { provider: undefined, remit: shown, base })
	return conflictError(goneReason(shown, externalId), sides, versionOf(goneThere(shown)))
}

/** Says what a record has now whose own one at the provider is gone, while nobody has decided which counts. */
export async function noteGoneConflict(session: Session, write: Write, link: Link, shown: Shown): Promise<FieldError[]> {
	const errors = [await goneConflict(write.db, session.plan, link, shown)]
	await noteKept(session, write, 'inbound', link, errors)
	return errors
}

/** Stores why a record is not deleted. */
async function noteKept(
	{ plan, run, checkpoint }: Session,
	{ db, origin }: Write,
	direction: 'inbound' | 'outbound',
	{ recordId, externalId }: Link,
	errors: readonly FieldError[],
): Promise<void> {
	const ofSync = { organizationId: plan.scope.organizationId, syncId: run.syncId }
	const isConflict = direction === 'inbound' && errors.some(({ code }) => code === 'conflict')
	const held = isConflict && { heldBy: externalId, heldRunId: run.id }
	await changeLink(db, plan.scope, recordId, { goneRunId: null, ...held }, origin.now)
	// One cause is one error.
	if (isConflict) await resolveErrors(db, { ...ofSync, direction: 'outbound' }, [recordId], origin.now)
	const recordKey = direction === 'inbound' ? (externalId as string) : recordId
	const runs = { runId: run.id, runBefore: checkpoint.runBefore ?? '' }
	await noteError(db, { ...ofSync, direction, recordKey, externalId, recordId, errors, ...runs }, origin.now)
}

export async function noteDeletion(
	session: Session,
	write: Write,
	tally: Tally,
	direction: 'inbound' | 'outbound',
	link: Link,
	outcome: Deletion,
): Promise<void> {
	const { plan, run } = session
	const { db, origin } = write
	const { recordId, externalId } = link
	const ofSync = { organizationId: plan.scope.organizationId, syncId: run.syncId }
	const keys = { inbound: externalId as string, outbound: recordId }
	const close = (way: keyof typeof keys) => resolveErrors(db, { ...ofSync, direction: way }, [keys[way]], origin.now)
	if (outcome === undefined) {
		await removeLink(db, plan.scope, recordId)
		if (plan.door.restore) await noteEnded(db, plan.scope, { externalId: externalId as string, recordId }, origin.now)
		tally.deleted++
		// The other way, too: a run that wrote it there may have found first that it is gone.
		await close('inbound')
		await close('outbound')
		return
	}
	if (outcome === 'kept' || outcome === 'unlinked') {
		// Both ways, the record goes out as a new one.
		const out = plan.push && { ...unlinked, decision: 'applied' as const, decidedFor: plan.sync.id }
		if (out || outcome === 'kept') await changeLink(db, plan.scope, recordId, out ?? { goneRunId: null }, origin.now)
		else await removeLink(db, plan.scope, recordId)
		await close('inbound')
		await close('outbound')
		tally.skipped++
	} else {
		tally.failed++
		await noteKept(session, write, direction, link, outcome)
	}
}

/** Deletes records of the provider whose other side is gone. */
export async function deleteAtProvider(session: Session): Promise<boolean> {
	const { links, isLast } = await nextLost(session, lostIn(by(session), false))
	for (const { isToldGone: _, ...link } of links) {
		if (session.job.signal.aborted) return false
		const data = await lastThere(session, link)
		if (data && (await isPassedOn(session, link, data))) continue
		const failure = await removeThere(session, link.externalId as string)
		const outcome = failure === undefined ? undefined : [{ field: '', code: 'provider_rejected', reason: failure }]
		await session.commit((write, tally) => noteDeletion(session, write, tally, 'outbound', link, outcome), {
			after: link.recordId,
		})
	}
	return isLast
}

/** What the provider has of a record that is gone here, as far as that is known; undefined where nobody could be linked with it in its place. */
async function lastThere({ plan, db, calls, capabilities }: Session, { externalId }: Link): Promise<Output | undefined> {
	const { pull, scope } = plan
	if (!pull?.definition.match) return undefined
	const seen = await lastSeenOf(db, scope, externalId)
	if (seen || !capabilities.readsOne) return seen
	const found = await readRecord(calls, scope, externalId as string, pull.reads).catch(refusedOnly)
	return found === 'refused' ? undefined : found?.data
}

/** Why the provider does not delete it; undefined when it does. */
async function removeThere({ calls, plan }: Session, externalId: string): Promise<string | undefined> {
	try {
		await removeRecord(calls, plan.scope, externalId)
		return undefined
	} catch (error) {
		if (error instanceof CannotDo) return error.message
		if ((error as ProviderFailed).kind === 'rejected') return (error as Error).message
		throw error
	}
}
