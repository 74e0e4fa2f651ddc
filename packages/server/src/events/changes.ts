// What an event says of a change: the fields that differ.
import { isDeepStrictEqual } from 'node:util'

/** The fields that changed, each from what to what. */
export type Changes = Record<string, { readonly from: unknown; readonly to: unknown }>

/** Not news: every change has these. */
const always = new Set(['updatedAt', 'version'])

/** What differs between a record before and after a change. */
export function changesBetween<T extends object>(before: T, after: T): Changes {
	const fields = Object.keys(after).filter((field) => !always.has(field)) as (keyof T & string)[]
	const changed = fields.filter((field) => !isDeepStrictEqual(before[field], after[field]))
	return Object.fromEntries(changed.map((field) => [field, { from: before[field], to: after[field] }]))
}
