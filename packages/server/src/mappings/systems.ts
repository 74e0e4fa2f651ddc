// The systems that a mapping may name, Remit itself and the providers of connections, and their objects.
import { findProvider } from '../connections/providers/providers.ts'
import type { MappingSide } from '../generated/contract.ts'
import type { ValueType } from './engine/values.ts'

/** The objects of Remit itself, with the schemas in the contract of what a read answers and of what a caller may write. */
export const internalObjects = {
	company: { read: 'Company', write: 'CompanyCreate' },
	invoice: { read: 'Invoice', write: 'InvoiceInput' },
} as const

export type InternalObject = keyof typeof internalObjects

/** Whether a number is whole, or how a date is written, no manifest says. */
const typeOfField: Readonly<Partial<Record<string, ValueType>>> = { string: 'text', boolean: 'boolean' }

/** The type of a field of an external object; any when nobody knows the field, since each account may have its own. */
export function externalTypeOf(system: string, object: string, path: string): ValueType {
	const fields = findProvider(system)?.objects.find(({ name }) => name === object)?.fields
	return typeOfField[fields?.find((field) => field.path === path)?.type ?? ''] ?? 'any'
}

/** The object of a side that is Remit itself; undefined for an external one. */
export const internalObjectOf = ({ system, object }: MappingSide): InternalObject | undefined =>
	system === 'internal' && Object.hasOwn(internalObjects, object) ? (object as InternalObject) : undefined

/** What is wrong with a side: its field and the reason; undefined if nothing is. */
export function sideMistake({ system, object }: MappingSide): { field: 'system' | 'object'; reason: string } | undefined {
	const manifest = findProvider(system)
	if (system !== 'internal' && !manifest) return { field: 'system', reason: `There is no system ${system}.` }
	const objects = manifest ? manifest.objects.map(({ name }) => name) : Object.keys(internalObjects)
	// An API that a connection describes has any object.
	if (objects.length === 0 || objects.includes(object)) return undefined
	return { field: 'object', reason: `${system} has no object ${object}; it has ${objects.join(', ')}.` }
}
