import type { Sync, SyncLinkSummary } from '../../../generated/contract.ts'
import { ApiError } from '../../../platform/base/errors.ts'
import { recordChange } from '../../../platform/db/audit-log.ts'
import type { Db } from '../../../platform/db/database.ts'
import { type Handler, writeContext } from '../../../platform/http/handler.ts'
import { answerPage } from '../../../platform/http/record-handlers.ts'
import { capabilitiesOf } from '../../connections/records/records.ts'
import { connections } from '../../connections/store.ts'
import type { LinkScope } from '../../mappings/link-store.ts'
import { findSeen, readLinks, removeLink } from '../records/link-store.ts'
import { lostIn } from '../records/lost-store.ts'
import { findStoredRun, runs } from '../run-store.ts'
import { audited, syncs } from '../store.ts'
import { findThere, linkByHand, requireHere } from './link.ts'
import { requireIdle, scopeOf } from './scope.ts'

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
		const { rows, ...found } = await readLinks(db, { ...scope, ...filter }, page)
		return { ...found, rows: rows.map((link) => JSON.stringify(shown(scope, link))) }
	})
}

/** What a run that waits would delete. */
export const listDeletions: Handler<'syncs.runs.deletions.list'> = async ({ params, query, caller }, context) => {
	const { db } = context
	const { organizationId } = caller
	const sync = await syncs.existing(db, organizationId, params.id)
	const stored = await findStoredRun(db, { organizationId, id: params.runId })
	if (stored?.run.syncId !== sync.id) throw runs.notFound(params.runId)
	const { run, checkpoint } = stored
	const scope = run.error?.code === 'too_many_deletions' ? await scopeOf(db, sync) : undefined
	const connection = scope && (await connections.find(db, organizationId, sync.connectionId))
	return answerPage<SyncLinkSummary>(`deletions of ${run.id}`, { query, caller }, context, async (page) => {
		if (!scope || !connection) return { rows: [], hasMore: false, total: 0 }
		const capabilities = capabilitiesOf(connection, scope.object)
		const of = lostIn({ run, checkpoint, capabilities, isInbound: sync.direction !== 'outbound' }, checkpoint.isFull)
		const { rows, ...found } = await readLinks(db, { ...scope, ...of }, page)
		return { ...found, rows: rows.map((link) => JSON.stringify(shown(scope, link))) }
	})
}

async function requireLink(db: Db, sync: Sync, externalId: string): Promise<{ scope: LinkScope; link: Found }> {
	const scope = await scopeOf(db, sync)
	const link = await findSeen(db, scope, externalId)
	if (!link) throw new ApiError('sync_link_not_found', `The sync ${sync.id} has no link of ${externalId}.`)
	return { scope, link }
}

export const get: Handler<'syncs.links.get'> = async ({ params: { id, externalId }, caller }, { db }) => {
	const { scope, link } = await requireLink(db, await syncs.existing(db, caller.organizationId, id), externalId)
	const lastSeen = link.lastSeen === null ? null : JSON.parse(link.lastSeen)
	return { status: 200, body: { data: { ...shown(scope, link), lastSeen } } }
}

export const create: Handler<'syncs.links.create'> = async ({ params: { id }, body, caller, signal }, context) => {
	const { db, services, now, commit } = context
	const { organizationId } = caller
	const sync = await syncs.existing(db, organizationId, id)
	const { externalId, recordId } = body
	await findThere({ db, services, now: () => now, signal: signal() }, sync, externalId)
	return commit(async (tx, origin) => {
		const write = writeContext({ db: tx, origin }, caller)
		const stored = await syncs.existing(tx, organizationId, id)
		await requireIdle(tx, stored)
		const scope = await requireHere(write, services.records, stored, recordId)
		await linkByHand(tx, scope, body, { decision: 'policy', decidedFor: id }, now)
		const after = { externalId, object: scope.object, recordId }
		await recordChange({ db: tx, origin }, { ...audited(sync), action: 'linked', after })
		const data = shown(scope, (await findSeen(tx, scope, externalId)) as Found)
		const location = `/syncs/${id}/links/${encodeURIComponent(externalId)}`
		return { status: 201, headers: { Location: location }, body: { data } }
	})
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
