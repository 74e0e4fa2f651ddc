// The fields of an external object: as its connection tells them, else as the manifest of its provider does.

import type { Mapping, ProviderField } from '../../generated/contract.ts'
import { findProvider, isLookedUpBy } from '../connections/providers/providers.ts'
import { namesOf } from './engine/engine.ts'
import type { Path } from './engine/path.ts'
import type { ValueType } from './engine/values.ts'

/** What a connection tells of an object. */
export interface Known {
	readonly connectionId: string
	readonly object: string
	/** Null: the connection has no such object. */
	readonly fields: readonly ProviderField[] | null
	/** Where the paths of all fields begin that the provider tells: below it there are no others. Null where there may be others anywhere. */
	readonly allBelow: string | null
	/** By the values of which its records are found; null without the object. */
	readonly lookUpFields: readonly string[] | null
}

/** Whether a number is whole, or how a date is written, no provider says. */
const typeOfField: Readonly<Partial<Record<string, ValueType>>> = { string: 'text', boolean: 'boolean' }

/** The type of a field; any when nobody knows the field, since each account may have its own. */
export function externalType({ system, object }: Mapping['source'], path: Path, known: Known | undefined): ValueType {
	const name = namesIn(path)
	const fields = known?.fields ?? findProvider(system)?.objects.find((one) => one.name === object)?.fields
	return typeOfField[fields?.find((field) => field.path === name)?.type ?? ''] ?? 'any'
}

const namesIn = (path: Path) => path.map((step) => ('name' in step ? step.name : '')).join('.')

/** Why the records of an object are not found by the values of a path; undefined when they are, or nobody knows. */
export function noLookUp({ system, object }: Mapping['target'], path: string, known: Known | undefined): string | undefined {
	const told = findProvider(system)?.objects.find((one) => one.name === object)
	const fields = known ? known.lookUpFields : told && (told.lookUp?.fields ?? [])
	return fields ? noLookUpAmong(fields, object, path) : undefined
}

/** Why the records of an object are not found by the values of a path; undefined when they are. */
export function noLookUpAmong(fields: readonly string[], object: string, path: string): string | undefined {
	if (isLookedUpBy(fields, path)) return undefined
	return fields.length === 0
		? `The provider looks up no ${object}, so that none is found by ${path}.`
		: `The provider looks up ${object} by ${fields.join(', ')}, and not by ${path}.`
}

/** Why a path leads to no field, with the name that is nearest; undefined when it may lead to one. */
export function unknownField(path: Path, known: Known | undefined): string | undefined {
	if (!known?.fields || known.allBelow === null) return undefined
	const name = namesOf(path)
	if (!name.startsWith(known.allBelow) || known.fields.some((field) => field.path === name)) return undefined
	const near = nearest(
		name,
		known.fields.map((field) => field.path),
	)
	return `The provider's ${known.object} have no field ${name}.${near === undefined ? '' : ` Is it ${near}?`}`
}

/** How many characters a name may differ by. */
const mostEdits = 3

function nearest(name: string, names: readonly string[]): string | undefined {
	let best: { readonly name: string; readonly edits: number } | undefined
	for (const other of names) {
		if (Math.abs(other.length - name.length) > mostEdits) continue
		const edits = editsBetween(name, other)
		if (edits <= mostEdits && edits < (best?.edits ?? mostEdits + 1)) best = { name: other, edits }
	}
	return best?.name
}

/** Levenshtein's distance. */
function editsBetween(a: string, b: string): number {
	let row = Array.from({ length: b.length + 1 }, (_, at) => at)
	for (let i = 1; i <= a.length; i++) {
		const next = [i]
		for (let j = 1; j <= b.length; j++) {
			const swapped = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1)
			next.push(Math.min(swapped, (row[j] as number) + 1, (next[j - 1] as number) + 1))
		}
		row = next
	}
	return row[b.length] as number
}
