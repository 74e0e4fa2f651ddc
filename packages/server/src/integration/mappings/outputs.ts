// What the fields made of a record, as what a caller would write: whether it fits the contract, and which stored record it matches. A preview
// and a sync ask the same.

import type { CompanyCreate, Mapping, ProblemError } from '../../generated/contract.ts'
import type { ApiError } from '../../platform/base/errors.ts'
import { checkParty } from '../../platform/base/party-fields.ts'
import { type JsonSchema, schemas } from '../../platform/contract/document.ts'
import { excerpt } from '../../platform/contract/excerpt.ts'
import { violationIn, violationsIn } from '../../platform/contract/fast-validator.ts'
import { toValidationError } from '../../platform/contract/validation-errors.ts'
import { type Db, madeOnce } from '../../platform/db/database.ts'
import type { FieldError } from './engine/engine.ts'
import { findMatches } from './match-store.ts'
import { type InternalObject, internalObjects } from './systems.ts'

export type Output = Readonly<Record<string, unknown>>

/** The output as it is stored. Throws the error with which a caller's record would be rejected. */
export function inputOf(object: InternalObject, output: Output): Output {
	const input = structuredClone(output)
	// Trims the texts of which the contract says so.
	violationIn(partsOf(object), input)
	return object === 'company' ? (checkParty(input as unknown as CompanyCreate) as unknown as Output) : input
}

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
	return Object.entries(output).flatMap(([name, value]): FieldError[] => {
		const error = invalid(partsOf(object), structuredClone({ [name]: value }))
		return error ? rejected(error) : []
	})
}

/** Takes any of the fields of a record, and no other. */
const partsOf = madeOnce((object: InternalObject): JsonSchema => {
	const { properties } = schemas[internalObjects[object].write] as JsonSchema
	return { type: 'object', properties, additionalProperties: false }
})

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

/** The errors of a request as errors of fields. */
export const rejected = ({ code, message, errors = [{ code, detail: message }] }: ApiError): FieldError[] =>
	errors.slice(0, mostOfField).map(({ pointer = '', code, detail }: ProblemError) => ({
		field: fieldAt(pointer),
		code,
		reason: detail,
	}))

/** `/lineItems/0/taxes` → `lineItems[0].taxes`. */
const fieldAt = (pointer: string) =>
	pointer
		.replace(/\/(\d+)(?=\/|$)/g, '[$1]')
		.replaceAll('/', '.')
		.replace(/^\.+/, '')
