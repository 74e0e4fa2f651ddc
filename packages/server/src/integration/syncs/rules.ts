// What a sync must be like: its connection, its mappings and its direction fit each other.

import type { Connection, Mapping, ProblemError, Sync, SyncRunError, SyncSchedule } from '../../generated/contract.ts'
import { ApiError } from '../../platform/base/errors.ts'
import type { Db } from '../../platform/db/database.ts'
import type { WriteContext } from '../../platform/db/write-context.ts'
import { capabilitiesOf, UnknownObject } from '../connections/records/records.ts'
import { connections } from '../connections/store.ts'
import { noLookUpAmong } from '../mappings/external-fields.ts'
import { mappings } from '../mappings/store.ts'
import { internalObjectOf } from '../mappings/systems.ts'
import { requireSchedule } from './schedule.ts'
import { findSyncsOf } from './state-store.ts'

type Said = Pick<Sync, 'connectionId' | 'mappingId' | 'reverseMappingId' | 'direction'> & { readonly schedule: SyncSchedule }

/** Throws 422 for a sync that cannot be, and names each place. `stored` is the sync that changes. */
export async function requireSync({ db, origin, organization }: WriteContext, said: Said, stored?: Sync): Promise<void> {
	requireSchedule(said.schedule, organization.timeZone, origin.now)
	const { id: organizationId } = organization
	const { connectionId, mappingId, reverseMappingId, direction } = said
	// Two syncs that are made at once see each other.
	const connection = await connections.lock(db, organizationId, connectionId)
	if (!connection) await connections.require(db, organizationId, connectionId, '/connectionId')
	const there = await findMapping(db, organizationId, mappingId, '/mappingId')
	const back =
		reverseMappingId === null ? undefined : await findMapping(db, organizationId, reverseMappingId, '/reverseMappingId')
	const errors = [
		...mistakesOf(connection as Connection, '/mappingId', there, direction !== 'outbound'),
		...reverseMistakes(connection as Connection, direction, there, back),
		...unwritable(connection as Connection, direction === 'outbound' ? there : back),
		...unfindable(
			connection as Connection,
			direction === 'outbound' ? ['/mappingId', there] : ['/reverseMappingId', back],
			stored,
		),
		...(stored ? otherObjects(there, await mappings.findEvenDeleted(db, organizationId, stored.mappingId)) : []),
	]
	if (errors.length === 0) errors.push(...(await overlaps(db, connection as Connection, { there, back }, stored?.id)))
	if (errors.length === 0) return
	throw new ApiError('invalid_sync', errors.map(({ detail }) => detail).join(' '), { errors })
}

async function findMapping(db: Db, organizationId: string, id: string, pointer: string): Promise<Mapping> {
	// A sync that is made while its mapping is deleted waits for that, and sees it.
	const mapping = await mappings.lockShared(db, organizationId, id)
	if (!mapping) await mappings.require(db, organizationId, id, pointer)
	return mapping as Mapping
}

const mistake = (pointer: string, detail: string): ProblemError => ({ pointer, code: 'invalid_sync', detail })

/** What speaks against a mapping that brings records to Remit, or from it. */
function mistakesOf(
	{ id: connectionId, provider }: Connection,
	pointer: string,
	mapping: Mapping,
	isInbound: boolean,
): ProblemError[] {
	const { id, status, source, target } = mapping
	if (status !== 'active') return [mistake(pointer, `The mapping ${id} is ${status}, and must be active.`)]
	if ((target.system === 'internal') !== isInbound)
		return [
			mistake(
				pointer,
				`The mapping ${id} goes ${isInbound ? 'from Remit, and must go to it' : 'to Remit, and must go from it'}.`,
			),
		]
	const { system } = isInbound ? source : target
	if (mapping.connectionId !== null && mapping.connectionId !== connectionId)
		return [mistake(pointer, `The mapping ${id} is about the connection ${mapping.connectionId}, and not about ${connectionId}.`)]
	if (system === provider) return []
	return [mistake(pointer, `The mapping ${id} is about ${system}, and the connection is one to ${provider}.`)]
}

function reverseMistakes(
	connection: Connection,
	direction: Sync['direction'],
	there: Mapping,
	back: Mapping | undefined,
): ProblemError[] {
	const pointer = '/reverseMappingId'
	if (direction !== 'bidirectional') return back ? [mistake(pointer, `A sync that is ${direction} has no mapping back.`)] : []
	if (!back) return [mistake(pointer, 'A bidirectional sync needs a mapping back.')]
	const wrong = mistakesOf(connection, pointer, back, false)
	const isSame = back.source.object === there.target.object && back.target.object === there.source.object
	return isSame ? wrong : [...wrong, mistake(pointer, 'The mapping back is not about the same two objects.')]
}

/** An object that can neither be created nor changed there. A run says it of one that the connection does not have. */
function unwritable(connection: Connection, out: Mapping | undefined): ProblemError[] {
	if (!out || out.target.system !== connection.provider) return []
	const { object } = out.target
	if (capabilitiesIn(connection, object)?.writes ?? true) return []
	return [mistake('/direction', `Nobody can write ${object} by this connection.`)]
}

/** A match by what cannot be looked up there would make every record a new one. A sync that has the mapping already can be changed. */
function unfindable(
	connection: Connection,
	[pointer, out]: readonly [pointer: string, out: Mapping | undefined],
	stored: Sync | undefined,
): ProblemError[] {
	if (!out || out.target.system !== connection.provider) return []
	if (out.id === stored?.mappingId || out.id === stored?.reverseMappingId) return []
	const { object } = out.target
	const fields = capabilitiesIn(connection, object)?.lookUpFields
	const reasons = (out.match?.keys ?? []).flatMap((key) => (fields && noLookUpAmong(fields, object, key)) ?? [])
	return reasons.map((reason) => mistake(pointer, `The mapping ${out.id} cannot match: ${reason}`))
}

/** Undefined for an object that the connection does not have. */
function capabilitiesIn(connection: Connection, object: string) {
	try {
		return capabilitiesOf(connection, object)
	} catch (error) {
		if (error instanceof UnknownObject) return undefined
		throw error
	}
}

/** The links of a sync are about its objects. */
function otherObjects({ source, target }: Mapping, before: Mapping | undefined): ProblemError[] {
	if (!before || (source.object === before.source.object && target.object === before.target.object)) return []
	return [mistake('/mappingId', 'The mapping is about other objects than the one before.')]
}

/** What brings the same records the same way: links have what one sync of each direction last saw. */
const wayOf = ({ source, target }: Mapping) => `${source.system}:${source.object} ${target.system}:${target.object}`

async function overlaps(
	db: Db,
	{ organizationId, id }: Connection,
	{ there, back }: { there: Mapping; back: Mapping | undefined },
	own: string | undefined,
): Promise<ProblemError[]> {
	const ways = new Set([there, back].flatMap((mapping) => (mapping ? wayOf(mapping) : [])))
	for (const other of await findSyncsOf(db, organizationId, id)) {
		if (other.id === own) continue
		for (const mappingId of [other.mappingId, other.reverseMappingId]) {
			const mapping = mappingId === null ? undefined : await mappings.findEvenDeleted(db, organizationId, mappingId)
			if (mapping && ways.has(wayOf(mapping)))
				return [mistake('/connectionId', `The sync ${other.id} of this connection brings these records this way already.`)]
		}
	}
	return []
}

/** Why no run can begin, or go on. */
export type Obstacle = Pick<SyncRunError, 'detail'> & {
	readonly code: Extract<SyncRunError['code'], 'connection_not_active' | 'connection_needs_reauth' | 'mapping_not_active'>
}

/** Undefined when a run can begin. */
export async function obstacle(
	db: Db,
	{ organizationId, connectionId, mappingId, reverseMappingId }: Sync,
): Promise<Obstacle | undefined> {
	const status = (await connections.find(db, organizationId, connectionId))?.status
	if (status !== 'active' && status !== 'degraded') {
		const detail = status
			? `The connection ${connectionId} is ${status}, and must be active.`
			: `There is no connection ${connectionId} any more.`
		return { code: status === 'needs_reauth' ? 'connection_needs_reauth' : 'connection_not_active', detail }
	}
	for (const id of [mappingId, reverseMappingId]) {
		const mapping = id === null ? undefined : await mappings.find(db, organizationId, id)
		if (id === null || mapping?.status === 'active') continue
		const detail = mapping ? `The mapping ${id} is ${mapping.status}, and must be active.` : `There is no mapping ${id} any more.`
		return { code: 'mapping_not_active', detail }
	}
	return undefined
}

export interface Sides {
	/** The object at the provider. */
	readonly object: string
	/** Of Remit. */
	readonly kind: 'company' | 'invoice'
}

/** The two objects that a mapping is about. */
export function sidesOf({ source, target }: Pick<Mapping, 'source' | 'target'>): Sides {
	const kind = internalObjectOf(target) ?? internalObjectOf(source)
	if (!kind) throw new Error('the mapping has no internal side')
	return { kind, object: internalObjectOf(target) ? source.object : target.object }
}
