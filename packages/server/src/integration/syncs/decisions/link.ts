// Linking two records by hand.

import type { Sync } from '../../../generated/contract.ts'
import { ApiError, fieldError } from '../../../platform/base/errors.ts'
import type { Db } from '../../../platform/db/database.ts'
import type { RecordDoors } from '../../../platform/db/record-door.ts'
import type { WriteContext } from '../../../platform/db/write-context.ts'
import { answering } from '../../connections/records/failures.ts'
import { capabilitiesOf, type RecordContext, readRecord, UnknownObject } from '../../connections/records/records.ts'
import { canBeId } from '../../connections/records/writes.ts'
import { requireEnabled } from '../../connections/rules.ts'
import { connections } from '../../connections/store.ts'
import { findByExternalIds, findByRecordIds, type Link, type LinkScope } from '../../mappings/link-store.ts'
import { forgetEnded } from '../records/ended-link-store.ts'
import { changeLink, insertLink } from '../records/link-store.ts'
import { type Scope, scopeOf } from './scope.ts'

const mistake = (pointer: string, detail: string) => fieldError('invalid_sync_link', pointer, detail)

/** Throws 422 when the provider says that it has no such record. Nobody is asked where its API does not answer a record by its id. */
export async function findThere(calls: RecordContext, sync: Sync, externalId: string): Promise<void> {
	const { db } = calls
	const scope = await scopeOf(db, sync)
	const connection = await connections.find(db, sync.organizationId, sync.connectionId)
	if (!connection) throw new ApiError('sync_blocked', `There is no connection ${sync.connectionId} any more.`)
	requireEnabled(connection)
	try {
		if (!capabilitiesOf(connection, scope.object).readsOne) return
		const found = canBeId(externalId) && (await answering(() => readRecord(calls, scope, externalId, [])))
		if (found && !found.isDeleted && found.id === externalId) return
	} catch (error) {
		if (!(error instanceof UnknownObject)) throw error
		throw new ApiError('sync_blocked', error.message)
	}
	throw mistake('/externalId', `The provider's ${scope.object} have no record ${externalId}.`)
}

/** Throws 422 unless Remit has a record of the sync's kind with this id. */
export async function requireHere(write: WriteContext, doors: RecordDoors, sync: Sync, recordId: string): Promise<Scope> {
	const scope = await scopeOf(write.db, sync)
	if (!(await doors[scope.kind].find(write.db, write, recordId)))
		throw mistake('/recordId', `There is no ${scope.kind} ${recordId}.`)
	return scope
}

/** Links both, with what a run has to do of it; one that is linked so already gets the decision. Throws 409 when one of both has another link. */
export async function linkByHand(
	db: Db,
	scope: LinkScope,
	{ externalId, recordId }: { readonly externalId: string; readonly recordId: string },
	decision: Pick<Link, 'decision' | 'decidedFor'>,
	now: number,
): Promise<void> {
	const there = (await findByExternalIds(db, scope, [externalId])).get(externalId)
	const here = (await findByRecordIds(db, scope, [recordId])).get(recordId)
	const isLinked = there?.recordId === recordId
	if (there && (!isLinked || decision.decision === 'policy'))
		throw new ApiError('linked_already', `The provider's record ${externalId} is linked with ${there.recordId}.`)
	if (here?.externalId != null && !isLinked)
		throw new ApiError('linked_already', `The record ${recordId} is linked with ${here.externalId}.`)
	// Of a record whose creation had no answer somebody knows now what became of it.
	const values = isLinked ? decision : { externalId, pending: null, ...decision }
	await (here ? changeLink : insertLink)(db, scope, recordId, values, now)
	await forgetEnded(db, scope, externalId)
}
