// Records of Remit that a record of the provider matches which could not be written to them. Such a record is not created at the provider,
// where it would be a second one, and is not deleted when the record is gone that it was linked with.

import type { Transaction } from '../../../platform/db/database.ts'
import type { WriteContext } from '../../../platform/db/write-context.ts'
import { readRecord } from '../../connections/records/records.ts'
import { mapRecord } from '../../mappings/engine/engine.ts'
import { findByExternalIds, findByRecordIds, type Link } from '../../mappings/link-store.ts'
import { matching, type Output } from '../../mappings/outputs.ts'
import { forgetDecisions, resolveErrors } from '../error-store.ts'
import { done } from '../records/decision-store.ts'
import { changeLink, insertLink, releaseHeld, removeLink, unknown } from '../records/link-store.ts'
import type { Session, Way } from '../run/session.ts'
import { type Incoming, type Outcome, passOn } from './apply.ts'
import { decisionOf } from './decided.ts'

type Write = WriteContext & { readonly db: Transaction }

/** Of several records that match; more than so many are no record of anybody's. */
const mostHeld = 100

/** The records of Remit that a record of the provider is about, whatever else is wrong with it. */
export async function matchedBy(
	{ db, organization }: WriteContext,
	{ plan }: Session,
	way: Way,
	{ record }: Incoming,
): Promise<string[]> {
	// What has no id is another record whenever it changes: nobody could let go of what it holds.
	const output = record.problem?.code === 'invalid_id' ? undefined : keysOf(way, record.data)
	return output ? matching(db, organization.id, plan.kind, output, way.definition.match, mostHeld) : []
}

/** What a record of the provider has by which it is matched; undefined where nobody can tell. */
function keysOf({ fields, definition: { match } }: Way, data: Output): Output | undefined {
	const keys = fields.filter(({ spec }) => match?.keys.includes(spec.target))
	return (keys.length > 0 && mapRecord(keys, data).output) || undefined
}

/** Whether what a run holds matters to a later part of it, or to a later run. */
export const holdsAny = ({ plan }: Session): boolean => plan.push !== undefined || plan.sync.deletePolicy === 'delete'

/** Notes which records a record of the provider holds that was not written. */
export async function hold(
	{ plan, run }: Session,
	{ db, origin }: Write,
	externalId: string,
	{ outcome, link, ids }: { readonly outcome: Outcome; readonly link: Link | undefined; readonly ids: readonly string[] },
): Promise<void> {
	const isConflict = typeof outcome === 'object' && outcome.failed.some(({ code }) => code === 'conflict')
	// What its own record cannot say for another reason keeps no change of Remit back.
	if (link && !isConflict) return
	const links = await findByRecordIds(db, plan.scope, ids)
	const values = { heldBy: externalId, heldRunId: run.id }
	for (const id of ids) {
		const found = links.get(id)
		const isOwn = found?.externalId === externalId
		if (isOwn && !isConflict) continue
		if (!isOwn && found?.externalId != null && found.heldBy === found.externalId) continue
		const again = found?.decision === 'applied' && done
		await (found ? changeLink : insertLink)(db, plan.scope, id, { ...values, ...again }, origin.now)
	}
}

/** Lets go of what these records of the provider hold. What waited for that goes out now. */
export const letGo = ({ plan }: Session, { db }: Write, externalIds: readonly string[]) =>
	releaseHeld(db, plan.scope, externalIds, plan.push && plan.sync.id)

/** Whether a record of Remit must not go out. */
export async function isHeld(session: Session, link: Link): Promise<boolean> {
	// Without a way in, nobody would let go of it.
	if (session.plan.pull === undefined) return false
	const decision = decisionOf(session.plan, link)
	// What a caller has decided comes in first.
	if (decision !== null) return decision === 'policy' || decision === 'provider'
	const { externalId, heldBy, heldRunId } = link
	if (heldBy === null) return false
	return externalId === heldBy || (externalId === null && (await stands(session, heldBy, heldRunId)))
}

/** Whether the provider still has the record that holds another one. */
async function stands(session: Session, heldBy: string, heldRunId: string | null): Promise<boolean> {
	const { run, checkpoint, capabilities } = session
	if (heldRunId === run.id) return true
	return capabilities.readsOne ? isAtProvider(session, heldBy) : !checkpoint.isFullPass
}

export async function isAtProvider({ calls, plan }: Session, externalId: string): Promise<boolean> {
	const found = await readRecord(calls, plan.scope, externalId, [])
	return found !== undefined && !found.isDeleted
}

/** Another record of the provider that matches the record of Remit whose own one is gone, as after a merge there. */
export async function findHeir(session: Session, { externalId, heldBy, heldRunId }: Link): Promise<string | undefined> {
	if (heldBy === null || heldBy === externalId) return undefined
	return (await stands(session, heldBy, heldRunId)) ? heldBy : undefined
}

/** Links a record with the heir of its own one; false when one of both is not free. The next run that reads the heir decides by the policy. */
export async function handOver({ plan, run }: Session, write: Write, link: Link, heir: string): Promise<boolean> {
	const { db, origin } = write
	const { scope, door } = plan
	if ((await findByExternalIds(db, scope, [heir])).size > 0 || !(await door.lock(write, link.recordId))) return false
	const marks = { seenRunId: run.id, goneRunId: null, heldBy: heir, heldRunId: run.id }
	await changeLink(db, scope, link.recordId, { externalId: heir, ...unknown, ...marks }, origin.now)
	const key = { organizationId: scope.organizationId, syncId: run.syncId, direction: 'inbound' as const }
	await resolveErrors(db, key, [link.externalId as string], origin.now)
	return true
}

/** Ends the link of a record that is gone here, of a sync that only goes out: another one matches that of the provider, which is not deleted then. False while the record is here. */
export const isLeftBehind = (session: Session, { recordId, externalId }: Link): Promise<boolean> =>
	session.commit(async (write) => {
		const { scope, door, sync } = session.plan
		const { db, origin } = write
		if (await door.lock(write, recordId)) return false
		const of = { organizationId: scope.organizationId, syncId: sync.id }
		await removeLink(db, scope, recordId)
		await forgetDecisions(db, { ...of, externalId, recordId })
		await resolveErrors(db, { ...of, direction: 'outbound' }, [recordId], origin.now)
		return true
	}, {})

/** Gives the link of a record that is gone here to one that was made anew, by what the provider has; false where there is none. The next run that reads the provider's record decides by the policy. */
export async function isPassedOn(session: Session, link: Link, data: Output): Promise<boolean> {
	const { plan, db } = session
	const { pull, sync, kind, door, organization } = plan
	const output = pull && keysOf(pull, data)
	if (!pull || !output || (await matching(db, organization.id, kind, output, pull.definition.match)).length !== 1) return false
	const decision = { decision: 'policy', decidedFor: sync.id } as const
	return session.commit(async (write) => {
		if (await door.lock(write, link.recordId)) return false
		return (await passOn(write, plan, pull, output, link, decision)) !== undefined
	}, {})
}
