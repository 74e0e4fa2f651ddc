// Writes the audit log: one entry for each change of a record, in the change's transaction. The table is append only (its
// triggers refuse anything but an erasure), and no retention removes from it.
import { isDeepStrictEqual } from 'node:util'
import type { AuditAction, ResourceKind } from '../../generated/contract.ts'
import { newTimedId } from '../base/ids.ts'
import type { Origin } from '../base/origin.ts'
import { query } from './database.ts'
import { RowList, type Part as Rows } from './row-lists.ts'
import type { WriteContext } from './write-context.ts'

/** What a change is written with: its transaction, and who makes it. */
export type Writing = Pick<WriteContext, 'db'> & { readonly origin: Origin }

/** JSON text, or an object that becomes it. */
type Values = string | Readonly<Record<string, unknown>> | null

export interface Change {
	readonly organizationId: string
	readonly action: AuditAction
	readonly resource: ResourceKind
	readonly resourceId: string
	/** The fields that changed; of a deleted record all. Never a secret. */
	readonly before?: Values
	/** The same fields now; of a new record all. */
	readonly after?: Values
}

interface Row {
	readonly organizationId: string
	readonly id: string
	readonly createdAt: number
	readonly action: AuditAction
	readonly resourceType: ResourceKind
	readonly resourceId: string
	readonly operation: string
	readonly actorType: string
	readonly actorId: string | null
	readonly address: string | null
	readonly requestId: string | null
	readonly before: Values
	readonly after: Values
}

const insertion = query<Row>((knex, row) => knex('audit_log').insert(row))

const list = new RowList<Row>({
	organizationId: 'text',
	id: 'text',
	createdAt: 'bigint',
	action: 'text',
	resourceType: 'text',
	resourceId: 'text',
	operation: 'text',
	actorType: 'text',
	actorId: 'text',
	address: 'text',
	requestId: 'text',
	before: 'json',
	after: 'json',
})

const insertionOfMany = query<Rows<Row>>((knex, part, dialect) =>
	knex
		.into(knex.raw('?? (??)', ['audit_log', list.columns]))
		.insert(knex.from(list.table(knex, part, dialect)).select(list.columns)),
)

const insertions = { tables: ['audit_log'], query: insertionOfMany }

export async function recordChange({ db, origin }: Writing, change: Change): Promise<void> {
	const given = rowOf(origin, change)
	const row = { ...given, before: textOf(given.before), after: textOf(given.after) }
	// Of any other change the body of its request counts.
	if (origin.meter && row.after === null) origin.meter.bytes += Buffer.byteLength(row.before ?? '')
	if (db.shared) db.shared.later(insertions, row)
	else await db.run(insertion, row)
}

/** Records changes of several records. */
export async function recordChanges(write: Writing, changes: readonly Change[]): Promise<void> {
	for (const change of changes) await recordChange(write, change)
}

const textOf = (values: Values): string | null =>
	typeof values === 'object' && values !== null ? JSON.stringify(values) : values

function rowOf(origin: Origin, { organizationId, action, resource, resourceId, before = null, after = null }: Change): Row {
	const { now, operation, actor, address, requestId } = origin
	return {
		organizationId,
		id: newTimedId('aud', now),
		createdAt: now,
		action,
		resourceType: resource,
		resourceId,
		operation,
		actorType: actor.type,
		actorId: actor.id,
		address,
		requestId,
		before,
		after,
	}
}

type Fields = Record<string, unknown>

/** Left out, because they differ in every change. */
const ignored = new Set(['updatedAt', 'version'])

/** The fields in which a record differs before and after a change; `names` are those that the change may have written. */
export function difference(before: object, after: object, names = Object.keys(after)): { before: Fields; after: Fields } {
	const found: { before: Fields; after: Fields } = { before: {}, after: {} }
	for (const name of names) {
		if (ignored.has(name)) continue
		const [old, now] = [(before as Fields)[name] ?? null, (after as Fields)[name] ?? null]
		if (old === now || isDeepStrictEqual(old, now)) continue
		const parts = areParts(old) && areParts(now) ? differentParts(old, now) : { before: old, after: now }
		found.before[name] = parts.before
		found.after[name] = parts.after
	}
	return found
}

/** Whether a difference is none: a change that changes nothing is not written, so that no version and no event tells of it. */
export const isNothing = ({ after }: { readonly after: object }) => Object.keys(after).length === 0

type Part = Fields & { readonly id: string }

const areParts = (value: unknown): value is Part[] =>
	Array.isArray(value) && value.every((part) => typeof (part as Part | null)?.id === 'string')

/** Of two lists of parts with ids, the parts that differ; of a part in both, its id and the fields that differ. */
function differentParts(before: readonly Part[], after: readonly Part[]): { before: Fields[]; after: Fields[] } {
	const kept = new Map(before.map((part) => [part.id, part]))
	const found: { before: Fields[]; after: Fields[] } = { before: [], after: [] }
	for (const part of after) {
		const { id } = part
		const old = kept.get(id)
		kept.delete(id)
		if (!old) found.after.push(part)
		else if (!isDeepStrictEqual(old, part)) {
			const changed = difference(old, part)
			found.before.push({ id, ...changed.before })
			found.after.push({ id, ...changed.after })
		}
	}
	found.before.push(...kept.values())
	return found
}
