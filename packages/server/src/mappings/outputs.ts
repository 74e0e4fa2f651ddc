// What the fields made of a record, as what a caller would write: whether it fits the contract, and which stored record it matches. A preview
// and a sync ask the same.
import type { ApiError } from '../base/errors.ts'
import { checkParty } from '../base/party-fields.ts'
import { type JsonSchema, schemas } from '../contract/document.ts'
import { excerpt } from '../contract/excerpt.ts'
import { violationIn, violationsIn } from '../contract/fast-validator.ts'
import { toValidationError } from '../contract/validation-errors.ts'
import type { Db } from '../db/database.ts'
import type { CompanyCreate, Mapping, ProblemError } from '../generated/contract.ts'
import type { FieldError } from './engine/engine.ts'
import { findMatches } from './match-store.ts'
import { type InternalObject, internalObjects } from './systems.ts'

export type Output = Readonly<Record<string, unknown>>

/** The output as it is stored. Throws the error with which a caller's record would be rejected. */
export const inputOf = (object: InternalObject, output: Output): Output =>
	object === 'company' ? (checkParty(output as unknown as CompanyCreate) as unknown as Output) : output

/** The ids of the stored records that match; none when the record lacks one of the keys. */
export async function matching(
	db: Db,
	organizationId: string,
	object: InternalObject,
	output: Output,
	match: Mapping['match'],
	limit?: number,
): Promise<string[]> {
	const values = Object.fromEntries((match?.keys ?? []).map((key) => [key, output[key]]))
	const isWhole = Object.values(values).every((value) => typeof value === 'string' && value !== '')
	if (!match || !isWhole) return []
	return findMatches(db, object, organizationId, values as Record<string, string>, limit)
}

/** Where the fields of an output break the contract, in the words of the answer to a caller who writes the same. */
export function violations(object: InternalObject, output: Output): FieldError[] {
	const whole = schemas[internalObjects[object].write] as JsonSchema
	const properties = whole.properties as Record<string, JsonSchema>
	return Object.entries(output).flatMap(([name, value]): FieldError[] => {
		const schema = Object.hasOwn(properties, name) ? properties[name] : undefined
		const error = schema ? invalid(schema, value) : invalid(unknownOnly, { [name]: value })
		return error ? rejected(error, schema ? name : '') : []
	})
}

/** Takes no field at all. */
const unknownOnly: JsonSchema = { type: 'object', additionalProperties: false }

/** A new record has every field that it needs. */
export function requireWhole(object: InternalObject, output: Output): void {
	const error = invalid(schemas[internalObjects[object].write] as JsonSchema, output)
	if (error) throw error
}

/** The error of a caller whose body, or a part of it, is not what the contract says. */
function invalid(schema: JsonSchema, value: unknown): ApiError | undefined {
	const first = violationIn(schema, value)
	return first && toValidationError(violationsIn(schema, excerpt(schema, value)), { body: value }, first)
}

/** How many mistakes of a field are named. */
const mostOfField = 10

/** The errors of a request, or of a field of it, as errors of fields. */
export const rejected = ({ code, message, errors = [{ code, detail: message }] }: ApiError, field = ''): FieldError[] =>
	errors.slice(0, mostOfField).map(({ pointer = '', code, detail }: ProblemError) => ({
		field: fieldAt(`/${field}${pointer}`),
		code,
		reason: detail,
	}))

/** `/lineItems/0/taxes` → `lineItems[0].taxes`. */
const fieldAt = (pointer: string) =>
	pointer
		.replace(/\/(\d+)(?=\/|$)/g, '[$1]')
		.replaceAll('/', '.')
		.replace(/^\.+/, '')
