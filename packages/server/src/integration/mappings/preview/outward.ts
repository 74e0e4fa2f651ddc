// Previews stored records that go to a provider: what would be sent, and with a connection what is there now.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Connection, Mapping, MappingPreviewInput, PreviewedRecord } from '../../../generated/contract.ts'
import type { RecordDoor, Shown } from '../../../platform/db/record-door.ts'
import type { WriteContext } from '../../../platform/db/write-context.ts'
import { type ExternalRecord, type RecordContext, readRecord } from '../../connections/records/records.ts'
import { isAsWritten } from '../engine/as-written.ts'
import { type CompiledField, mapRecord, namesOf } from '../engine/engine.ts'
import { memberAt } from '../engine/path.ts'
import { hashOf } from '../hashes.ts'
import { findByRecordIds, type Link, type LinkScope } from '../link-store.ts'
import { linksFor } from '../links.ts'
import type { Output } from '../outputs.ts'
import { type InternalObject, internalObjectOf } from '../systems.ts'
import { blankPreview, capabilitiesIn, previewedUnlessSet, unknownRecord } from './input.ts'

interface There {
	readonly calls: RecordContext
	readonly scope: LinkScope
	readonly readsOne: boolean
	readonly writes: boolean
}

/** Previews stored records of a mapping that goes out, in place of records that are given. */
export async function previewStored(
	write: WriteContext,
	mapping: Mapping,
	fields: readonly CompiledField[],
	input: MappingPreviewInput,
	{ calls, connection }: { calls: RecordContext; connection: Connection | undefined },
): Promise<PreviewedRecord[]> {
	const { db } = write
	const kind = internalObjectOf(mapping.source) as InternalObject
	const records = await storedRecords(write, calls.services.records[kind], input)
	const previewed: PreviewedRecord[] = []
	if (!connection) {
		for (const record of records)
			previewed.push({ ...blankPreview, ...mapped(fields, record), recordId: record.id, source: record })
		return previewed
	}
	const { object } = mapping.target
	const scope = { organizationId: mapping.organizationId, connectionId: connection.id, object, kind }
	const there = { calls, scope, ...capabilitiesIn(connection, object) }
	const links = await linksFor(db, { ...scope, isOutbound: true }, fields, records)
	const known = await findByRecordIds(
		db,
		scope,
		records.map(({ id }) => id),
	)
	for (const record of records) {
		await nextTurn()
		const own = mapped(fields, record, links)
		const { id: recordId } = record
		const link = known.get(recordId)
		const shown = { ...blankPreview, ...own, recordId, source: record, externalId: link?.externalId ?? null }
		previewed.push({ ...shown, ...(await fateThere(there, fields, record, shown, link)) })
	}
	return previewed
}

function mapped(fields: readonly CompiledField[], record: Shown, links?: Parameters<typeof mapRecord>[2]) {
	const { output, errors } = mapRecord(fields, record, links)
	return { output, errors: [...errors] }
}

type Fate = Partial<Pick<PreviewedRecord, 'action' | 'errors' | 'current' | 'changes'>>

/** What a sync would do with a record. */
async function fateThere(
	{ calls, scope, readsOne, writes }: There,
	fields: readonly CompiledField[],
	{ status }: Shown,
	{ output, errors, externalId }: Pick<PreviewedRecord, 'output' | 'errors' | 'externalId'>,
	link: Link | undefined,
): Promise<Fate> {
	const fail = (code: string, reason: string): Fate => ({ action: 'fail', errors: [...errors, { field: '', code, reason }] })
	if (!output) return { action: 'fail' }
	if (!writes) return fail('not_writable', `No record of ${scope.object} can be written there.`)
	// A sync leaves drafts alone that are not out yet.
	if (externalId === null) return { action: scope.kind === 'invoice' && status === 'draft' ? 'skip' : 'create' }
	const isSame = link?.pushedHash === hashOf(output) && !link.pending
	if (!readsOne) return { action: isSame ? 'unchanged' : 'update' }
	const paths = fields.map(({ target }) => namesOf(target))
	const there = await readRecord(calls, scope, externalId, paths)
	if (!there) return fail('record_not_found', `The provider has no record ${externalId} any more.`)
	const current = { ...there.data }
	if (isSame) return { action: 'unchanged', current }
	return { action: 'update', current, changes: changesThere(fields, output, there) }
}

/** What the output says otherwise than the provider does now. */
function changesThere(fields: readonly CompiledField[], output: Output, { data }: ExternalRecord): PreviewedRecord['changes'] {
	const entries = fields.flatMap(({ spec, target }) => {
		const [from, to] = [memberAt(target, data), memberAt(target, output)]
		return to === undefined || isAsWritten(to, from) ? [] : [[spec.target, { from: from ?? null, to }] as const]
	})
	return Object.fromEntries(entries)
}

/** The records as a GET answers them. */
async function storedRecords(
	write: WriteContext,
	door: RecordDoor,
	{ recordIds, limit = previewedUnlessSet }: MappingPreviewInput,
): Promise<Shown[]> {
	if (!recordIds) return door.newest(write.db, write, limit)
	const found: Shown[] = []
	for (const [at, id] of recordIds.entries()) {
		const record = await door.find(write.db, write, id)
		if (!record) throw unknownRecord(at, id)
		found.push(record)
	}
	return found
}
