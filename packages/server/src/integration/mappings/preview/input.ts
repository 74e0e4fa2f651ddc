// Which records a preview maps: those that are given, those of a connection, or stored ones.

import type { Connection, Mapping, MappingPreviewInput } from '../../../generated/contract.ts'
import { fieldError } from '../../../platform/base/errors.ts'
import type { Db } from '../../../platform/db/database.ts'
import { capabilitiesOf, UnknownObject } from '../../connections/records/records.ts'
import { requireEnabled } from '../../connections/rules.ts'
import { connections } from '../../connections/store.ts'
import { internalObjectOf } from '../systems.ts'

const mistake = (pointer: string, detail: string) => fieldError('invalid_preview', pointer, detail)

/** Throws 422 for an input that does not say, or says twice, which records to map. */
export function requireChoice(mapping: Pick<Mapping, 'target'>, input: MappingPreviewInput): void {
	const { records, connectionId, externalIds, recordIds, limit } = input
	const isInbound = internalObjectOf(mapping.target) !== undefined
	if (records) {
		if (connectionId !== undefined) throw mistake('/connectionId', 'A preview has records or connectionId, and not both.')
		const other = (['externalIds', 'recordIds', 'limit'] as const).find((name) => input[name] !== undefined)
		if (other) throw mistake(`/${other}`, `A preview with records has no ${other}.`)
		return
	}
	if (isInbound && connectionId === undefined) throw mistake('/records', 'A preview has records or connectionId.')
	if (isInbound && recordIds) throw mistake('/recordIds', 'The mapping goes to Remit: its records have externalIds.')
	if (!isInbound && externalIds) throw mistake('/externalIds', 'The mapping goes from Remit: its records have recordIds.')
	if ((externalIds ?? recordIds) && limit !== undefined) throw mistake('/limit', 'A preview has ids or a limit, and not both.')
}

/** The connection of a preview. Throws 422 for one that the mapping is not about, and 409 for one that is disabled. */
export async function requireConnection(
	db: Db,
	{ organizationId, source, target, connectionId: own }: Mapping,
	{ connectionId = '', externalIds }: MappingPreviewInput,
): Promise<Connection> {
	if (own !== null && own !== connectionId) throw mistake('/connectionId', `The mapping is about the connection ${own}.`)
	const connection = await connections.find(db, organizationId, connectionId)
	if (!connection) throw fieldError('unknown_connection', '/connectionId', `There is no connection ${connectionId}.`)
	const { system, object } = internalObjectOf(target) ? source : target
	if (system !== connection.provider)
		throw mistake('/connectionId', `The mapping is about ${system}, and the connection is one to ${connection.provider}.`)
	requireEnabled(connection)
	const { readsOne } = capabilitiesIn(connection, object)
	if (externalIds && !readsOne) throw mistake('/externalIds', `No record of ${object} can be read alone.`)
	return connection
}

export function capabilitiesIn(connection: Connection, object: string) {
	try {
		return capabilitiesOf(connection, object)
	} catch (error) {
		if (error instanceof UnknownObject) throw mistake('/connectionId', error.message)
		throw error
	}
}

/** What a preview says of a record before it is looked at. */
export const blankPreview = {
	output: null,
	action: null,
	recordId: null,
	externalId: null,
	source: null,
	current: null,
	changes: {},
} as const

export const previewedUnlessSet = 10

export const unknownRecord = (at: number, id: string) => mistake(`/recordIds/${at}`, `There is no record ${id}.`)
