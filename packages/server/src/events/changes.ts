// Computes the `changes` of an event: the fields in which a record differs before and after a change.
import { isDeepStrictEqual } from 'node:util'

/** The fields that changed, each with its old and new value. */
export type Changes = Record<string, { readonly from: unknown; readonly to: unknown }>

/** Left out, because they differ in every change. */
const ignored = new Set(['updatedAt', 'version'])

export function changesBetween<T extends object>(before: T, after: T): Changes {
	const fields = Object.keys(after).filter((field) => !ignored.has(field)) as (keyof T & string)[]
	const changed = fields.filter((field) => !isDeepStrictEqual(before[field], after[field]))
	return Object.fromEntries(changed.map((field) => [field, { from: before[field], to: after[field] }]))
}
