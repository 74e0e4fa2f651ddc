// Reading and writing records at providers. What throws ProviderFailed says what its caller may do.
import type { Connection } from '../../../generated/contract.ts'
import { manifestOf } from '../providers/providers.ts'
import { valueAt } from '../values.ts'
import { callProvider, open, type Target } from './call.ts'
import { lookUp } from './look-ups.ts'
import { objectOf } from './objects.ts'
import { fieldQuery, listPage } from './pages.ts'
import { schemaOf } from './schema.ts'
import {
	CannotDo,
	type Capabilities,
	type ExternalRecord,
	type ObjectKey,
	type ObjectSchema,
	type PageStart,
	ProviderFailed,
	type RecordContext,
	type RecordPage,
	type RecordWrite,
} from './types.ts'
import { idOf, isObject, recordOf, unwrapped } from './values.ts'
import { modifiedPage, searchPage } from './windows.ts'
import { bodyOf, pathOfOne } from './writes.ts'

export type * from './types.ts'
export { CannotDo, CannotFind, EndlessList, ProviderFailed, UnknownObject } from './types.ts'

/** A page of all records, or of those that changed at `since` or later, the oldest change first where the provider can. */
export async function readPage(context: RecordContext, key: ObjectKey, at: PageStart): Promise<RecordPage> {
	const target = await open(context, key)
	const { changes } = target.object
	if (changes?.style === 'if_modified_since') return modifiedPage(context, target, changes, at)
	const { since } = at
	if (changes?.style === 'search' && since !== null) return searchPage(context, target, changes, { ...at, since })
	return listPage(context, target, at)
}

/** Undefined when there is no such record (404 or 410). */
export async function readRecord(
	context: RecordContext,
	key: ObjectKey,
	externalId: string,
	fields: readonly string[],
): Promise<ExternalRecord | undefined> {
	return readOne(context, await open(context, key), externalId, fields)
}

const goneStatuses = [404, 410]

async function readOne(context: RecordContext, target: Target, id: string, fields: readonly string[]) {
	const { object } = target
	if (object.one === null) throw new CannotDo(`No record of ${object.name} can be read alone.`)
	const answer = await callProvider(context, target, {
		...{ method: 'GET', effect: 'read', path: pathOfOne(object.one, id), expected: goneStatuses },
		query: fieldQuery(object, fields),
	})
	return answer.status >= 400 ? undefined : recordOf(object, unwrapped(object, answer.json))
}

/** The records with exactly these values, at most 10. Throws CannotFind where the provider has no look-up. */
export async function findRecords(
	context: RecordContext,
	key: ObjectKey,
	by: Readonly<Record<string, string>>,
	fields: readonly string[],
): Promise<ExternalRecord[]> {
	return lookUp(context, await open(context, key), by, fields)
}

/** Creates a record, or updates one; returns all of it as the provider has it afterwards. */
export async function writeRecord(context: RecordContext, key: ObjectKey, write: RecordWrite): Promise<ExternalRecord> {
	const target = await open(context, key)
	const { object } = target
	const { writes } = object
	const { json, headers } = await send(context, target, write)
	const answered = unwrapped(object, json)
	const id = write.externalId ?? idOf(object, answered) ?? idAtEnd(headers.location)
	if (id === undefined)
		throw new ProviderFailed('unclear', 'invalid_answer', 'The provider took the record and did not say its id.')
	const isWhole = idOf(object, answered) !== undefined
	if (isWhole && !writes?.answersPart) return recordOf(object, answered)
	const after = object.one === null ? undefined : await readOne(context, target, id, write.fields).catch(givenUp)
	// The write is stored, whatever became of reading it: what is known of it is better than a failure.
	return after ?? (isWhole ? recordOf(object, answered) : { id, changedAt: null, isDeleted: false, data: write.data })
}

function givenUp(error: unknown): undefined {
	if (!(error instanceof ProviderFailed)) throw error
}

async function send(context: RecordContext, target: Target, { externalId, data, idempotencyKey }: RecordWrite) {
	const { object } = target
	const { writes } = object
	const call = externalId === null ? writes?.create : writes?.update
	if (!writes || !call) throw new CannotDo(`No record of ${object.name} can be ${externalId === null ? 'created' : 'changed'}.`)
	return callProvider(context, target, {
		...{ method: call.method, effect: 'write', idempotencyKey },
		path: externalId === null ? call.path : pathOfOne(call.path, externalId),
		body: bodyOf(object, writes, externalId === null ? data : await wholeObjects(context, target, externalId, data)),
	})
}

/** What is written of an object in a record, with what the provider has of it besides; lists are written as they are. */
async function wholeObjects(
	context: RecordContext,
	target: Target,
	id: string,
	data: RecordWrite['data'],
): Promise<RecordWrite['data']> {
	const { writes, one } = target.object
	const names = Object.keys(data).filter((name) => isObject(data[name]))
	if (!writes?.replacesObjects || one === null || names.length === 0) return data
	const stored = await readOne(context, target, id, names)
	// What is not read would be written over.
	if (stored?.problem) throw new CannotDo(stored.problem.reason)
	return { ...data, ...Object.fromEntries(names.map((name) => [name, merged(stored?.data[name], data[name])])) }
}

const merged = (stored: unknown, written: unknown): unknown =>
	isObject(stored) && isObject(written)
		? { ...stored, ...Object.fromEntries(Object.entries(written).map(([name, value]) => [name, merged(stored[name], value)])) }
		: written

/** A new record may be named by a header alone (RFC 9110 §15.3.2). */
const idAtEnd = (location: string | undefined) => /\/([\w.~-]+)\/?(?:[?#].*)?$/.exec(location ?? '')?.[1]

/** Removes a record; also when it is gone already. */
export async function removeRecord(context: RecordContext, key: ObjectKey, externalId: string): Promise<void> {
	const target = await open(context, key)
	const { object } = target
	const { removal, writes } = object
	if (!removal) throw new CannotDo(`No record of ${object.name} can be removed.`)
	if (removal.style === 'delete') {
		const path = pathOfOne(removal.path, externalId)
		await callProvider(context, target, { method: removal.method, effect: 'write', path, expected: goneStatuses })
		return
	}
	const { field, to, from } = removal
	const stored = await readOne(context, target, externalId, [field])
	const status = stored && valueAt(stored.data, field)
	if (!writes?.update || typeof status !== 'string' || stored?.isDeleted || status === to) return
	const data = { [object.idField]: externalId, [field]: Object.hasOwn(from, status) ? from[status] : to }
	const { method, path } = writes.update
	await callProvider(context, target, {
		...{ method, effect: 'write', path: pathOfOne(path, externalId), expected: goneStatuses },
		body: bodyOf(object, writes, data),
	})
}

/** The fields of an object: from the provider where it tells them, else from the manifest. */
export async function describeObject(context: RecordContext, key: ObjectKey): Promise<ObjectSchema> {
	return schemaOf(context, await open(context, key))
}

/** Throws UnknownObject. */
export function capabilitiesOf(connection: Pick<Connection, 'provider' | 'config'>, object: string): Capabilities {
	const { changes, one, lookUp, writes, removal, pagination } = objectOf(connection, object)
	return {
		filtersChanges: changes !== null,
		readsOne: one !== null,
		listsAtOnce: pagination.style === 'none',
		finds: lookUp !== null,
		lookUpFields: lookUp?.fields ?? [],
		writes: writes !== null,
		removes: removal !== null,
		idempotencyKeptMs: manifestOf(connection).idempotencyHeader?.keptMs ?? 0,
		lookupLagMs: lookUp?.lagMs ?? 0,
	}
}
