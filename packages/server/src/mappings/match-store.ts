import type { InternalObject } from './systems.ts'

/** The fields by which stored records are found. */
const matchKeys: Readonly<Record<InternalObject, readonly string[]>> = {
	company: ['name', 'domain', 'vatId', 'billingEmail'],
	invoice: ['invoiceNumber'],
}

export const matchKeysOf = (object: InternalObject): readonly string[] => matchKeys[object]
