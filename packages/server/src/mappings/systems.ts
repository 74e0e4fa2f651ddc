// The systems that a mapping may name, and their objects.
import type { MappingSide } from '../generated/contract.ts'
import type { ValueType } from './engine/values.ts'

/** The objects of Remit itself, with the schemas in the contract of what a read answers and of what a caller may write. */
export const internalObjects = {
	company: { read: 'Company', write: 'CompanyCreate' },
	invoice: { read: 'Invoice', write: 'InvoiceInput' },
} as const

export type InternalObject = keyof typeof internalObjects

/** The objects of each external system; null: any. */
const externalObjects: Readonly<Record<string, readonly string[] | null>> = {
	hubspot: ['companies'],
	xero: ['contacts', 'invoices'],
	stripe: ['customers', 'invoices'],
	http_json: null,
}

/** The fields of an external object with their types; undefined when nobody knows them. */
export const objectFieldsOf = (_system: string, _object: string): ReadonlyMap<string, ValueType> | undefined => undefined

/** The object of a side that is Remit itself; undefined for an external one. */
export const internalObjectOf = ({ system, object }: MappingSide): InternalObject | undefined =>
	system === 'internal' && Object.hasOwn(internalObjects, object) ? (object as InternalObject) : undefined

/** What is wrong with a side: its field and the reason; undefined if nothing is. */
export function sideMistake({ system, object }: MappingSide): { field: 'system' | 'object'; reason: string } | undefined {
	if (system !== 'internal' && !Object.hasOwn(externalObjects, system))
		return { field: 'system', reason: `There is no system ${system}.` }
	const objects = system === 'internal' ? Object.keys(internalObjects) : externalObjects[system]
	if (!objects || objects.includes(object)) return undefined
	return { field: 'object', reason: `${system} has no object ${object}; it has ${objects.join(', ')}.` }
}
