import type { Mapping, MappingCreate, MappingIssue, MappingUpdate } from '../../generated/contract.ts'
import { blanks, fields } from '../../generated/tables.ts'
import { ApiError, fieldError } from '../../platform/base/errors.ts'
import { newId } from '../../platform/base/ids.ts'
import { type Db, query } from '../../platform/db/database.ts'
import { type ListFilter, records } from '../../platform/db/records.ts'
import type { WriteContext } from '../../platform/db/write-context.ts'
import { changesBetween } from '../../platform/events/changes.ts'
import { eventsAbout } from '../../platform/events/record-events.ts'
import { connections } from '../connections/store.ts'
import type { Known } from './external-fields.ts'
import { externalSideOf } from './systems.ts'
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

const lastVersion = query<Key & { version: number }, { source: Text; target: Text; fields: Text; match: Text | null }>(
	(knex, { version, ...key }) =>
		knex('mapping_versions')
			.where(key)
			.where('version', '<=', version)
			.orderBy('version', 'desc')
			.limit(1, { skipBinding: true })
			.select('source', 'target', 'fields', 'match'),
)

type Text = string | object

interface Key {
	readonly organizationId: string
	readonly mappingId: string
}

/** What a mapping said at a version, also when it was deleted since. */
export async function findDefinition(db: Db, key: Key & { readonly version: number }): Promise<Definition | undefined> {
	const row = await db.get(lastVersion, key)
	if (!row) return undefined
	const parsed = Object.entries(row).map(([name, value]) => [name, typeof value === 'string' ? JSON.parse(value) : value])
	return Object.fromEntries(parsed) as Definition
}

/** `there` is what the mapping's connection tells of its object; undefined when nobody could ask. */
export async function createMapping(write: WriteContext, input: MappingCreate, there?: Known): Promise<Mapping> {
	const { db, origin, organization } = write
	const { now } = origin
	const said = { ...blanks.Mapping, status: 'draft' as const, ...input }
	const systemFields = { organizationId: organization.id, id: newId('map'), createdAt: now, updatedAt: now, version: 1 }
	const compiled = requireSound(said)
	await requireConnection(write, said)
	const validation = validate(said, compiled, aboutIt(said, there))
	if (said.status === 'active') requireValid(validation)
	const mapping: Mapping = { ...said, ...systemFields, validation }
	const data = await mappings.insert(write, mapping, { deletedAt: null })
	await keepVersion(write, mapping)
	await record(db, origin, 'mapping.created', mapping, { data })
	return mapping
}

type Connected = Pick<Mapping, 'source' | 'target' | 'connectionId'>

/** What was told of another object, before somebody else changed the mapping, says nothing of this one. */
const aboutIt = (mapping: Connected, there: Known | undefined) =>
	there?.connectionId === mapping.connectionId && there?.object === externalSideOf(mapping).object ? there : undefined

/** Throws 422 for a connection that is not there, or is one to another system. One that was deleted since is left in place. */
async function requireConnection({ db, organization }: WriteContext, mapping: Connected, stored?: Mapping): Promise<void> {
	const { connectionId } = mapping
	if (connectionId === null) return
	const connection = await connections.find(db, organization.id, connectionId)
	if (!connection && connectionId === stored?.connectionId) return
	if (!connection) throw fieldError('unknown_connection', '/connectionId', `There is no connection ${connectionId}.`)
	const { system } = externalSideOf(mapping)
	if (system === connection.provider) return
	const detail = `The mapping is about ${system}, and the connection is one to ${connection.provider}.`
	throw fieldError('invalid_mapping', '/connectionId', detail)
}

/** Changes a mapping that was read with `lock`. */
export async function changeMapping(write: WriteContext, stored: Mapping, input: MappingUpdate, there?: Known): Promise<Mapping> {
	const { db, origin } = write
	const next = { ...stored, ...input }
	const compiled = requireSound(next)
	await requireConnection(write, next, stored)
	const validation = validate(next, compiled, aboutIt(next, there))
	// Another name does not put a mapping in use to the test again.
	const { name, ...tested } = input
	if (next.status === 'active' && Object.keys(tested).length > 0) requireValid(validation)
	const mapping = await mappings.update(write, stored, { ...input, validation })
	const changed = changesBetween(stored, mapping)
	if (Object.keys(changesBetween(definitionOf(stored), definitionOf(mapping))).length > 0) await keepVersion(write, mapping)
	if (Object.keys(changed).length > 0) await record(db, origin, 'mapping.updated', mapping, { before: stored })
	return mapping
}

/** Takes a mapping that was read with `lock` out of use, since the provider's object has changed. */
export async function invalidateMapping(write: WriteContext, stored: Mapping, issues: readonly MappingIssue[]): Promise<void> {
	const validation = { valid: false, issues: [...issues] }
	const mapping = await mappings.update(write, stored, { status: 'invalid', validation })
	await record(write.db, write.origin, 'mapping.updated', mapping, { before: stored })
}

const users = query<Key, { id: string }>((knex, { organizationId, mappingId }) => {
	const live = () => knex('syncs').where({ organizationId }).whereNull('deletedAt').select('id')
	return live()
		.where({ mappingId })
		.unionAll(live().where({ reverseMappingId: mappingId }))
		.limit(1, { skipBinding: true })
})

/** Deletes a mapping that was read with `lock`. Its versions stay. Throws 409 while a sync uses it. */
export async function removeMapping(write: WriteContext, stored: Mapping): Promise<void> {
	const { db, origin } = write
	const user = await db.get(users, { organizationId: stored.organizationId, mappingId: stored.id })
	if (user) throw new ApiError('record_in_use', `The sync ${user.id} uses the mapping ${stored.id}.`)
	const mapping = await mappings.update(write, stored, { deletedAt: origin.now }, 'deleted')
	await record(db, origin, 'mapping.deleted', mapping)
}
