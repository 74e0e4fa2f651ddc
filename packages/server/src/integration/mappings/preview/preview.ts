// Maps records without writing them: what the fields make of each, and what would happen to it.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Connection, Mapping, MappingPreviewInput, PreviewedRecord } from '../../../generated/contract.ts'
import { ApiError } from '../../../platform/base/errors.ts'
import type { RecordDoors } from '../../../platform/db/record-door.ts'
import type { WriteContext } from '../../../platform/db/write-context.ts'
import { changesBetween } from '../../../platform/events/changes.ts'
import { type ExternalRecord, type RecordContext, readPage, readRecord } from '../../connections/records/records.ts'
import { type CompiledField, type FieldError, mapRecord, pathsRead } from '../engine/engine.ts'
import type { Links } from '../engine/transforms.ts'
import { hashOf } from '../hashes.ts'
import { findByExternalIds, findByRecordIds, type Link, type LinkScope } from '../link-store.ts'
import { linksFor } from '../links.ts'
import { inputOf, matching, type Output, rejected, requireWhole, violations } from '../outputs.ts'
import { split, stillOverruled } from '../overruled.ts'
import { fieldsThere } from '../schemas.ts'
import { type InternalObject, internalObjectOf } from '../systems.ts'
import { requireSound, validate } from '../validate.ts'
import { blankPreview, previewedUnlessSet, requireChoice, requireConnection } from './input.ts'
import { previewStored } from './outward.ts'

/** What would be written, and by which doors. */
interface Preview extends WriteContext {
	readonly doors: RecordDoors
}

/** Maps records by a mapping, with `fields` in place of its own if there are any. */
export async function previewMapping(context: WriteContext, calls: RecordContext, stored: Mapping, input: MappingPreviewInput) {
	const { fields, connectionId } = input
	const write = { ...context, doors: calls.services.records }
	const mapping = { ...stored, ...(fields && { fields }) }
	const compiled = requireSound(mapping)
	requireChoice(mapping, input)
	const connection = connectionId === undefined ? undefined : await requireConnection(write.db, mapping, input)
	const told = await fieldsThere(calls, { ...mapping, connectionId: connectionId ?? mapping.connectionId })
	const validation = validate(mapping, compiled, told)
	if (input.records) return { validation, records: await previewGiven(write, mapping, compiled, input.records) }
	if (connection && internalObjectOf(mapping.target))
		return { validation, records: await previewLive(write, mapping, compiled, input, { calls, connection }) }
	return { validation, records: await previewStored(write, mapping, compiled, input, { calls, connection }) }
}

async function previewGiven(
	write: Preview,
	mapping: Mapping,
	compiled: readonly CompiledField[],
	records: readonly unknown[],
): Promise<PreviewedRecord[]> {
	const previewed: PreviewedRecord[] = []
	for (const record of records) {
		// A record may take 25 ms, and other requests wait for no more than one.
		await nextTurn()
		previewed.push(await previewRecord(write, mapping, compiled, record))
	}
	return previewed
}

/** Previews records that the provider has now. */
async function previewLive(
	write: Preview,
	mapping: Mapping,
	compiled: readonly CompiledField[],
	input: MappingPreviewInput,
	{ calls, connection: { id: connectionId } }: { calls: RecordContext; connection: Connection },
): Promise<PreviewedRecord[]> {
	const { organizationId, source, target } = mapping
	const scope = { organizationId, connectionId, object: source.object, kind: internalObjectOf(target) as InternalObject }
	const records = await readLive(calls, scope, compiled, input)
	const there = records.filter((record) => typeof record !== 'string')
	const all = there.map(({ data }) => data)
	const links = await linksFor(write.db, { ...scope, isOutbound: false }, compiled, all)
	const known = await findByExternalIds(
		write.db,
		scope,
		there.map(({ id }) => id),
	)
	const previewed: PreviewedRecord[] = []
	for (const record of records) {
		await nextTurn()
		if (typeof record === 'string') {
			const reason = `The provider has no record ${record}.`
			const errors = [{ field: '', code: 'record_not_found', reason }]
			previewed.push({ ...blankPreview, externalId: record, action: 'fail', errors })
			continue
		}
		const { id: externalId, data } = record
		const own = { externalId, source: { ...data } }
		if (record.problem) {
			previewed.push({ ...blankPreview, ...own, action: 'fail', errors: [{ field: '', ...record.problem }] })
			continue
		}
		const link = known.get(externalId)
		// A sync does not write what the provider has deleted.
		if (record.isDeleted)
			previewed.push({ ...blankPreview, ...own, recordId: link?.recordId ?? null, action: 'skip', errors: [] })
		else previewed.push({ ...(await previewRecord(write, mapping, compiled, data, { links, link, scope })), ...own })
	}
	return previewed
}

/** The records in their order; of one that is not there its id. */
async function readLive(
	calls: RecordContext,
	scope: LinkScope,
	compiled: readonly CompiledField[],
	{ externalIds, limit = previewedUnlessSet }: MappingPreviewInput,
): Promise<(ExternalRecord | string)[]> {
	const fields = pathsRead(compiled)
	if (!externalIds) return (await readPage(calls, scope, { cursor: null, since: null, fields })).records.slice(0, limit)
	const records: (ExternalRecord | string)[] = []
	for (const id of externalIds) records.push((await readRecord(calls, scope, id, fields)) ?? id)
	return records
}

/** What a connection says of a record. */
interface Linked {
	readonly links: Links
	readonly link: Link | undefined
	readonly scope: LinkScope
}

async function previewRecord(
	write: Preview,
	{ target, match }: Mapping,
	fields: readonly CompiledField[],
	record: unknown,
	linked?: Linked,
): Promise<PreviewedRecord> {
	const { output, errors } = mapRecord(fields, record, linked?.links)
	const object = internalObjectOf(target)
	const seen = { ...blankPreview, output, errors: [...errors], recordId: linked?.link?.recordId ?? null }
	if (!object) return seen
	if (!output) return { ...seen, action: 'fail' }
	const fail = (more: readonly FieldError[]): PreviewedRecord => ({ ...seen, errors: [...errors, ...more], action: 'fail' })
	const wrong = violations(object, output)
	if (wrong.length > 0) return fail(wrong)
	try {
		const found = await fate(write, object, output, match, linked)
		return 'failed' in found ? fail(found.failed) : { ...seen, ...found }
	} catch (error) {
		if (!(error instanceof ApiError)) throw error
		return fail(rejected(error))
	}
}

type Fate = Pick<PreviewedRecord, 'action' | 'recordId' | 'changes'>

const none = { recordId: null, changes: {} }

/** What would happen to an output that fits the contract. Throws the error with which the record would be rejected. */
async function fate(
	write: Preview,
	object: InternalObject,
	output: Output,
	match: Mapping['match'],
	linked: Linked | undefined,
): Promise<Fate | { readonly failed: readonly FieldError[] }> {
	const input = inputOf(object, output)
	const { link, scope } = linked ?? {}
	if (link) {
		const { recordId, externalHash, decision } = link
		if (externalHash === hashOf(output)) return { action: 'unchanged', recordId, changes: {} }
		// A decision for the provider takes all of its record.
		const overruled = decision === 'provider' ? null : stillOverruled(link.overruled, output)
		const [, meant] = split(input, overruled)
		// One that was deleted in Remit comes again.
		return (await updateOf(write, object, recordId, meant)) ?? createOf(write, object, output)
	}
	const [id, second] = await matching(write.db, write.organization.id, object, input, match)
	if (id === undefined) return createOf(write, object, output)
	if (second !== undefined && match?.onMultiple !== 'first')
		return { ...none, action: match?.onMultiple === 'skip' ? 'skip' : 'conflict' }
	const other = scope && (await findByRecordIds(write.db, scope, [id])).get(id)
	if (other?.externalId != null) {
		const reason = `The record ${id}, which it matches, is linked with ${other.externalId}.`
		return { failed: [{ field: '', code: 'linked_already', reason }] }
	}
	return (await updateOf(write, object, id, input)) ?? createOf(write, object, output)
}

async function createOf(write: Preview, object: InternalObject, output: Output): Promise<Fate> {
	requireWhole(object, output)
	await write.doors[object].tryCreate(write, output)
	return { ...none, action: 'create' }
}

/** Undefined when the record is not there any more. */
async function updateOf(write: Preview, object: InternalObject, recordId: string, input: Output): Promise<Fate | undefined> {
	const change = await write.doors[object].tryChange(write, recordId, input)
	if (!change) return undefined
	const changes = changesBetween(change.before, change.after)
	return { action: Object.keys(changes).length > 0 ? 'update' : 'unchanged', recordId, changes }
}
