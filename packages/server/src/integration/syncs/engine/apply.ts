// Writes a provider's record to Remit: decides what becomes of it, by its link, its match and the sync's policies.

import type { Sync } from '../../../generated/contract.ts'
import { ApiError } from '../../../platform/base/errors.ts'
import type { Transaction } from '../../../platform/db/database.ts'
import type { Shown } from '../../../platform/db/record-door.ts'
import type { WriteContext } from '../../../platform/db/write-context.ts'
import type { ExternalRecord } from '../../connections/records/records.ts'
import { isAsWritten } from '../../mappings/engine/as-written.ts'
import { type FieldError, mapRecord } from '../../mappings/engine/engine.ts'
import type { Links } from '../../mappings/engine/transforms.ts'
import { hashOf, hashOfFields } from '../../mappings/hashes.ts'
import { findByRecordIds, type Link } from '../../mappings/link-store.ts'
import { inputOf, matching, type Output, rejected, requireWhole, violations } from '../../mappings/outputs.ts'
import { differing, overruledOf, split, stillOverruled } from '../../mappings/overruled.ts'
import { forgetDecisions, resolveErrors } from '../error-store.ts'
import { done } from '../records/decision-store.ts'
import { changeLink, findPendingIds, insertLink, removeLink, unknown } from '../records/link-store.ts'
import type { Plan, Way } from '../run/session.ts'
import { asShown, decidedWinner, decisionAfter, decisionOf, inboundSight, isIn, type Sight, versionOf } from './decided.ts'
import { baseOf, conflictError, type Sides, sidesOf } from './offending.ts'
import { type MappedBefore, mapBefore, sentBy, standingOf } from './remapped.ts'

/** What became of a record. */
export type Outcome =
	| 'created'
	| 'updated'
	| 'unchanged'
	| 'skipped'
	/** `recordId`: the one of Remit that it would have been written to, where that is known. */
	| { readonly failed: readonly FieldError[]; readonly recordId?: string }

/** A record of the provider, mapped. */
export interface Incoming {
	readonly record: ExternalRecord
	/** Undefined when it cannot be written. */
	readonly input: Output | undefined
	/** As it was mapped. */
	readonly output: Output
	readonly hash: string
	readonly errors: readonly FieldError[]
	/** As the mapping before made it. */
	readonly before?: MappedBefore | undefined
	/** What is kept of it, as JSON text; null when nothing is. */
	readonly seen: string | null
}

/** Maps a record; asks no database. */
export function prepare({ kind, sync }: Plan, way: Way, record: ExternalRecord, links: Links): Incoming {
	const nothing = { record, input: undefined, output: {}, hash: '', errors: [], seen: null }
	if (record.isDeleted) return nothing
	const failed = (errors: readonly FieldError[]): Incoming => ({ ...nothing, errors })
	if (record.problem !== undefined) return failed([{ field: '', ...record.problem }])
	const { output, errors } = mapRecord(way.fields, record.data, links)
	if (!output) return failed(errors)
	const wrong = violations(kind, output)
	if (wrong.length > 0) return failed([...errors, ...wrong])
	try {
		const seen = sync.keepSeen ? JSON.stringify(record.data) : null
		const before = mapBefore(kind, way, record, links)
		return { record, input: inputOf(kind, output), output, hash: hashOf(output), errors, before, seen }
	} catch (error) {
		if (!(error instanceof ApiError)) throw error
		return failed([...errors, ...rejected(error)])
	}
}

const failedBy = (code: string, reason: string, more: Partial<FieldError> = {}) => ({
	failed: [{ field: '', code, reason, ...more }],
})

/** Writes a record, unless it is as it was. Throws the ApiError with which the record would be rejected. */
export async function apply(
	write: WriteContext & { readonly db: Transaction },
	plan: Plan,
	way: Way,
	incoming: Incoming,
	known: Link | undefined,
	/** The record that it was linked with until both were deleted. */
	ended?: string,
): Promise<Outcome> {
	const { input, hash, errors } = incoming
	if (!input) return { failed: errors }
	const link = known && (await withoutVoid(write, plan, way, incoming, known))
	if (link?.externalHash === hash && isIn(plan, link)) return 'unchanged'
	if (link) return applyLinked(write, plan, way, { ...incoming, input }, link)
	const match = await matchOf(write, plan, way, input)
	if (match && 'link' in match) return applyLinked(write, plan, way, { ...incoming, input }, match.link, match)
	const past = ended === undefined ? undefined : await pastLink(write, plan, ended)
	if (past) return applyLinked(write, plan, way, { ...incoming, input }, past.link, { ...past, returns: true })
	if (match) return match.outcome
	const twin = await findTwin(write, plan, incoming)
	if (twin) return applyLinked(write, plan, way, { ...incoming, input }, twin)
	return createRecord(write, plan, way, { ...incoming, input })
}

/** The link without a decision that was made about other records. */
async function withoutVoid(
	write: WriteContext & { readonly db: Transaction },
	plan: Plan,
	way: Way,
	incoming: Incoming,
	link: Link,
): Promise<Link> {
	if (decidedWinner(plan, link) === undefined) return link
	const live = await plan.door.lock(write, link.recordId)
	return asShown(write, plan, link, inboundSight(way, incoming, live?.shown))
}

const blankLink = (recordId: string): Link => ({
	recordId,
	externalId: null,
	externalHash: null,
	internalHash: null,
	pushedHash: null,
	remoteHash: null,
	pending: null,
	overruled: null,
	heldBy: null,
	heldRunId: null,
	decision: null,
	decidedFor: null,
	seenRunId: null,
})

/** A record of Remit that a record of the provider without a link is about. */
interface Match {
	readonly link: Link
	readonly isNew: boolean
}

/** Of several records that match, so many are named. */
const mostCandidates = 10

/** The record that the mapping's match finds, or what becomes of the provider's one since that cannot be it. */
async function matchOf(
	{ db, organization }: WriteContext,
	{ kind, scope }: Plan,
	{ definition: { match } }: Way,
	input: Output,
): Promise<Match | { readonly outcome: Outcome } | undefined> {
	const [id, second] = await matching(db, organization.id, kind, input, match)
	if (id === undefined) return undefined
	if (second !== undefined && match?.onMultiple !== 'first') {
		if (match?.onMultiple === 'skip') return { outcome: 'skipped' }
		const candidates = await matching(db, organization.id, kind, input, match, mostCandidates)
		return { outcome: failedBy('several_matches', 'Several records match it.', { candidates }) }
	}
	const other = (await findByRecordIds(db, scope, [id])).get(id)
	if (other?.externalId == null) return { link: other ?? blankLink(id), isNew: other === undefined }
	const reason = `The record ${id}, which it matches, is linked with ${other.externalId}.`
	return { outcome: failedBy('linked_already', reason) }
}

/** The record with which one was linked that returns; undefined when it is linked with another one by now. */
async function pastLink({ db }: WriteContext, { scope }: Plan, recordId: string): Promise<Match | undefined> {
	const link = (await findByRecordIds(db, scope, [recordId])).get(recordId)
	return link?.externalId == null ? { link: link ?? blankLink(recordId), isNew: link === undefined } : undefined
}

/** The only record that the mapping's match finds, which is free: made anew in place of one that was deleted here. */
async function findAnew(
	{ db, organization }: WriteContext,
	{ kind, scope }: Plan,
	way: Way,
	output: Output,
): Promise<Match | undefined> {
	const [id, second] = await matching(db, organization.id, kind, output, way.definition.match)
	if (id === undefined || second !== undefined) return undefined
	const link = (await findByRecordIds(db, scope, [id])).get(id)
	if (link && (link.externalId !== null || link.pending)) return undefined
	return { link: link ?? blankLink(id), isNew: link === undefined }
}

/** Gives the link of a record that was deleted here to the one that was made anew, as if it were linked for the first time; undefined where there is none. */
export async function passOn(
	write: WriteContext,
	plan: Plan,
	way: Way,
	output: Output,
	{ recordId, externalId }: Link,
	decision: Pick<Link, 'decision' | 'decidedFor'>,
): Promise<Link | undefined> {
	const anew = await findAnew(write, plan, way, output)
	if (!anew) return undefined
	const { db, origin } = write
	const { organizationId } = plan.scope
	const syncId = plan.sync.id
	const values = { ...unknown, externalId, pending: null, goneRunId: null, ...decision }
	await removeLink(db, plan.scope, recordId)
	await (anew.isNew ? insertLink : changeLink)(db, plan.scope, anew.link.recordId, values, origin.now)
	// Whoever decided has not seen the new one.
	await forgetDecisions(db, { organizationId, syncId, externalId, recordId })
	await resolveErrors(db, { organizationId, syncId, direction: 'outbound' }, [recordId], origin.now)
	return { ...anew.link, ...values }
}

/** What a sync has created at the provider without an answer, and now comes back: a new record of Remit would be a second one. */
async function findTwin({ db }: WriteContext, { scope }: Plan, { record }: Incoming): Promise<Link | undefined> {
	const ids = await findPendingIds(db, scope, '', mostPending)
	if (ids.length === 0) return undefined
	const links = await findByRecordIds(db, scope, ids)
	return [...links.values()].find(({ pending }) => pending && isAsWritten(pending.data, record.data))
}

const mostPending = 100

type Writable = Incoming & { readonly input: Output }

async function createRecord(write: WriteContext, plan: Plan, way: Way, incoming: Writable): Promise<Outcome> {
	const { input } = incoming
	requireWhole(plan.kind, input)
	const created = await plan.door.create(write, input)
	const values = await linkValues(write, plan, way, incoming, created)
	await insertLink(write.db, plan.scope, created.id, values, write.origin.now)
	return 'created'
}

/** Writes a record of which there is one in Remit. */
async function applyLinked(
	write: WriteContext,
	plan: Plan,
	way: Way,
	incoming: Writable,
	link: Link,
	{ isNew = false, returns = false }: { readonly isNew?: boolean; readonly returns?: boolean } = {},
): Promise<Outcome> {
	const { scope, kind, door } = plan
	const { now } = write.origin
	const live = await door.lock(write, link.recordId)
	if (!live && !returns) {
		const anew = await passOn(write, plan, way, incoming.input, link, done)
		if (anew) return applyLinked(write, plan, way, incoming, anew)
		const wins = decidedWinner(plan, link) ?? winner(plan.sync.conflictPolicy)
		if (wins === 'nobody') {
			const sides = { provider: incoming.output, remit: undefined, base: await baseOf(write.db, scope, way, link.externalId) }
			const sight = inboundSight(way, incoming, undefined)
			return conflict(link, 'was deleted here, and has changed at the provider', sidesOf(way.writes, sides), sight)
		}
		if (wins === 'target') return leaveDeleted(write, plan, incoming, link)
	}
	const locked = live ?? (await door.restore?.(write, link.recordId))
	if (!locked) {
		await removeLink(write.db, scope, link.recordId)
		return createRecord(write, plan, way, incoming)
	}
	const { record, input, output } = incoming
	const decided = decidedWinner(plan, link)
	const overruled = decided ? null : stillOverruled(link.overruled, output)
	const [past, said] = split(input, overruled)
	const { meant, hasMoved, base } = decided
		? { meant: said, hasMoved: true }
		: standingOf(kind, way, said, incoming.before, link, locked.shown)
	const isInStep = differing(meant, locked.shown).length === 0
	let shown = locked.shown
	let outcome: Outcome = 'unchanged'
	if (!isInStep) {
		const wins = decided ?? (live && hasMoved ? winner(plan.sync.conflictPolicy, record.changedAt, shown.updatedAt) : 'source')
		if (wins === 'nobody') {
			const sides = { provider: input, remit: shown, base: await baseOf(write.db, scope, way, link.externalId) }
			const sight = inboundSight(way, incoming, shown)
			return conflict(link, 'has changed on both sides', sidesOf(differing(meant, shown), sides), sight)
		}
		outcome = 'skipped'
		if (wins === 'source') {
			shown = await locked.change(meant)
			outcome = shown.updatedAt === locked.shown.updatedAt && hashOf(shown) === hashOf(locked.shown) ? 'unchanged' : 'updated'
		}
	}
	const values = {
		...(await linkValues(write, plan, way, incoming, shown, outcome === 'skipped' || base !== undefined)),
		// What was changed here alone is still to be told from what is in step.
		...(base && outcome !== 'skipped' && { internalHash: hashOfFields({ ...shown, ...base }, way.writes) }),
		...decisionAfter(plan, link, outcome === 'skipped'),
		overruled: overruledOf(output, differing(outcome === 'skipped' ? input : past, shown)),
	}
	if (isNew) await insertLink(write.db, scope, link.recordId, values, now)
	else await changeLink(write.db, scope, link.recordId, values, now)
	return live ? outcome : 'created'
}

const conflict = ({ recordId }: Link, how: string, sides: readonly Sides[], sight: Sight): Outcome => ({
	failed: [conflictError(`The record ${recordId} ${how}.`, sides, versionOf(sight))],
	recordId,
})

/** A record that was deleted in Remit stays so. Where a caller has decided it, that is done once and for all, and goes out. */
async function leaveDeleted(write: WriteContext, plan: Plan, { hash, seen }: Writable, link: Link): Promise<Outcome> {
	const { now } = write.origin
	const values = { externalHash: hash, ...seenOf(write, seen), ...(!plan.push && done) }
	if (decisionOf(plan, link) !== null) await changeLink(write.db, plan.scope, link.recordId, values, now)
	return 'skipped'
}

/** Both sides are as they are now. One that was left alone is still to go out. */
async function linkValues(
	write: WriteContext,
	{ push, scope }: Plan,
	way: Way,
	{ record, hash, seen }: Incoming,
	shown: Shown,
	isLeftAlone = false,
) {
	const pushed = push && !isLeftAlone && (await sentBy(write.db, scope, push, record, shown))
	return {
		externalId: record.id,
		externalHash: hash,
		internalHash: hashOfFields(shown, way.writes),
		...(pushed && { pushedHash: hashOf(pushed) }),
		...seenOf(write, seen),
	}
}

/** What is kept of the provider's record. */
function seenOf({ origin }: WriteContext, seen: string | null) {
	if (seen === null) return undefined
	if (origin.meter) origin.meter.bytes += Buffer.byteLength(seen)
	return { lastSeen: seen, lastSeenAt: origin.now }
}

/** Who wins when both sides have changed. */
export function winner(
	policy: Sync['conflictPolicy'],
	externalAt: number | null = null,
	internalAt = 0,
): 'source' | 'target' | 'nobody' {
	if (policy === 'manual') return 'nobody'
	if (policy === 'newest_wins') return externalAt === null || externalAt >= internalAt ? 'source' : 'target'
	return policy === 'source_wins' ? 'source' : 'target'
}
