import { newId } from '../base/ids.ts'
import { query } from '../db/database.ts'
import { type ListFilter, records } from '../db/records.ts'
import type { WriteContext } from '../db/write-context.ts'
import { changesBetween } from '../events/changes.ts'
import { eventsAbout } from '../events/record-events.ts'
import type { Mapping, MappingCreate, MappingUpdate } from '../generated/contract.ts'
import { blanks, fields } from '../generated/tables.ts'
import { type Definition, requireSound, requireValid, validate } from './validate.ts'

export const mappings = records<Mapping, ListFilter<'mappings.list'>, { readonly deletedAt: number | null }>({
	name: 'mapping',
	table: 'mappings',
	fields: fields.Mapping,
	softDelete: true,
})

const record = eventsAbout<Mapping, `mapping.${'created' | 'updated' | 'deleted'}`>('mapping')

const definitionOf = ({ source, target, fields, match }: Mapping): Definition => ({ source, target, fields, match })

interface VersionRow extends Definition {
	readonly organizationId: string
	readonly mappingId: string
	readonly version: number
	readonly createdAt: number
}

const insertion = query<VersionRow>((knex, row) => knex('mapping_versions').insert(row))

/** Keeps what the mapping says now. A version of which nothing is kept says what the last one before it did. */
const keepVersion = ({ db, origin }: WriteContext, mapping: Mapping) => {
	const { organizationId, id: mappingId, version } = mapping
	return db.run(insertion, { organizationId, mappingId, version, ...definitionOf(mapping), createdAt: origin.now })
}

export async function createMapping(write: WriteContext, input: MappingCreate): Promise<Mapping> {
	const { db, origin, organization } = write
	const { now } = origin
	const said = { ...blanks.Mapping, status: 'draft' as const, ...input }
	const systemFields = { organizationId: organization.id, id: newId('map'), createdAt: now, updatedAt: now, version: 1 }
	const validation = validate(said, requireSound(said))
	if (said.status === 'active') requireValid(validation)
	const mapping: Mapping = { ...said, ...systemFields, validation }
	const data = await mappings.insert(write, mapping, { deletedAt: null })
	await keepVersion(write, mapping)
	await record(db, origin, 'mapping.created', mapping, { data })
	return mapping
}

/** Changes a mapping that was read with `lock`. */
export async function changeMapping(write: WriteContext, stored: Mapping, input: MappingUpdate): Promise<Mapping> {
	const { db, origin } = write
	const next = { ...stored, ...input }
	const validation = validate(next, requireSound(next))
	// Another name does not put a mapping in use to the test again.
	const { name, ...tested } = input
	if (next.status === 'active' && Object.keys(tested).length > 0) requireValid(validation)
	const mapping = await mappings.update(write, stored, { ...input, validation })
	const changed = changesBetween(stored, mapping)
	if (Object.keys(changesBetween(definitionOf(stored), definitionOf(mapping))).length > 0) await keepVersion(write, mapping)
	if (Object.keys(changed).length > 0) await record(db, origin, 'mapping.updated', mapping, { before: stored })
	return mapping
}

/** Deletes a mapping that was read with `lock`. Its versions stay. */
export async function removeMapping(write: WriteContext, stored: Mapping): Promise<void> {
	const { db, origin } = write
	const mapping = await mappings.update(write, stored, { deletedAt: origin.now }, 'deleted')
	await record(db, origin, 'mapping.deleted', mapping)
}
