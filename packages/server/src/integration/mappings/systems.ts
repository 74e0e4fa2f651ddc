// The systems that a mapping may name, Remit itself and the providers of connections, and their objects.

import type { MappingSide } from '../../generated/contract.ts'
import type { RecordKind } from '../../platform/db/record-door.ts'
import { findProvider } from '../connections/providers/providers.ts'

/** The objects of Remit itself, with the schemas in the contract of what a read answers and of what a caller may write. */
export const internalObjects = {
	company: { read: 'Company', write: 'CompanyCreate' },
	invoice: { read: 'Invoice', write: 'InvoiceInput' },
} as const satisfies Record<RecordKind, object>

export type InternalObject = keyof typeof internalObjects

/** The object of a side that is Remit itself; undefined for an external one. */
export const internalObjectOf = ({ system, object }: MappingSide): InternalObject | undefined =>
	system === 'internal' && Object.hasOwn(internalObjects, object) ? (object as InternalObject) : undefined

/** The side that is no Remit. */
export const externalSideOf = ({ source, target }: { source: MappingSide; target: MappingSide }): MappingSide =>
	target.system === 'internal' ? source : target

/** What is wrong with a side: its field and the reason; undefined if nothing is. */
export function sideMistake({ system, object }: MappingSide): { field: 'system' | 'object'; reason: string } | undefined {
	const manifest = findProvider(system)
	if (system !== 'internal' && !manifest) return { field: 'system', reason: `There is no system ${system}.` }
	const objects = manifest ? manifest.objects.map(({ name }) => name) : Object.keys(internalObjects)
	// An API that a connection describes has any object.
	if (objects.length === 0 || objects.includes(object)) return undefined
	return { field: 'object', reason: `${system} has no object ${object}; it has ${objects.join(', ')}.` }
}
