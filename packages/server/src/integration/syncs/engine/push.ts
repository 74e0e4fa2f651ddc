// Brings Remit's records to the provider: those that the feed of events names since the last run, or all.

import type { WebhookEvent } from '../../../generated/contract.ts'
import { findEnd, readEvents } from '../../../platform/events/feed-store.ts'
import { ProviderFailed, readRecord } from '../../connections/records/records.ts'
import { findByRecordIds, type Link } from '../../mappings/link-store.ts'
import { mappings } from '../../mappings/store.ts'
import type { Checkpoint } from '../checkpoint.ts'
import { findOpenErrors, noteError, resolveErrors } from '../error-store.ts'
import { findDecided, done as noDecision } from '../records/decision-store.ts'
import { findIds, findOwnRuns } from '../records/internal-store.ts'
import { changeLink, findPendingIds, markRecordsGone } from '../records/link-store.ts'
import { sidesOf } from '../rules.ts'
import type { Session, Tally, Way } from '../run/session.ts'
import type { Outcome } from './apply.ts'
import { decisionOf } from './decided.ts'
import { noteDeletion, noteGoneConflict } from './deletions.ts'
import { letGo } from './holds.ts'
import { bringIn } from './pull.ts'
import { type Pushed, push, type Writing } from './push-record.ts'

/** Ids that are looked at together. */
const batch = 100

/** Looks at the next records, and writes those that differ; true when there are no more. */
export async function pushBatch(session: Session, way: Way): Promise<boolean> {
	const { checkpoint, plan, run, db } = session
	const { organizationId } = plan.scope
	if (run.mode === 'failed') {
		const key = { organizationId, syncId: run.syncId, direction: 'outbound' as const }
		return pushIds(session, way, await findOpenErrors(db, key, { after: checkpoint.after, limit: batch }))
	}
	const { place } = checkpoint
	if (place === null || (!checkpoint.isFull && checkpoint.placedAt < session.feedBeganAt)) {
		// What changes from here on is in the feed, whenever a run gets to it.
		await session.mark({
			isFull: true,
			index: 0,
			place: await findEnd(db, organizationId),
			placedAt: session.job.now,
		})
		return false
	}
	if (checkpoint.isFull) {
		const ids = await findIds(db, plan.kind, { organizationId, after: checkpoint.after, limit: batch })
		if (!(await pushIds(session, way, ids))) return false
		await closeMissed(session)
		return true
	}
	return pushChanges(session, way, place)
}

/** Finds out what became of records whose creation had no answer; true when there are no more. */
export async function settleBatch(session: Session, way: Way): Promise<boolean> {
	const { plan, checkpoint, db } = session
	return pushIds(session, way, await findPendingIds(db, plan.scope, checkpoint.after, batch))
}

/** Brings out what callers have decided, before anything else; true when there is no more of it. */
export async function pushDecided(session: Session, way: Way): Promise<boolean> {
	const { plan, checkpoint, db } = session
	const { decidedAfter = '' } = checkpoint
	if (decidedAfter === null) return true
	const page = { after: decidedAfter, limit: batch, which: plan.pull ? ('out' as const) : ('all' as const) }
	const links = await findDecided(db, plan.scope, plan.sync.id, page)
	if (links.length === 0 && decidedAfter === '') return true
	const ids = links.map(({ recordId }) => recordId)
	if (ids.length === 0) await session.mark({ decidedAfter: null })
	else await pushRecords(session, way, ids, (at) => ({ decidedAfter: ids[at] as string }))
	return false
}

async function pushIds(session: Session, way: Way, ids: readonly string[]): Promise<boolean> {
	await pushRecords(session, way, ids, (at) => ({ after: ids[at] as string }))
	return ids.length < batch && !session.job.signal.aborted
}

/** Closes the errors of records that a pass over all has not met: they are gone. What is still linked is the business of its deletion. */
async function closeMissed(session: Session): Promise<void> {
	const { plan, run, db, job } = session
	const key = { organizationId: plan.scope.organizationId, syncId: run.syncId, direction: 'outbound' as const }
	for (let after: string | undefined = ''; after !== undefined; ) {
		const ids = await findOpenErrors(db, key, { after, limit: batch, before: run.id })
		const links = plan.sync.deletePolicy === 'delete' ? await findByRecordIds(db, plan.scope, ids) : undefined
		const closed = ids.filter((id) => links?.get(id)?.externalId == null)
		if (closed.length > 0) await session.commit((write) => resolveErrors(write.db, key, closed, job.now), {})
		after = ids.at(-1)
	}
}

/** Reads a page of the feed. Several changes of a record go out once, as it is now. */
async function pushChanges(session: Session, way: Way, place: number): Promise<boolean> {
	const { plan, checkpoint, db } = session
	const { organizationId } = plan.scope
	const { rows, last } = await readEvents(db, { organizationId }, { limit: batch, offset: 0, after: place }, plan.door.events)
	const events: WebhookEvent[] = []
	for await (const text of rows) events.push(JSON.parse(text))
	const actors = events.flatMap(({ actor }) => (actor.type === 'sync' && actor.id !== null ? actor.id : []))
	const own = await ownRuns(session, [...new Set(actors)])
	const foreign = events.filter(({ actor }) => actor.type !== 'sync' || !own.has(actor.id ?? ''))
	const ids = [...new Set(foreign.map(({ resource }) => resource.id))]
	await pushRecords(session, way, ids, (at) => ({ index: at + 1 }), checkpoint.index)
	if (session.job.signal.aborted) return false
	if (last !== undefined)
		await session.mark({ place: last, placedAt: session.job.now, index: 0, ...failuresOf(session.checkpoint) })
	return events.length < batch
}

/** Runs that brought what is at the provider already: those of any sync of the connection and its object. */
async function ownRuns({ db, plan }: Session, ids: readonly string[]): Promise<Set<string>> {
	const { organizationId, connectionId, object } = plan.scope
	const runs = await findOwnRuns(db, { organizationId, connectionId, ids })
	const ours = new Set<string>()
	for (const mappingId of new Set(runs.map((run) => run.mappingId))) {
		const mapping = await mappings.findEvenDeleted(db, organizationId, mappingId)
		if (mapping && sidesOf(mapping).object === object) ours.add(mappingId)
	}
	return new Set(runs.flatMap(({ id, mappingId }) => (ours.has(mappingId) ? id : [])))
}

/** What says nothing of the provider leaves the count of its failures alone. */
const failuresOf = ({ tries, givenUp = 0 }: Checkpoint) => ({ tries, givenUp })

async function pushRecords(
	session: Session,
	way: Way,
	ids: readonly string[],
	next: (at: number) => Partial<Checkpoint>,
	from = 0,
): Promise<void> {
	const { plan, db } = session
	const links = await findByRecordIds(db, plan.scope, ids)
	for (let at = from; at < ids.length && !session.job.signal.aborted; at++) {
		const id = ids[at] as string
		let link = links.get(id)
		let pushed = await pushOne(session, way, id, link)
		const brought = link && (!pushed || pushed.isHeld) ? await lookAgain(session, link) : pushed?.brought
		if (brought !== undefined && brought !== 'gone') {
			link = (await findByRecordIds(db, plan.scope, [id])).get(id)
			pushed = await pushOne(session, way, id, link)
		}
		const failures = pushed?.failures ?? (pushed?.isAnswered ? {} : failuresOf(session.checkpoint))
		const done = { id, link, pushed, brought }
		await session.commit((write, tally) => note(session, write, tally, done), { ...next(at), ...failures })
	}
}

/**
 * Looks at the provider's record of an open conflict once that of Remit has changed, or is gone: the conflict says what both have now, or ends.
 * Undefined where it is not for this run to do; `gone` when both are.
 */
async function lookAgain(session: Session, link: Link): Promise<Outcome | 'gone' | undefined> {
	const { plan, run, capabilities, calls, db, origin } = session
	const { externalId, recordId, heldBy, heldRunId } = link
	const { pull, scope, door, organization } = plan
	const isOpen = externalId !== null && heldBy === externalId && heldRunId !== run.id && decisionOf(plan, link) === null
	if (!pull || !isOpen || !capabilities.readsOne) return undefined
	const record = await readRecord(calls, scope, externalId, pull.reads).catch(failedOnly)
	if (record === 'failed') return undefined
	if (record && !record.isDeleted) return bringIn(session, pull, record)
	const shown = await door.find(db, { organization, origin }, recordId)
	if (!shown) return 'gone'
	return session.commit(async (write) => {
		if (plan.sync.deletePolicy === 'delete') return { failed: await noteGoneConflict(session, write, link, shown), recordId }
		// Nothing is deleted here: that it is gone is found when the record goes out.
		await letGo(session, write, [externalId])
		const key = { organizationId: scope.organizationId, syncId: run.syncId, direction: 'inbound' as const }
		await resolveErrors(write.db, key, [externalId], write.origin.now)
		return 'skipped'
	}, {})
}

/** What the provider does not tell now leaves the conflict as it was. */
function failedOnly(error: unknown): 'failed' {
	if (error instanceof ProviderFailed && (error.kind === 'rejected' || error.kind === 'retry')) return 'failed'
	throw error
}

/** Undefined for a record that is gone. */
async function pushOne(session: Session, way: Way, id: string, link: Link | undefined): Promise<Pushed | undefined> {
	const { plan, db, origin } = session
	const shown = await plan.door.find(db, { organization: plan.organization, origin }, id)
	return shown && push(session, way, shown, link)
}

interface Done {
	readonly id: string
	readonly link: Link | undefined
	/** Undefined for a record that is gone. */
	readonly pushed: Pushed | undefined
	/** What became of the provider's record, where that was looked at as well; `gone` when there is none, either. */
	readonly brought: Outcome | 'gone' | undefined
}

/** Stores and counts what became of a record. */
async function note(session: Session, write: Writing, tally: Tally, { id, link, pushed, brought }: Done): Promise<void> {
	const { plan, run, checkpoint } = session
	const { db, origin } = write
	const key = { organizationId: plan.scope.organizationId, syncId: run.syncId, direction: 'outbound' as const }
	tally.read++
	if (link && brought === 'gone') return noteDeletion(session, write, tally, 'outbound', link, undefined)
	await pushed?.store?.(write)
	// What failed goes out when it changes, or with the records that failed; an outbound sync would ask for the decision again.
	const isLeft = pushed?.isHeld || (typeof pushed?.outcome === 'object' && (!plan.pull || pushed.failures !== undefined))
	if (link && !isLeft && decisionOf(plan, link) !== null) await changeLink(db, plan.scope, id, noDecision, origin.now)
	if (typeof pushed?.outcome === 'object') {
		tally.failed++
		const ids = { recordKey: id, externalId: pushed.externalId ?? link?.externalId ?? null, recordId: id }
		return noteError(
			db,
			{ ...key, ...ids, runId: run.id, runBefore: checkpoint.runBefore ?? '', errors: pushed.outcome.failed },
			origin.now,
		)
	}
	// A conflict of both is one failure.
	const isConflict = typeof brought === 'object' && (!pushed || pushed.isHeld)
	if (isConflict) tally.failed++
	else if (pushed) tally[pushed.outcome]++
	if (!pushed) {
		const isDeleting = plan.sync.deletePolicy === 'delete'
		// What is deleted at the provider is counted there.
		if (!isConflict && (!isDeleting || link?.externalId == null)) tally.skipped++
		if (isDeleting) await markRecordsGone(db, plan.scope, [id], run.id)
		// What is still there stays an error until it is deleted.
		if (isDeleting && link?.externalId != null) return
	}
	await resolveErrors(db, key, [id], origin.now)
}
