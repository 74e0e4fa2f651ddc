// Maps records without writing them: what the fields make of each, and what would happen to it.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { todayIn } from '../base/dates.ts'
import { ApiError } from '../base/errors.ts'
import { checkParty } from '../base/party-fields.ts'
import { companies } from '../companies/store.ts'
import { type JsonSchema, schemas } from '../contract/document.ts'
import { violationIn } from '../contract/fast-validator.ts'
import { toValidationError } from '../contract/validation-errors.ts'
import type { WriteContext } from '../db/write-context.ts'
import { changesBetween } from '../events/changes.ts'
import type {
	CompanyCreate,
	InvoiceInput,
	Mapping,
	MappingPreviewInput,
	PreviewedRecord,
	ProblemError,
} from '../generated/contract.ts'
import { asRead } from '../invoices/invoice.ts'
import { requireInvoice } from '../invoices/store.ts'
import { previewChange, previewInvoice } from '../invoices/write.ts'
import { type CompiledField, type FieldError, mapRecord } from './engine/engine.ts'
import { findMatches } from './match-store.ts'
import { type InternalObject, internalObjectOf, internalObjects } from './systems.ts'
import { requireSound, validate } from './validate.ts'

type Output = Record<string, unknown>
type Changes = PreviewedRecord['changes']

/** Maps records by a mapping, with `fields` in place of its own if there are any. */
export async function previewMapping(write: WriteContext, stored: Mapping, { records, fields }: MappingPreviewInput) {
	const mapping = { ...stored, ...(fields && { fields }) }
	const compiled = requireSound(mapping)
	const previewed: PreviewedRecord[] = []
	for (const record of records) {
		// A record may take 25 ms, and other requests wait for no more than one.
		await nextTurn()
		previewed.push(await previewRecord(write, mapping, compiled, record))
	}
	return { validation: validate(mapping, compiled), records: previewed }
}

async function previewRecord(
	write: WriteContext,
	{ target, match }: Mapping,
	fields: readonly CompiledField[],
	record: unknown,
): Promise<PreviewedRecord> {
	const { output, errors } = mapRecord(fields, record)
	const object = internalObjectOf(target)
	const seen = { output, errors: [...errors], action: null, recordId: null, changes: {} }
	if (!object) return seen
	if (!output) return { ...seen, action: 'fail' }
	const wrong = violations(object, output)
	if (wrong.length > 0) return { ...seen, errors: [...errors, ...wrong], action: 'fail' }
	try {
		return { ...seen, ...(await fate(write, object, output, match)) }
	} catch (error) {
		if (!(error instanceof ApiError)) throw error
		return { ...seen, errors: [...errors, ...rejected(error)], action: 'fail' }
	}
}

type Fate = Pick<PreviewedRecord, 'action' | 'recordId' | 'changes'>

/** What would happen to an output that fits the contract. Throws the error with which the record would be rejected. */
async function fate(write: WriteContext, object: InternalObject, output: Output, match: Mapping['match']): Promise<Fate> {
	const input = object === 'company' ? checkParty(output as unknown as CompanyCreate) : output
	const [id, second] = await matching(write, object, input as Output, match)
	const none = { recordId: null, changes: {} }
	if (id === undefined) {
		requireWhole(object, output)
		if (object === 'invoice') await previewInvoice(write, output as InvoiceInput)
		return { ...none, action: 'create' }
	}
	if (second !== undefined && match?.onMultiple !== 'first')
		return { ...none, action: match?.onMultiple === 'skip' ? 'skip' : 'conflict' }
	const changes = await (object === 'company' ? companyChanges : invoiceChanges)(write, id, input as Output)
	return { action: Object.keys(changes).length > 0 ? 'update' : 'unchanged', recordId: id, changes }
}

/** The ids of the stored records that match; none when the record lacks one of the keys. */
async function matching(write: WriteContext, object: InternalObject, output: Output, match: Mapping['match']): Promise<string[]> {
	const values = Object.fromEntries((match?.keys ?? []).map((key) => [key, output[key]]))
	const isWhole = Object.values(values).every((value) => typeof value === 'string' && value !== '')
	if (!match || !isWhole) return []
	return findMatches(write.db, object, write.organization.id, values as Record<string, string>)
}

async function companyChanges({ db, organization }: WriteContext, id: string, input: Output): Promise<Changes> {
	const stored = await companies.find(db, organization.id, id)
	if (!stored) throw companies.notFound(id)
	return changesBetween(stored, { ...stored, ...input })
}

async function invoiceChanges(write: WriteContext, id: string, input: Output): Promise<Changes> {
	const { db, origin, organization } = write
	const today = todayIn(organization.timeZone, origin.now)
	const stored = await requireInvoice(db, organization.id, id)
	return changesBetween(asRead(stored, today), asRead(await previewChange(write, stored, input), today))
}

/** Where the fields of an output break the contract, each at most once. */
function violations(object: InternalObject, output: Output): FieldError[] {
	const properties = schemas[internalObjects[object].write]?.properties as Record<string, JsonSchema>
	return Object.entries(output).flatMap(([name, value]): FieldError[] => {
		const schema = Object.hasOwn(properties, name) ? properties[name] : undefined
		if (!schema) return [{ field: name, code: 'unknown_field', reason: `Nobody can write ${name}.` }]
		const violation = violationIn(schema, value)
		if (!violation) return []
		return rejected(toValidationError([violation], value, violation)).map((error) => ({ ...error, field: name + error.field }))
	})
}

/** A new record has every field that it needs. */
function requireWhole(object: InternalObject, output: Output): void {
	const violation = violationIn(schemas[internalObjects[object].write] as JsonSchema, output)
	if (violation) throw toValidationError([violation], output, violation)
}

/** The errors of a request as errors of fields. */
const rejected = ({ code, message, errors = [{ code, detail: message }] }: ApiError): FieldError[] =>
	errors.map(({ pointer = '', code, detail }: ProblemError) => ({ field: fieldAt(pointer), code, reason: detail }))

/** `/lineItems/0/taxes` → `lineItems[0].taxes`. */
const fieldAt = (pointer: string) =>
	pointer
		.replace(/\/(\d+)(?=\/|$)/g, '[$1]')
		.replaceAll('/', '.')
		.replace(/^\./, '')
