// Brings Remit's records to the provider: those that the feed of events names since the last run, or all.
import { findEnd, readEvents } from '../../events/feed-store.ts'
import type { WebhookEvent } from '../../generated/contract.ts'
import { findByRecordIds, type Link } from '../../mappings/link-store.ts'
import { mappings } from '../../mappings/store.ts'
import type { Checkpoint } from '../checkpoint.ts'
import { findOpenErrors, noteError, resolveErrors } from '../error-store.ts'
import { findDecided, done as noDecision } from '../records/decision-store.ts'
import { findIds, findOwnRuns } from '../records/internal-store.ts'
import { changeLink, findPendingIds, markRecordsGone } from '../records/link-store.ts'
import { doors } from '../records/objects.ts'
import { sidesOf } from '../rules.ts'
import { decisionOf } from './apply.ts'
import { type Pushed, push, type Writing } from './push-record.ts'
import type { Session, Tally, Way } from './session.ts'

/** Ids that are looked at together. */
const batch = 100

/** Looks at the next records, and writes those that differ; true when there are no more. */
export async function pushBatch(session: Session, way: Way): Promise<boolean> {
	const { checkpoint, plan, run, db } = session
	const { organizationId } = plan.scope
	if (run.mode === 'failed') {
		const key = { organizationId, syncId: run.syncId, direction: 'outbound' as const }
		return pushIds(session, way, await findOpenErrors(db, key, checkpoint.after, batch))
	}
	const { place } = checkpoint
	if (place === null || (!checkpoint.isFull && checkpoint.placedAt < session.feedBeganAt)) {
		// What changes from here on is in the feed, whenever a run gets to it.
		await session.commit(async () => {}, {
			isFull: true,
			index: 0,
			place: await findEnd(db, organizationId),
			placedAt: session.job.now,
		})
		return false
	}
	if (checkpoint.isFull)
		return pushIds(session, way, await findIds(db, plan.kind, { organizationId, after: checkpoint.after, limit: batch }))
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
	const isOut = plan.pull !== undefined
	const links = await findDecided(db, plan.scope, plan.sync.id, { after: decidedAfter, limit: batch, isOut })
	if (links.length === 0 && decidedAfter === '') return true
	const ids = links.map(({ recordId }) => recordId)
	if (ids.length === 0) await session.commit(async () => {}, { decidedAfter: null })
	else await pushRecords(session, way, ids, (at) => ({ decidedAfter: ids[at] as string }))
	return false
}

async function pushIds(session: Session, way: Way, ids: readonly string[]): Promise<boolean> {
	await pushRecords(session, way, ids, (at) => ({ after: ids[at] as string }))
	return ids.length < batch && !session.job.signal.aborted
}

/** Reads a page of the feed. Several changes of a record go out once, as it is now. */
async function pushChanges(session: Session, way: Way, place: number): Promise<boolean> {
	const { plan, checkpoint, db } = session
	const { organizationId } = plan.scope
	const { rows, last } = await readEvents(
		db,
		{ organizationId },
		{ limit: batch, offset: 0, after: place },
		doors[plan.kind].events,
	)
	const events: WebhookEvent[] = []
	for await (const text of rows) events.push(JSON.parse(text))
	const actors = events.flatMap(({ actor }) => (actor.type === 'sync' && actor.id !== null ? actor.id : []))
	const own = await ownRuns(session, [...new Set(actors)])
	const foreign = events.filter(({ actor }) => actor.type !== 'sync' || !own.has(actor.id ?? ''))
	const ids = [...new Set(foreign.map(({ resource }) => resource.id))]
	await pushRecords(session, way, ids, (at) => ({ index: at + 1 }), checkpoint.index)
	if (session.job.signal.aborted) return false
	if (last !== undefined)
		await session.commit(async () => {}, { place: last, placedAt: session.job.now, index: 0, ...failuresOf(session.checkpoint) })
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
	done: (at: number) => Partial<Checkpoint>,
	from = 0,
): Promise<void> {
	const { plan, db } = session
	const links = await findByRecordIds(db, plan.scope, ids)
	for (let at = from; at < ids.length && !session.job.signal.aborted; at++) {
		const id = ids[at] as string
		const link = links.get(id)
		const shown = await doors[plan.kind].find(db, { organization: plan.organization, origin: session.origin }, id)
		const pushed = shown && (await push(session, way, shown, link))
		const failures = pushed?.failures ?? (pushed?.isAnswered ? {} : failuresOf(session.checkpoint))
		await session.commit((write, tally) => note(session, write, tally, { id, link, pushed }), { ...done(at), ...failures })
	}
}

interface Done {
	readonly id: string
	readonly link: Link | undefined
	/** Undefined for a record that is gone. */
	readonly pushed: Pushed | undefined
}

/** Stores and counts what became of a record. */
async function note({ plan, run, checkpoint }: Session, write: Writing, tally: Tally, { id, link, pushed }: Done): Promise<void> {
	const { db, origin } = write
	const key = { organizationId: plan.scope.organizationId, syncId: run.syncId, direction: 'outbound' as const }
	tally.read++
	await pushed?.store?.(write)
	const isFailed = typeof pushed?.outcome === 'object'
	if (link && !isFailed && decisionOf(plan, link) !== null) await changeLink(db, plan.scope, id, noDecision, origin.now)
	if (typeof pushed?.outcome === 'object') {
		tally.failed++
		const ids = { recordKey: id, externalId: pushed.externalId ?? link?.externalId ?? null, recordId: id }
		return noteError(
			db,
			{ ...key, ...ids, runId: run.id, runBefore: checkpoint.runBefore ?? '', errors: pushed.outcome.failed },
			origin.now,
		)
	}
	if (pushed) tally[pushed.outcome]++
	else {
		const isDeleting = plan.sync.deletePolicy === 'delete'
		// What is deleted at the provider is counted there.
		if (!isDeleting || link?.externalId == null) tally.skipped++
		if (isDeleting) await markRecordsGone(db, plan.scope, [id], run.id)
		// What is still there stays an error until it is deleted.
		if (isDeleting && link?.externalId != null) return
	}
	await resolveErrors(db, key, [id], origin.now)
}
