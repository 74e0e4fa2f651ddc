// Brings the provider's records to Remit, a page at a time.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ApiError } from '../../../platform/base/errors.ts'
import type { Transaction } from '../../../platform/db/database.ts'
import type { WriteContext } from '../../../platform/db/write-context.ts'
import { graceMs } from '../../../platform/fair/lending.ts'
import { type ExternalRecord, type RecordContext, type RecordPage, readPage } from '../../connections/records/records.ts'
import { findByExternalIds, type Link } from '../../mappings/link-store.ts'
import { linksFor } from '../../mappings/links.ts'
import { rejected } from '../../mappings/outputs.ts'
import type { Checkpoint } from '../checkpoint.ts'
import { follow } from '../endless.ts'
import { noteError, resolveErrors } from '../error-store.ts'
import { findEnded, forgetEnded } from '../records/ended-link-store.ts'
import { markGone, markSeen, unmarkGone } from '../records/link-store.ts'
import type { Plan, Session, Tally, Way } from '../run/session.ts'
import { apply, type Incoming, type Outcome, prepare } from './apply.ts'
import { decisionOf } from './decided.ts'
import { hold, holdsAny, letGo, matchedBy } from './holds.ts'
import { withValues } from './offending.ts'

/** A provider's clock, and ours, and what changed while a pass went on. */
const lookBackMs = 5 * 60_000

/** A record failed, and the sync stops then. */
export class RecordFailed extends Error {}

/** The next page, asked for while this one is written. */
const ahead = new WeakMap<Session, { readonly cursor: string | null; readonly page: Promise<RecordPage> }>()

/** Reads and writes a page; true when it was the last. */
export async function pullPage(session: Session, way: Way): Promise<boolean> {
	const { cursor, index, beganAt, listed } = session.checkpoint
	const page = await pageAt(session, way, cursor)
	const trail = follow(session.checkpoint.trail, cursor, page)
	if (page.next !== null && !session.isOver) lookAhead(session, way, page.next)
	const began = beganAt ?? session.job.now
	const { bytes, total } = page
	const count = (tally: Tally) => {
		tally.pages++
		tally.bytes += bytes
	}
	const number = session.run.progress.pages + (index === 0 ? 1 : 0)
	const newest =
		page.records.reduce((most, { changedAt }) => Math.max(most, changedAt ?? 0), session.checkpoint.newest ?? 0) || null
	for (let from = 0, size = 0; from === 0 || from < page.records.length; from += size) {
		if (session.job.signal.aborted) return false
		size = session.chunk
		const records = page.records.slice(from, from + size).map((record, at) => placed(record, number, from + at + 1))
		const isLast = from + size >= page.records.length
		const done = isLast
			? {
					...{ cursor: page.next, index: 0, newest, trail, listed: listed + page.records.length },
					...(page.next === null && { isListed: true }),
				}
			: // A page that is begun anew is counted from where it was before.
				{ index: Math.max(index, from + records.length) }
		// What a kill left behind is written again, but counted once.
		await applyChunk(
			session,
			way,
			records,
			{ ...done, beganAt: began },
			{
				isCounted: (at) => from + at >= index,
				count: from === 0 && index === 0 ? count : undefined,
				total: total ?? session.run.progress.total,
			},
		)
		await nextTurn()
	}
	return page.next === null
}

/** A record without an id can be told by its place alone. */
function placed(record: ExternalRecord, page: number, position: number): ExternalRecord {
	if (record.problem?.code !== 'invalid_id') return record
	const reason = `${record.problem.reason} It is number ${position} on page ${page}.`
	return { ...record, problem: { ...record.problem, reason } }
}

function lookAhead(session: Session, way: Way, cursor: string): void {
	const page = read(session, session.callsBeside, way, cursor)
	// Whoever takes it hears of it.
	page.catch(() => {})
	ahead.set(session, { cursor, page })
}

export const hasPageAhead = (session: Session): boolean => ahead.has(session)

async function pageAt(session: Session, way: Way, cursor: string | null): Promise<RecordPage> {
	const found = ahead.get(session)
	ahead.delete(session)
	if (found?.cursor !== cursor) return read(session, session.calls, way, cursor)
	const loan = session.job.lend(graceMs)
	return found.page.finally(() => loan.back())
}

/** Records that failed are found again among all, where none can be read alone. */
const sinceOf = ({ run, checkpoint }: Session) => (run.mode === 'failed' ? null : checkpoint.since)

const read = (session: Session, calls: RecordContext, { reads }: Way, cursor: string | null) =>
	readPage(calls, session.plan.scope, { cursor, since: sinceOf(session), fields: reads })

interface Counting {
	isCounted(at: number): boolean
	readonly count?: ((tally: Tally) => void) | undefined
	readonly total: number | null
}

/** Writes records in one transaction. */
export async function applyChunk(
	session: Session,
	way: Way,
	records: readonly ExternalRecord[],
	next: Partial<Checkpoint>,
	{ isCounted, count, total }: Counting,
): Promise<Outcome[]> {
	const { db, plan } = session
	const all = records.map(({ data }) => data)
	const fields = [...way.fields, ...(way.before?.fields ?? [])]
	const links = await linksFor(db, { ...plan.scope, isOutbound: false }, fields, all)
	const incoming = records.map((record) => prepare(plan, way, record, links))
	const write = (isCareful: boolean) =>
		session.commit(
			async (write, tally) => {
				count?.(tally)
				const outcomes = await applyAll(session, write, way, incoming, isCareful)
				for (const [at, { outcome, isFirst }] of outcomes.entries()) if (isFirst && isCounted(at)) tallyUp(tally, outcome)
				return outcomes.map(({ outcome }) => outcome)
			},
			next,
			total,
		)
	try {
		return await write(false)
	} catch (error) {
		// A record that is rejected takes only its own writes with it.
		if (!(error instanceof ApiError)) throw error
		return write(true)
	}
}

/** Brings in a record of the provider on account of one of Remit, which is counted in its place. */
export async function bringIn(session: Session, way: Way, record: ExternalRecord): Promise<Outcome> {
	const { total } = session.run.progress
	const [outcome] = await applyChunk(session, way, [record], {}, { isCounted: () => false, count: undefined, total })
	return outcome as Outcome
}

function tallyUp(tally: Tally, outcome: Outcome): void {
	tally.read++
	tally[typeof outcome === 'string' ? outcome : 'failed']++
}

interface Applied {
	readonly outcome: Outcome
	/** Whether the run has not read the record before. */
	readonly isFirst: boolean
}

async function applyAll(
	session: Session,
	write: WriteContext & { readonly db: Transaction },
	way: Way,
	incoming: readonly Incoming[],
	isCareful: boolean,
): Promise<Applied[]> {
	const { plan, run, checkpoint } = session
	const { db, origin } = write
	const links = await findByExternalIds(
		db,
		plan.scope,
		incoming.map(({ record }) => record.id),
	)
	const ended = await endedOf(session, write, incoming, links)
	const outcomes: Applied[] = []
	const written: string[] = []
	const unwritten: { id: string; outcome: Outcome; link: Link | undefined; ids: string[] }[] = []
	/** By id, whether the provider says that it is deleted: of a record that is listed twice, the last time. */
	const states = new Map<string, boolean>()
	for (const each of incoming) {
		const { id, isDeleted } = each.record
		const link = states.has(id) ? (await findByExternalIds(db, plan.scope, [id])).get(id) : links.get(id)
		states.set(id, isDeleted)
		const outcome = each.record.isDeleted
			? 'skipped'
			: await attempt(() => apply(write, plan, way, each, link, ended.get(id)), isCareful ? db : undefined)
		outcomes.push({ outcome, isFirst: link?.seenRunId !== run.id })
		if (ended.has(id) && typeof outcome === 'string' && outcome !== 'skipped') await forgetEnded(db, plan.scope, id)
		if (typeof outcome === 'string') written.push(id)
		const isSkipped = outcome === 'skipped' && !link && !isDeleted
		if (typeof outcome === 'string' && !isSkipped) continue
		const linkedId = link && typeof outcome === 'object' ? (outcome.recordId ?? link.recordId) : link?.recordId
		const ids = linkedId !== undefined ? [linkedId] : await matchedBy(write, session, way, each)
		if (holdsAny(session)) unwritten.push({ id, outcome, link, ids })
		if (typeof outcome === 'object')
			await noteFailed(
				session,
				write,
				each,
				withValues(outcome.failed, way.fields, each.record.data),
				outcome.recordId ?? (ids.length === 1 ? (ids[0] ?? null) : null),
			)
	}
	const { organizationId } = plan.scope
	const idsOf = (deleted: boolean) => [...states].flatMap(([id, isDeleted]) => (isDeleted === deleted ? id : []))
	const isDeleting = plan.sync.deletePolicy === 'delete'
	// What was decided is read alone, and may be listed as well.
	const seen = isDeleting && checkpoint.isFull ? idsOf(false) : idsOf(false).filter((id) => isDecided(plan, links.get(id)))
	if (seen.length > 0) await markSeen(db, plan.scope, seen, run.id)
	if (isDeleting) {
		await unmarkGone(db, plan.scope, idsOf(false), run.id)
		await markGone(db, plan.scope, idsOf(true), run.id)
	}
	if (written.length > 0 && holdsAny(session)) await letGo(session, write, written)
	for (const { id, ...held } of unwritten) await hold(session, write, id, held)
	if (written.length > 0)
		await resolveErrors(db, { organizationId, syncId: run.syncId, direction: 'inbound' }, written, origin.now)
	return outcomes
}

const isDecided = (plan: Plan, link: Link | undefined) => link !== undefined && decisionOf(plan, link) !== null

/** The records of Remit with which those were linked that have no link: they return. */
async function endedOf(
	{ plan: { scope, door } }: Session,
	{ db }: WriteContext,
	incoming: readonly Incoming[],
	links: ReadonlyMap<string, Link>,
): Promise<ReadonlyMap<string, string>> {
	const ids = incoming.flatMap(({ record: { id, isDeleted } }) => (isDeleted || links.has(id) ? [] : id))
	return ids.length > 0 && door.restore ? findEnded(db, scope, ids) : new Map()
}

/** With a transaction: what fails takes its writes with it, and is an outcome. */
async function attempt(work: () => Promise<Outcome>, careful: Transaction | undefined): Promise<Outcome> {
	if (!careful) return work()
	try {
		return await careful.attempt(work)
	} catch (error) {
		if (!(error instanceof ApiError)) throw error
		return { failed: rejected(error) }
	}
}

async function noteFailed(
	{ plan, run, checkpoint }: Session,
	{ db, origin }: WriteContext,
	{ record }: Incoming,
	errors: Exclude<Outcome, string>['failed'],
	recordId: string | null,
): Promise<void> {
	if (plan.sync.errorPolicy === 'stop') {
		const [first] = errors
		throw new RecordFailed(
			`The record ${record.id} could not be written: ${first?.field ? `${first.field} ` : ''}${first?.reason}`,
		)
	}
	const { organizationId } = plan.scope
	const key = { organizationId, syncId: run.syncId, direction: 'inbound' as const }
	if (origin.meter) origin.meter.bytes += Buffer.byteLength(JSON.stringify(errors))
	await noteError(
		db,
		{
			...key,
			runId: run.id,
			runBefore: checkpoint.runBefore ?? '',
			recordKey: record.id,
			externalId: record.id,
			recordId,
			errors,
		},
		origin.now,
	)
}

/** Up to when the provider's changes are read, once a pass has come to its end. */
export function watermarkOf({ newest, since, beganAt }: Checkpoint, now: number): number | null {
	if (newest === null) return since
	return Math.max(Math.min(newest, (beganAt ?? now) - lookBackMs), since ?? 0)
}
