// Brings one record of Remit to the provider, and says what became of it.
import { randomUUID } from 'node:crypto'
import type { RecordFailure } from '../../../generated/contract.ts'
import type { Transaction } from '../../../platform/db/database.ts'
import type { Shown } from '../../../platform/db/record-door.ts'
import type { WriteContext } from '../../../platform/db/write-context.ts'
import { CannotDo, type ExternalRecord, ProviderFailed, readRecord, writeRecord } from '../../connections/records/records.ts'
import { isAsWritten } from '../../mappings/engine/as-written.ts'
import { hashOf } from '../../mappings/hashes.ts'
import { findByExternalIds, type Link } from '../../mappings/link-store.ts'
import { mapLinked } from '../../mappings/links.ts'
import type { Output } from '../../mappings/outputs.ts'
import { stillOverruled } from '../../mappings/overruled.ts'
import { findOpenReasons } from '../error-store.ts'
import { changeLink, insertLink, unlinked } from '../records/link-store.ts'
import type { Session, Way } from '../run/session.ts'
import { type Outcome, winner } from './apply.ts'
import { mostTries } from './break-off.ts'
import { asShownNow, decisionOf, goneThere, inboundSight, isOfGone, type Sight, versionOf } from './decided.ts'
import { type Found, findThere, isAlike, linkedAlready, readsOf, valueAt } from './first-link.ts'
import { isAtProvider, isHeld, isLeftBehind, isPassedOn } from './holds.ts'
import { conflictError, goneReason, lastSeenOf, type Sides, withValues } from './offending.ts'
import { bringIn, RecordFailed } from './pull.ts'
import { meetsOther, newsOf, saidIn } from './remapped.ts'

/** Records in a row with each of which the provider fails; with the next one it is down, and not they are at fault. */
const mostGivenUp = 3

export type Writing = WriteContext & { readonly db: Transaction }

export interface Pushed {
	readonly outcome: Outcome
	/** Of a record that failed and has no link: the provider's one that it is about. */
	readonly externalId?: string
	/** Writes what is known of the provider's record now. */
	readonly store?: (write: Writing) => Promise<unknown>
	/** Whether it waits for a record of the provider that could not be brought in. */
	readonly isHeld?: boolean
	/** What became of the provider's record, where that was brought in first: the record itself has still to be looked at. */
	readonly brought?: Outcome
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
		// The error of the record that holds it says why.
		if (link && !link.pending && (await isHeld(session, link))) return { outcome: 'skipped', isHeld: true }
		const pushed = await (link?.externalId == null
			? pushFirst(session, way, outgoing)
			: pushLinked(session, way, outgoing, link, link.externalId))
		return { ...pushed, isAnswered: true }
	} catch (error) {
		if (error instanceof CannotDo) return { outcome: fail(session, shown, rejection(error)) }
		if (!(error instanceof ProviderFailed)) throw error
		if (isRejected(error)) return { outcome: fail(session, shown, rejection(error)), isAnswered: true }
		return giveUp(session, shown, error)
	}
}

const isRejected = (error: unknown): error is ProviderFailed => error instanceof ProviderFailed && error.kind === 'rejected'

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

/** What both sides are. */
async function sightOf({ db, plan }: Session, way: Way, { shown, output }: Outgoing, current: ExternalRecord): Promise<Sight> {
	const { pull, scope } = plan
	if (!pull) return { provider: remoteHashOf(way, current), remit: hashOf(output) }
	// Whatever is decided is done when it comes in.
	const mapped = await mapLinked(db, { ...scope, isOutbound: false }, pull.fields, current.data)
	return inboundSight(pull, { hash: hashOf(mapped.output), record: current }, shown)
}

/** `current`: what the provider has; undefined where it was deleted there. */
async function conflict(
	session: Session,
	way: Way,
	outgoing: Outgoing,
	externalId: string,
	current: ExternalRecord | undefined,
): Promise<Pushed> {
	const { shown, output } = outgoing
	const seen = await lastSeenOf(session.db, session.plan.scope, externalId)
	const sides = way.fields.flatMap((field): Sides[] => {
		const remit = valueAt(field, output)
		const before = seen && valueAt(field, seen)
		const provider = current && valueAt(field, current.data)
		if (isAsWritten(remit, current ? provider : before)) return []
		return [{ field: field.spec.target, provider, remit, ...(seen && { base: before }) }]
	})
	const reason = current ? 'The record has changed on both sides.' : goneReason(shown, externalId)
	const sight = current ? await sightOf(session, way, outgoing, current) : goneThere(shown)
	return { externalId, outcome: fail(session, shown, [conflictError(reason, sides, versionOf(sight))]) }
}

/** Creates a record, unless the provider has it. */
async function pushFirst(session: Session, way: Way, outgoing: Outgoing): Promise<Pushed> {
	const { shown, link, output } = outgoing
	const found = await findThere(session, way, output, link?.pending)
	if (found === 'skipped') return { outcome: 'skipped' }
	if (found && 'code' in found) return { outcome: fail(session, shown, [{ field: '', ...found }]) }
	if (found && 'taken' in found) return pushTaken(session, way, outgoing, found)
	if (found && !found.isOwn) return pushMatched(session, way, outgoing, found.record)
	if (found && isAlike(way.fields, output, found.record.data))
		return { outcome: 'created', store: await stored(session, way, outgoing, found.record) }
	const written = await write(session, way, outgoing, found?.record.id ?? null)
	const taken = await linkedAlready(session, written.id, shown.id)
	if (!taken) return { outcome: 'created', store: await stored(session, way, { ...outgoing, link: 'stored' }, written) }
	return {
		outcome: fail(session, shown, [{ field: '', ...taken }]),
		store: ({ db }) => changeLink(db, session.plan.scope, shown.id, { pending: null }, session.job.now),
	}
}

/** What matches a record of the provider that is linked with another one is an error, unless that one is gone, and this one was made anew. */
async function pushTaken(
	session: Session,
	way: Way,
	outgoing: Outgoing,
	{ taken, record }: Extract<Found, { taken: unknown }>,
): Promise<Pushed> {
	const { pull, scope } = session.plan
	const link = (await findByExternalIds(session.db, scope, [record.id])).get(record.id)
	if (link && !pull && (await isLeftBehind(session, link))) return pushMatched(session, way, outgoing, record)
	const isFree = link && (await isPassedOn(session, link, record.data))
	if (!pull || !isFree) return { outcome: fail(session, outgoing.shown, [{ field: '', ...taken }]) }
	return { outcome: 'skipped', brought: await bringIn(session, pull, record) }
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
	if (conflictPolicy === 'manual') return conflict(session, way, outgoing, record.id, record)
	const externalAt = record.changedAt
	if (!isOurs(plan, shown, externalAt)) return { outcome: 'skipped', store: await stored(session, way, outgoing, record, false) }
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

/** Whether Remit wins where both sides have changed, and somebody does. */
const isOurs = ({ pull, sync: { conflictPolicy } }: Session['plan'], { updatedAt }: Shown, externalAt: number | null) =>
	pull
		? winner(conflictPolicy, externalAt, updatedAt) === 'target'
		: winner(conflictPolicy, updatedAt, externalAt ?? 0) === 'source'

/** What is empty in Remit takes nothing away from a record that is linked for the first time. */
function withoutEmpty(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(withoutEmpty)
	if (!(value instanceof Object)) return value
	return Object.fromEntries(
		Object.entries(value).flatMap(([name, one]) => (one === null || one === '' ? [] : [[name, withoutEmpty(one)]])),
	)
}

async function pushLinked(session: Session, way: Way, outgoing: Outgoing, known: Link, externalId: string): Promise<Pushed> {
	const { plan } = session
	const current = known.pending ? undefined : await readBefore(session, way, outgoing, known, externalId)
	if (current === 'gone') return pushGone(session, way, outgoing, known, externalId)
	const link = plan.pull || known.pending ? known : await asShownThere(session, way, outgoing, known, current)
	if (link.externalId === null) return pushFirst(session, way, { ...outgoing, link })
	if (!current && link !== known && plan.sync.conflictPolicy === 'manual')
		return pushGone(session, way, outgoing, link, externalId)
	const decision = decisionOf(plan, link)
	const news = decision === null ? await newsOf(session.db, plan.scope, way, outgoing.shown, link) : undefined
	if (news?.length === 0) return inStep(session, way, outgoing, link, current)
	if (decision === 'policy' && current) return pushMatched(session, way, outgoing, current)
	if (decision === 'provider') return leftAlone(session, outgoing, current && { remoteHash: remoteHashOf(way, current) })
	if (current && link.remoteHash === null && isAlike(way.fields, outgoing.output, current.data))
		return { outcome: 'unchanged', store: await stored(session, way, outgoing, current) }
	if (current && decision !== 'remit' && link.remoteHash !== null && isTaken(session, way, current, link.remoteHash, outgoing)) {
		if (plan.sync.conflictPolicy === 'manual') return conflict(session, way, outgoing, externalId, current)
		// Both are as they are now: what changes here later goes out.
		return leftAlone(session, outgoing, { remoteHash: remoteHashOf(way, current) })
	}
	try {
		const fields = news ?? (decision === 'remit' ? way.fields : saidIn(way, outgoing.output))
		const { output } = await mapLinked(session.db, { ...plan.scope, isOutbound: true }, fields, outgoing.shown)
		const written = await write(session, way, { ...outgoing, output: output ?? outgoing.output }, externalId)
		return { outcome: 'updated', store: await stored(session, way, outgoing, written) }
	} catch (error) {
		if (!isRejected(error) || !session.capabilities.readsOne || (await isAtProvider(session, externalId))) throw error
		return pushGone(session, way, outgoing, link, externalId)
	}
}

/** Nothing has to be written, since the mapping says the same of the record as before. What has changed at the provider since stays a change. */
function inStep(
	session: Session,
	way: Way,
	{ shown, output }: Outgoing,
	link: Link,
	current: ExternalRecord | undefined,
): Pushed {
	const { plan, job } = session
	const isSeen = current && !hasChanged(way, current, link.remoteHash)
	const values = { pushedHash: hashOf(output), ...(isSeen && { remoteHash: remoteHashOf(way, current) }) }
	return { outcome: 'unchanged', store: ({ db }) => changeLink(db, plan.scope, shown.id, values, job.now) }
}

/** The link of a sync that only goes out, without a decision that was made about other records. */
async function asShownThere(
	session: Session,
	way: Way,
	outgoing: Outgoing,
	link: Link,
	current: ExternalRecord | undefined,
): Promise<Link> {
	if (current) return asShownNow(session, link, await sightOf(session, way, outgoing, current))
	if (session.capabilities.readsOne) return asShownNow(session, link, goneThere(outgoing.shown))
	// A look-up finds again what nobody can ask for.
	return asShownNow(session, link, { provider: undefined, remit: hashOf(outgoing.output) }, false)
}

/** What differs is not written, until the record changes again. */
const leftAlone = (
	{ plan, job }: Session,
	{ shown, output }: Outgoing,
	more: { readonly remoteHash?: string } | undefined = {},
): Pushed => ({
	outcome: 'skipped',
	store: ({ db }) => changeLink(db, plan.scope, shown.id, { pushedHash: hashOf(output), ...more }, job.now),
})

/** A record that was deleted at the provider, and has changed here, is created there anew where Remit wins. */
async function pushGone(session: Session, way: Way, outgoing: Outgoing, known: Link, externalId: string): Promise<Pushed> {
	const { plan, job } = session
	const { shown } = outgoing
	const link = await asShownNow(session, known, goneThere(shown))
	const decision = decisionOf(plan, link)
	if (decision === 'provider') return leftAlone(session, outgoing)
	if (decision !== 'remit') {
		if (plan.sync.conflictPolicy === 'manual') return conflict(session, way, outgoing, externalId, undefined)
		if (!isOurs(plan, shown, 0)) return leftAlone(session, outgoing)
	}
	await session.commit(({ db }) => changeLink(db, plan.scope, shown.id, unlinked, job.now), {})
	return pushFirst(session, way, { ...outgoing, link: { ...link, ...unlinked } })
}

/** The provider's record, where it matters what it is before it is written; `gone` where an open conflict says so, and a write would be in vain. */
async function readBefore(session: Session, way: Way, { shown }: Outgoing, link: Link, externalId: string) {
	const { remoteHash } = link
	const { plan, capabilities, calls, db } = session
	const { conflictPolicy, id: syncId } = plan.sync
	if (!capabilities.readsOne) return undefined
	if (conflictPolicy === 'manual') {
		const { organizationId } = plan.scope
		const errors = await findOpenReasons(db, { organizationId, syncId, direction: 'outbound', recordKey: shown.id })
		if (isOfGone(errors) && !(await isAtProvider(session, externalId))) return 'gone'
	}
	// A bidirectional sync has just read the provider, and has decided.
	if (plan.pull) return undefined
	const isDecided = decisionOf(plan, link) !== null
	if (remoteHash !== null && !isDecided && conflictPolicy === 'source_wins') return undefined
	return readRecord(calls, plan.scope, externalId, readsOf(plan, way))
}

/** Whether the provider's record has changed since it was last written, and wins. */
function isTaken({ plan }: Session, way: Way, current: ExternalRecord, remoteHash: string, { shown, output }: Outgoing): boolean {
	// Remit is the source here.
	return (
		(hasChanged(way, current, remoteHash) || meetsOther(way, output, current)) &&
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
		...(seen &&
			isInStep && {
				externalHash: hashOf(seen),
				overruled: typeof link === 'object' ? stillOverruled(link.overruled, seen) : null,
			}),
		...(lastSeen !== undefined && { lastSeen, lastSeenAt: job.now }),
	}
	return ({ db, origin }: Writing) => {
		if (origin.meter) origin.meter.bytes += Buffer.byteLength(lastSeen ?? '')
		return link ? changeLink(db, scope, shown.id, values, job.now) : insertLink(db, scope, shown.id, values, job.now)
	}
}

/** By the mapping, and by the one before. */
const hasChanged = (way: Way, current: ExternalRecord, remoteHash: string | null): boolean =>
	remoteHashOf(way, current) !== remoteHash && (!way.before || remoteHashOf(way.before, current) !== remoteHash)

/** The hash of what the provider has in the fields that the mapping writes. */
const remoteHashOf = ({ fields }: Pick<Way, 'fields'>, { data }: ExternalRecord): string =>
	hashOf(fields.map((field) => valueAt(field, data)))
