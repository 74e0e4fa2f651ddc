// Finds the links that mapped records need, before they are mapped: the engine asks nobody.
import type { Db } from '../../platform/db/database.ts'
import { type CompiledField, lookUpsOf, type Mapped, mapRecord } from './engine/engine.ts'
import type { Links } from './engine/transforms.ts'
import { findLinkedIds } from './link-store.ts'
import { internalObjects } from './systems.ts'

/** Whose links are looked up, and from which side. */
export interface LinkSide {
	readonly organizationId: string
	readonly connectionId: string
	/** Whether records go to the provider, so that ids of Remit become its ids. */
	readonly isOutbound: boolean
}

const kinds = Object.keys(internalObjects)

/** What `lookupLink` finds for these records: a query for each object that the fields name. */
export async function linksFor(
	db: Db,
	{ organizationId, connectionId, isOutbound }: LinkSide,
	fields: readonly CompiledField[],
	records: readonly unknown[],
): Promise<Links> {
	const found = new Map<string, Map<string, string>>()
	for (const [object, ids] of lookUpsOf(fields, records))
		found.set(object, await findLinkedIds(db, { organizationId, connectionId, object, kinds, ids: [...ids] }, isOutbound))
	return (object, id) => found.get(object)?.get(id)
}

/** Maps a record with its links. */
export async function mapLinked(db: Db, side: LinkSide, fields: readonly CompiledField[], record: unknown): Promise<Mapped> {
	return mapRecord(fields, record, await linksFor(db, side, fields, [record]))
}
