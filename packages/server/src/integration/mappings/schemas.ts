// The fields of a connection's object, to validate mappings by. Asked for outside transactions, and remembered for a while.

import type { Mapping } from '../../generated/contract.ts'
import type { Services } from '../../platform/outside/services.ts'
import { describeObject, ProviderFailed, type RecordContext, UnknownObject } from '../connections/records/records.ts'
import type { Known } from './external-fields.ts'
import { externalSideOf } from './systems.ts'

/** How long the fields of an object are taken as they were. */
const rememberedMs = 3 * 60_000
const mostRemembered = 1_000
/** A provider that takes longer is one that does not answer: whoever saves a mapping waits for it. */
const patienceMs = 5_000

interface Remembered {
	readonly until: number
	readonly fields: Known
}

/** Tests run several servers in one process. */
const memories = new WeakMap<Services, Map<string, Remembered>>()

export type FieldsThere = Known | undefined

/** Undefined without a connection, and where its provider does not answer: the mapping is then validated by what the manifest says. */
export async function fieldsThere(
	calls: RecordContext,
	mapping: Pick<Mapping, 'organizationId' | 'source' | 'target'> & { readonly connectionId?: string | null },
): Promise<FieldsThere> {
	const { organizationId, connectionId } = mapping
	if (connectionId == null) return undefined
	const { object } = externalSideOf(mapping)
	const memory = memories.get(calls.services) ?? new Map<string, Remembered>()
	memories.set(calls.services, memory)
	const name = JSON.stringify([organizationId, connectionId, object])
	const remembered = memory.get(name)
	const left = (remembered?.until ?? 0) - calls.now()
	// A longer one began before the clock was set back.
	if (remembered && left > 0 && left <= rememberedMs) return remembered.fields
	const fields = await ask(calls, { organizationId, connectionId, object })
	// Only what was asked for costs a call.
	if (fields?.allBelow == null) return fields
	if (memory.size >= mostRemembered) memory.clear()
	memory.set(name, { until: calls.now() + rememberedMs, fields })
	return fields
}

async function ask(
	calls: RecordContext,
	key: { readonly organizationId: string; readonly connectionId: string; readonly object: string },
): Promise<FieldsThere> {
	const patience = AbortSignal.timeout(patienceMs)
	try {
		const asked = { ...calls, signal: AbortSignal.any([calls.signal, patience]) }
		const { fields, allBelow, lookUpFields } = await describeObject(asked, key)
		return { ...key, fields, allBelow, lookUpFields }
	} catch (error) {
		if (error instanceof UnknownObject) return { ...key, fields: null, allBelow: null, lookUpFields: null }
		if (error instanceof ProviderFailed || (patience.aborted && !calls.signal.aborted)) return undefined
		throw error
	}
}
