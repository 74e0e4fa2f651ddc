// Which record of the provider one of Remit is, before it has a link: one that an earlier write made, or one that matches.
import { CannotFind, type ExternalRecord, findRecords, ProviderFailed, writeRecord } from '../../connections/records/records.ts'
import { valueAt as namedIn } from '../../connections/values.ts'
import { isAsWritten } from '../../mappings/engine/as-written.ts'
import type { CompiledField } from '../../mappings/engine/engine.ts'
import { memberAt } from '../../mappings/engine/path.ts'
import { findByExternalIds, type Pending } from '../../mappings/link-store.ts'
import type { Output } from '../../mappings/outputs.ts'
import type { Session, Way } from '../run/session.ts'

type Taken = NonNullable<Awaited<ReturnType<typeof linkedAlready>>>

export type Found =
	/** `isOwn`: Remit's own write made it, and its answer was lost. */
	| { readonly record: ExternalRecord; readonly isOwn: boolean }
	| { readonly code: 'several_matches' | 'linked_already'; readonly reason: string; readonly candidates?: string[] }
	/** It matches one that is linked with another record of Remit. */
	| { readonly taken: Taken; readonly record: ExternalRecord }
	| 'skipped'

/** Undefined when the provider has no such record. */
export async function findThere(
	session: Session,
	way: Way,
	output: Output,
	pending: Pending | null | undefined,
): Promise<Found | undefined> {
	return (pending && (await settle(session, way, pending))) ?? findMatch(session, way, output)
}

/** The link of another record with one of the provider, as an error. */
export async function linkedAlready({ db, plan }: Session, externalId: string, recordId?: string) {
	const link = (await findByExternalIds(db, plan.scope, [externalId])).get(externalId)
	if (!link || link.recordId === recordId) return undefined
	const reason = `The provider's record ${externalId} is linked with ${link.recordId}.`
	return { code: 'linked_already', reason } as const
}

async function findMatch(session: Session, way: Way, output: Output): Promise<Found | undefined> {
	const records = await lookUp(session, way, output)
	const [record, second] = records ?? []
	if (!record) return undefined
	const onMultiple = way.definition.match?.onMultiple
	if (second && onMultiple === 'skip') return 'skipped'
	if (second && onMultiple !== 'first') {
		const candidates = (records ?? []).map(({ id }) => id)
		return { code: 'several_matches', reason: 'Several records match it.', candidates }
	}
	const taken = await linkedAlready(session, record.id)
	return taken ? { taken, record } : { record, isOwn: false }
}

/** Finds out what became of a creation whose answer was lost. */
async function settle(session: Session, way: Way, pending: Pending): Promise<Found | undefined> {
	const { plan, capabilities, job, db } = session
	const { data, since } = pending
	if (job.now < since + capabilities.idempotencyKeptMs) return repeat(session, way, pending)
	const visibleAt = since + capabilities.lookupLagMs
	if (capabilities.finds && job.now < visibleAt)
		throw new ProviderFailed('limit', 'timeout', 'A write whose answer was lost is looked up later.', {
			retryAfterMs: visibleAt - job.now,
		})
	const records = await lookUp(session, way, data)
	if (!records) throw cannotTell(plan.connection.provider)
	const ids = records.map(({ id }) => id)
	const links = await findByExternalIds(db, plan.scope, ids)
	const record = records.find(({ id, data: found }) => !links.has(id) && isAlike(way.fields, data, found))
	if (record) return { record, isOwn: true }
	// There may be more than a look-up tells.
	if (records.length > 1) throw cannotTell(plan.connection.provider)
	return undefined
}

/** The provider stores a repeated write once. */
async function repeat(session: Session, way: Way, { data, idempotencyKey }: Pending): Promise<Found | undefined> {
	const { plan, calls } = session
	try {
		const record = await writeRecord(calls, plan.scope, { externalId: null, data, idempotencyKey, fields: readsOf(plan, way) })
		return (await linkedAlready(session, record.id)) ?? { record, isOwn: true }
	} catch (error) {
		if (error instanceof ProviderFailed && error.kind === 'rejected') return undefined
		throw error
	}
}

/** The first records with the values of the match; undefined where none can be looked up. */
async function lookUp(session: Session, way: Way, data: Output): Promise<ExternalRecord[] | undefined> {
	const { plan, capabilities, calls } = session
	const keys = way.definition.match?.keys ?? []
	const by = Object.fromEntries(keys.map((key) => [key, namedIn(data, key)]))
	const isWhole = keys.length > 0 && Object.values(by).every((value) => typeof value === 'string' && value !== '')
	if (!capabilities.finds || !isWhole) return undefined
	try {
		const found = await findRecords(calls, plan.scope, by as Record<string, string>, readsOf(plan, way))
		return found.filter(({ isDeleted }) => !isDeleted)
	} catch (error) {
		if (error instanceof CannotFind) return undefined
		throw error
	}
}

/** What both mappings need to see of a record. */
export const readsOf = ({ pull }: Session['plan'], { definition }: Way) => [
	...new Set([...(pull?.reads ?? []), ...definition.fields.map(({ target }) => target.replace(/\[.*$/, ''))]),
]

/** What a record has where a field is written. */
export const valueAt = ({ target }: CompiledField, data: Output): unknown => memberAt(target, data) ?? null

/** Whether a provider's record has what a mapping writes. */
export const isAlike = (fields: readonly CompiledField[], written: Output, found: Output): boolean =>
	fields.every((field) => isAsWritten(valueAt(field, written), valueAt(field, found)))

const cannotTell = (provider: string) =>
	new ProviderFailed(
		'rejected',
		'timeout',
		`It may have been created: the answer was lost or had no id, and ${provider} cannot be asked whether it is there: look, and then run the failed records again.`,
	)
