// Whose links a sync has, and whether a run may be writing by them.

import type { Sync } from '../../../generated/contract.ts'
import { ApiError } from '../../../platform/base/errors.ts'
import type { Db } from '../../../platform/db/database.ts'
import type { LinkScope } from '../../mappings/link-store.ts'
import { mappings } from '../../mappings/store.ts'
import type { InternalObject } from '../../mappings/systems.ts'
import { sidesOf } from '../rules.ts'
import { lockActiveRun } from '../run-store.ts'
import { findSyncsOf } from '../state-store.ts'
import { syncs } from '../store.ts'

export type Scope = LinkScope & { readonly kind: InternalObject }

/** The two objects of a sync. */
export async function scopeOf(db: Db, { organizationId, connectionId, mappingId }: ScopedSync): Promise<Scope> {
	const mapping = await mappings.findEvenDeleted(db, organizationId, mappingId)
	if (!mapping) throw new Error(`the mapping ${mappingId} of a sync has no row, which a deleted one keeps`)
	return { organizationId, connectionId, ...sidesOf(mapping) }
}

type ScopedSync = Pick<Sync, 'organizationId' | 'connectionId' | 'mappingId'>

/** Throws 409 while a sync that has the same links runs: what a run is about to write would go by a link that is gone. */
export async function requireIdle(db: Db, sync: Sync): Promise<void> {
	const { organizationId, connectionId } = sync
	const own = await scopeOf(db, sync)
	const others = await findSyncsOf(db, organizationId, connectionId)
	// In one order, so that two callers do not wait for each other.
	for (const { id, mappingId } of others.toSorted((one, other) => (one.id < other.id ? -1 : 1))) {
		const scope = await scopeOf(db, { organizationId, connectionId, mappingId })
		if (scope.object !== own.object || scope.kind !== own.kind) continue
		await syncs.lock(db, organizationId, id)
		const active = await lockActiveRun(db, organizationId, id)
		if (active) throw new ApiError('sync_already_running', `The run ${active.id} of the sync ${id} is ${active.status}.`)
	}
}
