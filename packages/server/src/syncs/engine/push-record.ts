// Brings one record of Remit to the provider, and says what became of it.
import { randomUUID } from 'node:crypto'
import { CannotDo, type ExternalRecord, ProviderFailed, readRecord, writeRecord } from '../../connections/records/records.ts'
import type { Transaction } from '../../db/database.ts'
import type { WriteContext } from '../../db/write-context.ts'
import type { RecordFailure } from '../../generated/contract.ts'
import { hashOf } from '../../mappings/hashes.ts'
import type { Link } from '../../mappings/link-store.ts'
import { mapLinked } from '../../mappings/links.ts'
import type { Output } from '../../mappings/outputs.ts'
import { changeLink, insertLink } from '../records/link-store.ts'
import type { Shown } from '../records/objects.ts'
import { decisionOf, type Outcome, winner } from './apply.ts'
import { mostTries } from './break-off.ts'
import { findThere, isAlike, linkedAlready, readsOf, valueAt } from './first-link.ts'
import { isHeld } from './holds.ts'
import { withValues } from './offending.ts'
import { RecordFailed } from './pull.ts'
import type { Session, Way } from './session.ts'

/** Records in a row with each of which the provider fails; with the next one it is down, and not they are at fault. */
const mostGivenUp = 3

export type Writing = WriteContext & { readonly db: Transaction }

export interface Pushed {
	readonly outcome: Outcome
	/** Of a record that failed and has no link: the provider's one that it is about. */
	readonly externalId?: string
	/** Writes what is known of the provider's record now. */
	readonly store?: (write: Writing) => Promise<unknown>
	/** Whether the provider has done what it was asked, or has refused it. */
	readonly isAnswered?: boolean
	readonly failures?: { readonly tries: number; readonly givenUp: number }
}

/** A record of Remit on its way. */
interface Outgoing {
	readonly shown: Shown
	readonly link: Link | undefined
	readonly output: Output
}

/** Drafts are nobody's business yet. */
const isDraft = ({ kind }: Session['plan'], { status }: Shown) => kind === 'invoice' && status === 'draft'

export async function push(session: Session, way: Way, shown: Shown, link: Link | undefined): Promise<Pushed> {
	if (isDraft(session.plan, shown) && link?.externalId == null) return { outcome: 'skipped' }
	const { output, errors } = await mapLinked(session.db, { ...session.plan.scope, isOutbound: true }, way.fields, shown)
	if (!output) return { outcome: fail(session, shown, withValues(errors, way.fields, shown)) }
	const decision = link ? decisionOf(session.plan, link) : null
	const isDone = decision === null || decision === 'applied'
	if (link && link.pushedHash === hashOf(output) && !link.pending && isDone) return { outcome: 'unchanged' }
	const outgoing = { shown, link, output }
	try {
		if (link && !link.pending && (await isHeld(session, link)))
			return {
				outcome: failedBy(
					session,
					shown,
					'held',
					`The provider's record ${link.heldBy ?? link.externalId} matches it, and is not written to it yet.`,
				),
			}
		const pushed = await (link?.externalId == null
			? pushFirst(session, way, outgoing)
			: pushLinked(session, way, outgoing, link, link.externalId))
		return { ...pushed, isAnswered: true }
	} catch (error) {
		if (error instanceof CannotDo) return { outcome: fail(session, shown, rejection(error)) }
		if (!(error instanceof ProviderFailed)) throw error
		if (error.kind === 'rejected') return { outcome: fail(session, shown, rejection(error)), isAnswered: true }
		return giveUp(session, shown, error)
	}
}

const rejection = ({ message }: Error) => [{ field: '', code: 'provider_rejected', reason: message }]

/** A record that the provider fails with again and again does not keep the others from going out. */
function giveUp(session: Session, shown: Shown, error: ProviderFailed): Pushed {
	const { tries, givenUp = 0 } = session.checkpoint
	const isTransient = error.kind === 'retry' || error.kind === 'unclear'
	if (!isTransient || tries + 1 < mostTries || givenUp >= mostGivenUp) throw error
	const outcome = fail(session, shown, [{ field: '', code: 'provider_failed', reason: error.message }])
	// The next record is tried twice, unless the provider does something in between.
	return { outcome, failures: { tries: mostTries - 2, givenUp: givenUp + 1 } }
}

function fail({ plan }: Session, { id }: Shown, failed: readonly RecordFailure[]): Outcome {
	if (plan.sync.errorPolicy === 'stop') throw new RecordFailed(`The record ${id} could not be written: ${failed[0]?.reason}`)
	return { failed }
}

const failedBy = (session: Session, shown: Shown, code: string, reason: string) =>
	fail(session, shown, [{ field: '', code, reason }])

const conflict = (session: Session, shown: Shown, externalId: string): Pushed => ({
	externalId,
	outcome: failedBy(session, shown, 'conflict', 'The record has changed on both sides.'),
})

/** Creates a record, unless the provider has it. */
async function pushFirst(session: Session, way: Way, outgoing: Outgoing): Promise<Pushed> {
	const { shown, link, output } = outgoing
	const found = await findThere(session, way, output, link?.pending)
	if (found === 'skipped') return { outcome: 'skipped' }
	if (found && 'code' in found) return { outcome: fail(session, shown, [{ field: '', ...found }]) }
	if (found && !found.isOwn) return pushMatched(session, way, outgoing, found.record)
	if (found && isAlike(way.fields, output, found.record.data))
		return { outcome: 'created', store: await stored(session, way, outgoing, found.record) }
	const written = await write(session, way, outgoing, found?.record.id ?? null)
	const taken = await linkedAlready(session, written.id, shown.id)
	if (!taken) return { outcome: 'created', store: await stored(session, way, { ...outgoing, link: 'stored' }, written) }
	return {
		outcome: failedBy(session, shown, taken.code, taken.reason),
		store: ({ db }) => changeLink(db, session.plan.scope, shown.id, { pending: null }, session.job.now),
	}
}

/** Links a record with one of the provider that it matches: both sides count as changed, and a pull has still to look at it. */
async function pushMatched(session: Session, way: Way, outgoing: Outgoing, record: ExternalRecord): Promise<Pushed> {
	const { plan, calls } = session
	const { shown, output } = outgoing
	const { conflictPolicy } = plan.sync
	const whole = withoutEmpty(output) as Output
	const said = way.fields.filter((field) => valueAt(field, whole) !== null)
	if (isAlike(said, output, record.data))
		return { outcome: 'unchanged', store: await stored(session, way, outgoing, record, false) }
	if (conflictPolicy === 'manual') return conflict(session, shown, record.id)
	const externalAt = record.changedAt
	const isOurs = plan.pull
		? winner(conflictPolicy, externalAt, shown.updatedAt) === 'target'
		: winner(conflictPolicy, shown.updatedAt, externalAt ?? 0) === 'source'
	if (!isOurs) return { outcome: 'skipped', store: await stored(session, way, outgoing, record, false) }
	// An update can be repeated, and leaves no trace before it.
	const fields = readsOf(plan, way)
	const written = await writeRecord(calls, plan.scope, {
		externalId: record.id,
		data: whole,
		idempotencyKey: randomUUID(),
		fields,
	})
	return { outcome: 'updated', store: await stored(session, way, outgoing, written, false) }
}

/** What is empty in Remit takes nothing away from a record that is linked for the first time. */
function withoutEmpty(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(withoutEmpty)
	if (!(value instanceof Object)) return value
	return Object.fromEntries(
		Object.entries(value).flatMap(([name, one]) => (one === null || one === '' ? [] : [[name, withoutEmpty(one)]])),
	)
}

async function pushLinked(session: Session, way: Way, outgoing: Outgoing, link: Link, externalId: string): Promise<Pushed> {
	const { plan } = session
	const decision = decisionOf(plan, link)
	const current = link.pending ? undefined : await readBefore(session, way, link, externalId)
	if (decision === 'policy' && current) return pushMatched(session, way, outgoing, current)
	if (decision === 'provider') {
		const values = { pushedHash: hashOf(outgoing.output), ...(current && { remoteHash: remoteHashOf(way, current) }) }
		return { outcome: 'skipped', store: ({ db }) => changeLink(db, plan.scope, link.recordId, values, session.job.now) }
	}
	if (current && link.remoteHash === null && isAlike(way.fields, outgoing.output, current.data))
		return { outcome: 'unchanged', store: await stored(session, way, outgoing, current) }
	if (
		current &&
		decision !== 'remit' &&
		link.remoteHash !== null &&
		isTaken(session, way, current, link.remoteHash, outgoing.shown)
	) {
		if (plan.sync.conflictPolicy === 'manual') return conflict(session, outgoing.shown, externalId)
		const pushedHash = hashOf(outgoing.output)
		return { outcome: 'skipped', store: ({ db }) => changeLink(db, plan.scope, link.recordId, { pushedHash }, session.job.now) }
	}
	const written = await write(session, way, outgoing, externalId)
	return { outcome: 'updated', store: await stored(session, way, outgoing, written) }
}

/** The provider's record, where it matters what it is before it is written. */
async function readBefore(session: Session, way: Way, link: Link, externalId: string) {
	const { remoteHash } = link
	const { plan, capabilities, calls } = session
	// A bidirectional sync has just read the provider, and has decided.
	if (plan.pull || !capabilities.readsOne) return undefined
	const isDecided = decisionOf(plan, link) !== null
	if (remoteHash !== null && !isDecided && plan.sync.conflictPolicy === 'source_wins') return undefined
	return readRecord(calls, plan.scope, externalId, readsOf(plan, way))
}

/** Whether the provider's record has changed since it was last written, and wins. */
function isTaken({ plan }: Session, way: Way, current: ExternalRecord, remoteHash: string, shown: Shown): boolean {
	// Remit is the source here.
	return (
		remoteHashOf(way, current) !== remoteHash &&
		winner(plan.sync.conflictPolicy, shown.updatedAt, current.changedAt ?? 0) !== 'source'
	)
}

/** The link says before the call what is about to be written: an answer that is lost leaves a trace, and only such a one. */
async function write(session: Session, way: Way, { shown, link, output }: Outgoing, externalId: string | null) {
	const { plan, job, calls } = session
	const idempotencyKey = randomUUID()
	const values = { pending: { idempotencyKey, data: output, since: job.now }, ...(externalId !== null && { externalId }) }
	await session.commit(
		({ db }) =>
			link ? changeLink(db, plan.scope, shown.id, values, job.now) : insertLink(db, plan.scope, shown.id, values, job.now),
		{},
	)
	try {
		const fields = readsOf(plan, way)
		return await writeRecord(calls, plan.scope, { externalId, data: output, idempotencyKey, fields })
	} catch (error) {
		if (error instanceof CannotDo || (error instanceof ProviderFailed && error.kind !== 'unclear'))
			await session.commit(({ db }) => changeLink(db, plan.scope, shown.id, { pending: null }, job.now), {})
		throw error
	}
}

/** `isInStep`: both sides have the same now. */
async function stored(
	session: Session,
	way: Way,
	{ shown, link, output }: Omit<Outgoing, 'link'> & { readonly link: Link | 'stored' | undefined },
	record: ExternalRecord,
	isInStep = true,
) {
	const { plan, job } = session
	const { pull, scope } = plan
	const seen = pull && (await mapLinked(session.db, { ...scope, isOutbound: false }, pull.fields, record.data)).output
	const lastSeen = plan.sync.keepSeen ? JSON.stringify(record.data) : undefined
	const values = {
		externalId: record.id,
		pushedHash: hashOf(output),
		remoteHash: remoteHashOf(way, record),
		pending: null,
		...(pull && isInStep && { internalHash: hashOf(pull.writes.map((name) => shown[name] ?? null)) }),
		...(seen && isInStep && { externalHash: hashOf(seen) }),
		...(lastSeen !== undefined && { lastSeen, lastSeenAt: job.now }),
	}
	return ({ db, origin }: Writing) => {
		if (origin.meter) origin.meter.bytes += lastSeen?.length ?? 0
		return link ? changeLink(db, scope, shown.id, values, job.now) : insertLink(db, scope, shown.id, values, job.now)
	}
}

/** The hash of what the provider has in the fields that the mapping writes. */
const remoteHashOf = ({ fields }: Way, { data }: ExternalRecord): string => hashOf(fields.map((field) => valueAt(field, data)))
