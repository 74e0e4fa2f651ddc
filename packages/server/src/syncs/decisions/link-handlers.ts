import { ApiError } from '../../base/errors.ts'
import { recordChange } from '../../db/audit-log.ts'
import type { Db } from '../../db/database.ts'
import type { Sync, SyncLinkSummary } from '../../generated/contract.ts'
import type { Handler } from '../../http/handler.ts'
import { answerPage } from '../../http/record-handlers.ts'
import type { LinkScope } from '../../mappings/link-store.ts'
import { mappings } from '../../mappings/store.ts'
import { findSeen, readLinks, removeLink } from '../records/link-store.ts'
import { sidesOf } from '../rules.ts'
import { lockActiveRun } from '../run-store.ts'
import { findSyncsOf } from '../state-store.ts'
import { audited, syncs } from '../store.ts'

/** The two objects of a sync; undefined when its mapping was never there. */
async function scopeOf(db: Db, { organizationId, connectionId, mappingId }: ScopedSync): Promise<LinkScope | undefined> {
	const mapping = await mappings.findEvenDeleted(db, organizationId, mappingId)
	return mapping && { organizationId, connectionId, ...sidesOf(mapping) }
}

type ScopedSync = Pick<Sync, 'organizationId' | 'connectionId' | 'mappingId'>

type Found = NonNullable<Awaited<ReturnType<typeof findSeen>>>

const shown = ({ object }: LinkScope, { externalId, recordId, lastSeenAt, createdAt, updatedAt }: Omit<Found, 'lastSeen'>) =>
	({
		externalId,
		object,
		recordId,
		state: externalId === null ? 'unclear' : 'linked',
		lastSeenAt,
		createdAt,
		updatedAt,
	}) satisfies SyncLinkSummary

export const list: Handler<'syncs.links.list'> = async ({ params: { id }, query, caller }, context) => {
	const { db } = context
	const scope = await scopeOf(db, await syncs.existing(db, caller.organizationId, id))
	const { state, recordId } = query
	const filter = {
		...(recordId !== undefined && { recordId }),
		...(state === 'linked' && { isLinked: true as const }),
		...(state === 'unclear' && { isUnclear: true as const }),
	}
	return answerPage<SyncLinkSummary>(`links of ${id}`, { query, caller }, context, async (page) => {
		if (!scope) return { rows: [], hasMore: false, total: 0 }
		const { rows, ...found } = await readLinks(db, { ...scope, ...filter }, page)
		return { ...found, rows: rows.map((link) => JSON.stringify(shown(scope, link))) }
	})
}

async function requireLink(db: Db, sync: Sync, externalId: string): Promise<{ scope: LinkScope; link: Found }> {
	const scope = await scopeOf(db, sync)
	const link = scope && (await findSeen(db, scope, externalId))
	if (!scope || !link) throw new ApiError('sync_link_not_found', `The sync ${sync.id} has no link of ${externalId}.`)
	return { scope, link }
}

export const get: Handler<'syncs.links.get'> = async ({ params: { id, externalId }, caller }, { db }) => {
	const { scope, link } = await requireLink(db, await syncs.existing(db, caller.organizationId, id), externalId)
	const lastSeen = link.lastSeen === null ? null : JSON.parse(link.lastSeen)
	return { status: 200, body: { data: { ...shown(scope, link), lastSeen } } }
}

export const remove: Handler<'syncs.links.delete'> = async ({ params: { id, externalId }, caller }, { db, origin }) => {
	const { organizationId } = caller
	const sync = await syncs.existing(db, organizationId, id)
	await requireIdle(db, sync)
	const { scope, link } = await requireLink(db, sync, externalId)
	await removeLink(db, scope, link.recordId)
	const before = { externalId: link.externalId, object: scope.object, recordId: link.recordId }
	await recordChange({ db, origin }, { ...audited({ organizationId, id }), action: 'unlinked', before })
	return { status: 200, body: { ok: true } }
}

/** Throws 409 while a sync that has the same links runs: what a run is about to write would go by a link that is gone. */
async function requireIdle(db: Db, sync: Sync): Promise<void> {
	const { organizationId, connectionId } = sync
	const own = await scopeOf(db, sync)
	const others = await findSyncsOf(db, organizationId, connectionId)
	// In one order, so that two callers do not wait for each other.
	for (const { id, mappingId } of others.toSorted((one, other) => (one.id < other.id ? -1 : 1))) {
		const scope = await scopeOf(db, { organizationId, connectionId, mappingId })
		if (scope?.object !== own?.object || scope?.kind !== own?.kind) continue
		await syncs.lock(db, organizationId, id)
		const active = await lockActiveRun(db, organizationId, id)
		if (active) throw new ApiError('sync_already_running', `The run ${active.id} of the sync ${id} is ${active.status}.`)
	}
}
