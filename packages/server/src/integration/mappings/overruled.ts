// Which values of the provider lost a conflict against Remit: they stay overruled until they change, whatever else changes there.
import { hashOf } from './hashes.ts'
import type { Overruled } from './link-store.ts'
import type { Output } from './outputs.ts'

/** The fields that were overruled, and that the provider has left as they were; null for none. */
export function stillOverruled(overruled: Overruled | null, output: Output): Overruled | null {
	const names = Object.entries(overruled ?? {}).flatMap(([name, hash]) => (hashOf(output[name]) === hash ? name : []))
	return overruledOf(output, names)
}

/** The values of these fields as overruled; null for none. */
export const overruledOf = (output: Output, names: readonly string[]): Overruled | null =>
	names.length === 0 ? null : Object.fromEntries(names.map((name) => [name, hashOf(output[name])]))

/** The names of the fields that a record of Remit has otherwise. */
export const differing = (input: Output, shown: Output): string[] =>
	Object.keys(input).filter((name) => hashOf(input[name]) !== hashOf(shown[name] ?? null))

/** The fields of a record that were overruled, and the others. */
export function split(input: Output, overruled: Overruled | null): readonly [overruled: Output, others: Output] {
	const isOverruled = ([name]: [string, unknown]) => overruled !== null && Object.hasOwn(overruled, name)
	const fields = Object.entries(input)
	return [Object.fromEntries(fields.filter(isOverruled)), Object.fromEntries(fields.filter((field) => !isOverruled(field)))]
}
