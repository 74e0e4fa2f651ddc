// What an error says beside its reason: the value at fault of a field, and what both sides of a conflict have. Whoever mends it sees what it is about.

import type { ConflictingField } from '../../../generated/contract.ts'
import type { Db } from '../../../platform/db/database.ts'
import { type CompiledField, type FieldError, namesOf } from '../../mappings/engine/engine.ts'
import { type Path, readPath } from '../../mappings/engine/path.ts'
import { Budget, FieldFailure, RecordTooLarge } from '../../mappings/engine/values.ts'
import { hashOf } from '../../mappings/hashes.ts'
import type { LinkScope } from '../../mappings/link-store.ts'
import { mapLinked } from '../../mappings/links.ts'
import type { Output } from '../../mappings/outputs.ts'
import { findSeen } from '../records/link-store.ts'
import type { Way } from '../run/session.ts'

const longest = 200

/** What is called so may be a secret, and stays out of errors. */
const secretly = /pass(word|wd|phrase)|secret|token|credential|authorization|api[-_]?key|private[-_]?key/i

/** The errors with the values that their fields read of a record; none of a value that is missing. */
export const withValues = (errors: readonly FieldError[], fields: readonly CompiledField[], record: object): FieldError[] =>
	errors.map((error) => {
		const field = fields.find(({ spec: { target } }) => target === error.field)
		const path = field && 'path' in field.origin ? field.origin.path : undefined
		const value = path && !secretly.test(`${error.field} ${namesOf(path)}`) ? textOf(path, record) : undefined
		return value === undefined ? error : { ...error, value }
	})

function textOf(path: Path, record: object): string | undefined {
	try {
		return cut(readPath(path, record, new Budget())) ?? undefined
	} catch (error) {
		// An object, which the reason speaks of: what is in it may be a secret.
		if (error instanceof FieldFailure || error instanceof RecordTooLarge) return undefined
		throw error
	}
}

/** The beginning of a value as text; null for nothing. */
function cut(value: unknown): string | null {
	if (value === undefined || value === null) return null
	const text = typeof value === 'string' ? value : JSON.stringify(value)
	return text.slice(0, longest).toWellFormed()
}

const mostDifferences = 20

/** A field of a conflict; `base` is absent where nobody knows it. */
export interface Sides {
	readonly field: string
	readonly provider: unknown
	readonly remit: unknown
	readonly base?: unknown
}

/** Why nobody has deleted a record whose own one at the provider is gone. */
export const goneReason = ({ id }: { readonly id: string }, externalId: string | null) =>
	`The record ${id} has changed here, and ${externalId} was deleted at the provider.`

/** The error of a conflict, with the fields in which both sides differ. */
export const conflictError = (reason: string, fields: readonly Sides[], version: string) => ({
	field: '',
	code: 'conflict',
	reason,
	version,
	differences: fields
		.filter(({ field }) => !secretly.test(field))
		.slice(0, mostDifferences)
		.map(
			(sides): ConflictingField => ({
				field: sides.field,
				provider: cut(sides.provider),
				remit: cut(sides.remit),
				...('base' in sides && { base: cut(sides.base) }),
			}),
		),
})

/** What the provider's record was when a run last took it in or wrote it; undefined where that is not kept. */
export async function lastSeenOf(db: Db, scope: LinkScope, externalId: string | null): Promise<Output | undefined> {
	const link = externalId === null ? undefined : await findSeen(db, scope, externalId)
	return link?.lastSeen == null ? undefined : JSON.parse(link.lastSeen)
}

/** The same, as the mapping makes it a record of Remit. */
export async function baseOf(db: Db, scope: LinkScope, { fields }: Way, externalId: string | null): Promise<Output | undefined> {
	const seen = await lastSeenOf(db, scope, externalId)
	return (seen && (await mapLinked(db, { ...scope, isOutbound: false }, fields, seen)).output) ?? undefined
}

/** The fields of a conflict of a record that comes in: of one that was deleted on a side, those that have changed on the other. */
export function sidesOf(
	names: readonly string[],
	{ provider, remit, base }: { readonly [Side in 'provider' | 'remit' | 'base']: Output | undefined },
): Sides[] {
	const there = provider ?? remit
	return names
		.filter((name) => (provider && remit) || hashOf(there?.[name] ?? null) !== hashOf(base?.[name] ?? null))
		.map((field) => ({ field, provider: provider?.[field], remit: remit?.[field], ...(base && { base: base[field] }) }))
}
