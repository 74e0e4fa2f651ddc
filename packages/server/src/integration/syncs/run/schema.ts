// Stops a run before it writes anything, when the provider's object no longer has what its mapping reads or writes.

import type { MappingIssue } from '../../../generated/contract.ts'
import { describeObject } from '../../connections/records/records.ts'
import { namesOf } from '../../mappings/engine/engine.ts'
import { invalidateMapping, mappings } from '../../mappings/store.ts'
import { findState, noteOfSync } from '../state-store.ts'
import { syncs } from '../store.ts'
import { RunStopped, type Session, type Way } from './session.ts'

export class SchemaChanged extends Error {}

/** The links are about the records of another account. */
export class AccountChanged extends Error {}

/** Compares the provider's object with what it was when the last run began; asks once a run. */
export async function checkSchema(session: Session): Promise<void> {
	const { plan, checkpoint, job } = session
	if (checkpoint.beganAt !== null || checkpoint.index > 0 || checkpoint.after !== '') return
	const { fields } = await describeObject(session.calls, plan.scope)
	const now = Object.fromEntries(fields.map(({ path, type }) => [path, type]))
	const known = await findState(session.db, plan.sync)
	const account = plan.connection.account?.externalId ?? known.account
	if (known.account !== undefined && account !== known.account)
		throw new AccountChanged(
			`The connection opens the account ${account}, and the sync is about the records of ${known.account}.`,
		)
	const before = known.schema
	const issues = before ? [plan.pull, plan.push].map((way) => (way ? changesIn(way, way === plan.pull, before, now) : [])) : []
	const found = issues.flat()
	if (found.length === 0 && account === known.account && JSON.stringify(before) === JSON.stringify(now)) return
	const { mappingId, reverseMappingId, organizationId } = plan.sync
	const ids = plan.sync.direction === 'outbound' ? [null, mappingId] : [mappingId, reverseMappingId]
	await job.part(async (tx) => {
		const write = await session.writing(tx)
		const sync = await syncs.lock(tx, organizationId, plan.sync.id)
		if (!sync) throw new RunStopped()
		// Who mends a mapping has seen what there is now.
		const state = { ...(await findState(tx, sync)), schema: now, ...(account !== undefined && { account }) }
		await noteOfSync(tx, sync, job.now, { state })
		for (const [at, ofMapping] of issues.entries()) {
			const id = ids[at]
			const stored = ofMapping.length > 0 && id ? await mappings.lock(tx, organizationId, id) : undefined
			if (stored?.status === 'active') await invalidateMapping(write, stored, ofMapping)
		}
	})
	if (found.length === 0) return
	const messages = found.map(({ message }) => message)
	throw new SchemaChanged(messages.slice(0, 5).join(' '))
}

type Types = Readonly<Record<string, string>>

function changesIn({ fields, definition }: Way, isPull: boolean, before: Types, now: Types): MappingIssue[] {
	return fields.flatMap((compiled, field): MappingIssue[] => {
		const path = isPull ? ('path' in compiled.origin ? namesOf(compiled.origin.path) : undefined) : namesOf(compiled.target)
		if (path === undefined || before[path] === undefined || now[path] === before[path]) return []
		const pointer = `/fields/${field}/${isPull ? 'source' : 'target'}`
		const { object } = isPull ? definition.source : definition.target
		if (now[path] === undefined)
			return [{ field, pointer, code: 'unknown_field', message: `The provider's ${object} have no field ${path} any more.` }]
		return [
			{
				field,
				pointer,
				code: 'type_mismatch',
				message: `The provider's ${object} have ${path} as ${now[path]}, and no longer as ${before[path]}.`,
			},
		]
	})
}
