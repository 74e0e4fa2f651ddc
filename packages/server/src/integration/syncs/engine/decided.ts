// What callers have decided of conflicts, and whether both records are still what the conflict showed.

import type { RecordFailure } from '../../../generated/contract.ts'
import type { Writing } from '../../../platform/db/audit-log.ts'
import type { Shown } from '../../../platform/db/record-door.ts'
import type { ExternalRecord } from '../../connections/records/records.ts'
import { hashOf, hashOfFields } from '../../mappings/hashes.ts'
import type { Decision, Link } from '../../mappings/link-store.ts'
import { findDecidedErrors, forgetDecisions } from '../error-store.ts'
import { done } from '../records/decision-store.ts'
import { changeLink, unlinked } from '../records/link-store.ts'
import type { Plan, Session, Way } from '../run/session.ts'

/** What a caller has decided of a link, for the syncs of its way. */
export const decisionOf = ({ sync }: Pick<Plan, 'sync'>, { decision, decidedFor }: Link): Decision | null =>
	decidedFor === sync.id ? decision : null

/** Whether nothing is left to bring in of what a caller has decided. */
export function isIn(plan: Plan, link: Link): boolean {
	const decision = decisionOf(plan, link)
	return decision === null || decision === 'applied'
}

/** The side that a caller has decided to use, of a record that comes in; undefined without a decision. */
export function decidedWinner(plan: Pick<Plan, 'sync'>, link: Link): 'source' | 'target' | undefined {
	const decision = decisionOf(plan, link)
	return decision === 'provider' ? 'source' : decision === 'remit' ? 'target' : undefined
}

/** What is left of a decision once the provider's record is in. Where Remit wins, and records go out, the provider gets what it has. */
export function decisionAfter(plan: Plan, link: Link, isLeftAlone: boolean) {
	const isDecided = decisionOf(plan, link) !== null
	if (!plan.push) return isDecided ? done : undefined
	if (isLeftAlone) return { decision: 'remit' as const, decidedFor: plan.sync.id }
	return isDecided ? { decision: 'applied' as const } : undefined
}

/** What both records are, as hashes: null of one that is gone, undefined of one that nobody can ask for. */
export interface Sight {
	readonly provider: string | null | undefined
	readonly remit: string | null
}

const none = '-'

/** What an error says of both records of a conflict. */
export const versionOf = ({ provider, remit }: Sight): string => `${provider ?? none}.${remit ?? none}`

/** Whether an open error is a conflict with a deletion at the provider. */
export const isOfGone = (reasons: readonly RecordFailure[]): boolean =>
	reasons.some(({ version }) => version?.startsWith(`${none}.`))

function isSeen(version: string | undefined, { provider, remit }: Sight): boolean {
	const [there, here] = version?.split('.') ?? []
	return here === (remit ?? none) && (provider === undefined || there === (provider ?? none))
}

/** Both records by what the mapping to Remit makes and writes: of one that may be deleted, any change counts. */
export function inboundSight(
	{ writes }: Way,
	provider: { readonly hash: string; readonly record: Pick<ExternalRecord, 'changedAt'> },
	shown: Shown | undefined,
): Sight {
	if (!shown) return { provider: hashOf([provider.hash, provider.record.changedAt]), remit: null }
	return { provider: provider.hash, remit: hashOfFields(shown, writes) }
}

/** A record of Remit whose other side is gone. */
export const goneThere = ({ updatedAt }: Shown): Sight => ({ provider: null, remit: hashOf(updatedAt) })

/**
 * The link, without a decision that was made about other records than there are now: what has changed since nobody was shown, and it would be
 * lost. It is then as if nobody had decided.
 */
export async function asShown(
	{ db, origin }: Writing,
	plan: Plan,
	link: Link,
	sight: Sight,
	/** Of a link that somebody decided to make, when both were never alike: whether it stays. */
	staysLinked = true,
): Promise<Link> {
	if (decidedWinner(plan, link) === undefined) return link
	const { organizationId } = plan.scope
	const of = { organizationId, syncId: plan.sync.id, externalId: link.externalId, recordId: link.recordId }
	// A run that lets Remit win decides as well, and has seen what it decides about.
	const errors = await findDecidedErrors(db, of)
	const versions = errors.map((reasons) => reasons.find(({ code }) => code === 'conflict')?.version)
	if (versions.every((version) => isSeen(version, sight))) return link
	await forgetDecisions(db, of)
	const values = voided(plan, link, staysLinked)
	await changeLink(db, plan.scope, link.recordId, values, origin.now)
	return { ...link, ...values }
}

function voided({ pull, sync }: Plan, { remoteHash }: Link, staysLinked: boolean) {
	if (pull || remoteHash !== null) return done
	// A record that goes out is not written over one that it was never alike.
	return staysLinked ? { decision: 'policy' as const, decidedFor: sync.id } : { ...unlinked, ...done }
}

/** The same outside of a transaction. */
export const asShownNow = async (session: Session, link: Link, sight: Sight, staysLinked = true): Promise<Link> =>
	decidedWinner(session.plan, link) === undefined
		? link
		: session.commit((write) => asShown(write, session.plan, link, sight, staysLinked), {})
