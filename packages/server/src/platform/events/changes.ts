// Computes the `changes` of an event: the fields in which a record differs before and after a change.
import { isDeepStrictEqual } from 'node:util'

interface Change {
	readonly from: unknown
	readonly to: unknown
	/** How many items both lists have alike, which are left out of them. */
	readonly unchanged?: number
}

/** The fields that changed, each with its old and new value. */
export type Changes = Record<string, Change>

/** The most items that a list may have to be told whole. */
const shortList = 10

/** Left out, because they differ in every change. */
const ignored = new Set(['updatedAt', 'version'])

export function changesBetween<T extends object>(before: T, after: T): Changes {
	const fields = Object.keys(after).filter((field) => !ignored.has(field)) as (keyof T & string)[]
	const changed = fields.filter((field) => before[field] !== after[field] && !isDeepStrictEqual(before[field], after[field]))
	return Object.fromEntries(changed.map((field) => [field, changeOf(before[field], after[field])]))
}

/** An item of a list, such as a line of an invoice. */
type Item = Readonly<Record<string, unknown>> & { readonly id: string }

const isItems = (value: unknown): value is Item[] => Array.isArray(value) && value.every((item) => typeof item?.id === 'string')

/** Of a long list only the items that differ, and of an item that changed only its id and the fields that differ. */
function changeOf(from: unknown, to: unknown): Change {
	if (!isItems(from) || !isItems(to) || Math.max(from.length, to.length) <= shortList) return { from, to }
	const next = new Map(to.map((item) => [item.id, item]))
	const gone = from.filter(({ id }) => !next.has(id))
	const old = new Map(from.map((item) => [item.id, item]))
	const added = to.filter(({ id }) => !old.has(id))
	const changed = to.flatMap((item) => {
		const before = old.get(item.id)
		const fields = before && Object.keys(item).filter((field) => !isDeepStrictEqual(before[field], item[field]))
		return before && fields && fields.length > 0 ? [{ before, item, fields: ['id', ...fields] }] : []
	})
	return {
		from: [...changed.map(({ before, fields }) => pick(before, fields)), ...gone],
		to: [...changed.map(({ item, fields }) => pick(item, fields)), ...added],
		unchanged: to.length - added.length - changed.length,
	}
}

const pick = (item: Item, fields: readonly string[]) => Object.fromEntries(fields.map((field) => [field, item[field]]))
