// A mapping that says something else than when the links of its sync were last compared. What it makes otherwise of a record is no change of
// that record: of two that nobody has touched none is in conflict, and what is only now mapped counts like the fields of a first link.

import { blanks } from '../../../generated/tables.ts'
import { ApiError } from '../../../platform/base/errors.ts'
import type { Db } from '../../../platform/db/database.ts'
import type { Shown } from '../../../platform/db/record-door.ts'
import type { ExternalRecord } from '../../connections/records/records.ts'
import { isAsWritten } from '../../mappings/engine/as-written.ts'
import { type CompiledField, mapRecord } from '../../mappings/engine/engine.ts'
import type { Links } from '../../mappings/engine/transforms.ts'
import { hashOf, hashOfFields } from '../../mappings/hashes.ts'
import type { Link, LinkScope } from '../../mappings/link-store.ts'
import { mapLinked } from '../../mappings/links.ts'
import { inputOf, type Output } from '../../mappings/outputs.ts'
import { differing } from '../../mappings/overruled.ts'
import { type InternalObject, internalObjects } from '../../mappings/systems.ts'
import type { Way } from '../run/session.ts'
import { isAlike, valueAt } from './first-link.ts'

/** A provider's record as the mapping before makes it. */
export interface MappedBefore {
	readonly hash: string
	readonly input: Output
}

/** Undefined where the mapping is the same, or could not map the record. */
export function mapBefore(
	kind: InternalObject,
	{ before }: Way,
	{ data }: ExternalRecord,
	links: Links,
): MappedBefore | undefined {
	const output = before && mapRecord(before.fields, data, links).output
	if (!output) return undefined
	try {
		return { hash: hashOf(output), input: inputOf(kind, output) }
	} catch (error) {
		// It was an error, which the mapping of now may have mended.
		if (error instanceof ApiError) return undefined
		throw error
	}
}

/** What a record that comes in means for the one of Remit that it is linked with. */
interface Standing {
	/** What is to be written. */
	readonly meant: Output
	/** Whether writing that would lose something that Remit alone has. */
	readonly hasMoved: boolean
	/** What Remit had when both were in step, of a record that was changed here since and stays so. */
	readonly base?: Output
}

const isEmpty = (value: unknown) => value === undefined || value === null || value === ''

/** `input`: what the record says, without what was overruled. */
export function standingOf(
	kind: InternalObject,
	{ writes, before }: Way,
	input: Output,
	past: MappedBefore | undefined,
	link: Link,
	shown: Shown,
): Standing {
	const isMoved = hashOfFields(shown, writes) !== link.internalHash
	if (!before) return { meant: input, hasMoved: isMoved }
	// A run that was broken off has left links of either mapping.
	const wasChanged = isMoved && hashOfFields(shown, before.writes) !== link.internalHash
	const blank: Output = blanks[internalObjects[kind].read]
	const isSaid = (name: string) => !isEmpty(shown[name]) && hashOf(shown[name]) !== hashOf(blank[name] ?? null)
	if (past?.hash !== link.externalHash) {
		const isTaken = (name: string) => !before.writes.includes(name) && isSaid(name)
		return { meant: input, hasMoved: wasChanged || differing(input, shown).some(isTaken) }
	}
	const isNews = (name: string) => hashOf(input[name]) !== hashOf(past?.input[name] ?? null)
	const part = (isMeant: boolean): Output =>
		Object.fromEntries(Object.entries(input).filter(([name]) => isNews(name) === isMeant))
	const meant = part(true)
	const isTaken = (name: string) =>
		before.writes.includes(name) ? wasChanged && hashOf(shown[name] ?? null) !== hashOf(past?.input[name] ?? null) : isSaid(name)
	const hasMoved = differing(meant, shown).some(isTaken)
	return { meant, hasMoved, ...(wasChanged && { base: { ...shown, ...part(false) } }) }
}

const mappedOut = async (db: Db, scope: LinkScope, fields: readonly CompiledField[], shown: Shown) =>
	(await mapLinked(db, { ...scope, isOutbound: true }, fields, shown)).output

const otherIn = (fields: readonly CompiledField[], output: Output, past: Output) =>
	fields.filter((field) => hashOf(valueAt(field, output)) !== hashOf(valueAt(field, past)))

/** Of a record that nobody has changed here since it went out: the fields by which the mapping makes something else of it; undefined of any other one. */
export async function newsOf(
	db: Db,
	scope: LinkScope,
	{ fields, before }: Way,
	shown: Shown,
	{ pending, pushedHash }: Link,
): Promise<readonly CompiledField[] | undefined> {
	if (!before || pending) return undefined
	const [output, past] = [await mappedOut(db, scope, fields, shown), await mappedOut(db, scope, before.fields, shown)]
	return output && past && hashOf(past) === pushedHash ? otherIn(fields, output, past) : undefined
}

/** What the provider has of a record that has come in, as a mapping to it says it: as the one before did, while what is only now mapped has still to go out. */
export async function sentBy(
	db: Db,
	scope: LinkScope,
	{ fields, before }: Way,
	{ data }: ExternalRecord,
	shown: Shown,
): Promise<Output | null> {
	const output = await mappedOut(db, scope, fields, shown)
	const past = before && (await mappedOut(db, scope, before.fields, shown))
	return output && past && !isAlike(otherIn(fields, output, past), output, data) ? past : output
}

/** The fields that a mapping to the provider has written before, and those that are not empty in Remit: what is empty takes nothing away from a field that is only now mapped. */
export const saidIn = ({ fields, before }: Way, output: Output): CompiledField[] =>
	fields.filter((field) => !isAdded(before, field) || !isEmpty(valueAt(field, output)))

const isAdded = (before: Way['before'], { spec: { target } }: CompiledField) =>
	before !== undefined && !before.fields.some(({ spec }) => spec.target === target)

/** Whether the provider has something else in a field that is only now mapped. */
export const meetsOther = ({ fields, before }: Way, output: Output, { data }: ExternalRecord): boolean =>
	fields.some((field) => {
		const [here, there] = [valueAt(field, output), valueAt(field, data)]
		return isAdded(before, field) && !isEmpty(here) && !isEmpty(there) && !isAsWritten(here, there)
	})
