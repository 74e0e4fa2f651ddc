// Two people changed the same record: what becomes of each field. Pure, so that it can be tested with every case.

export type Values = Readonly<Record<string, unknown>>

export interface FieldConflict {
	readonly name: string
	readonly mine: unknown
	readonly theirs: unknown
}

export interface Merged<T extends Values> {
	/** With mine where only I changed a field, theirs where only they did, and mine where both did until a choice is made. */
	readonly values: T
	readonly conflicts: readonly FieldConflict[]
}

/** `base` is what I began with, `theirs` what the server has now. Items of a list are matched by their `id`. */
export function merge<T extends Values>(base: T, mine: T, theirs: T): Merged<T> {
	const conflicts: FieldConflict[] = []
	const values = Object.fromEntries(
		Object.keys(mine).map((name) => [name, mergeField(name, base[name], mine[name], theirs[name], conflicts)]),
	)
	return { values: values as T, conflicts }
}

function mergeField(name: string, base: unknown, mine: unknown, theirs: unknown, conflicts: FieldConflict[]): unknown {
	if (isSame(mine, theirs) || isSame(theirs, base)) return mine
	if (isSame(mine, base)) return theirs
	if (isItems(base) && isItems(mine) && isItems(theirs)) return mergeItems(name, base, mine, theirs, conflicts)
	conflicts.push({ name, mine, theirs })
	return mine
}

/**
 * What was sent and what the form has by now, with the ids that the server gave to items of a list: it keeps their order. Items without
 * an id are paired by what is in them, and the others in their order.
 */
export function numbered<T extends Values>(sent: T, mine: T, theirs: T): readonly [sent: T, mine: T] {
	const first: Record<string, unknown> = { ...sent }
	const now: Record<string, unknown> = { ...mine }
	for (const [name, stored] of Object.entries(theirs)) {
		const [before, after] = [sent[name], mine[name]]
		if (!isItems(stored) || !isItems(before) || !isItems(after) || stored.length !== before.length) continue
		const items = before.map((item, index) => ({ ...item, id: stored[index]?.id }))
		const left = new Set(before.keys())
		const pair = (isPair: (at: number) => boolean): string | null | undefined => {
			const at = [...left].find(isPair)
			if (at !== undefined) left.delete(at)
			return at === undefined ? undefined : items[at]?.id
		}
		const surely = after.map((item) => pair((at) => (item.id ? before[at]?.id === item.id : isSame(before[at], item))))
		first[name] = items
		now[name] = after.map((item, index) => {
			const id = surely[index] ?? (item.id ? undefined : pair((at) => !before[at]?.id))
			return id ? { ...item, id } : item
		})
	}
	return [first as T, now as T]
}

type Item = Values & { readonly id?: string | null }

const isItems = (value: unknown): value is Item[] =>
	Array.isArray(value) && value.every((item) => typeof item === 'object' && item !== null)

/** In my order; what only they added comes last, and what either removed is gone unless the other changed it. */
function mergeItems(name: string, base: Item[], mine: Item[], theirs: Item[], conflicts: FieldConflict[]): Item[] {
	const find = (items: Item[], { id }: Item) => (id ? items.find((item) => item.id === id) : undefined)
	const kept: Item[] = []
	for (const item of mine) {
		const [before, now] = [find(base, item), find(theirs, item)]
		if (before && now) {
			// Its place in the merged list: an item before it may have gone.
			const path = `${name}.${kept.length}`
			const fields = Object.keys(item).map((field) => [
				field,
				mergeField(`${path}.${field}`, before[field], item[field], now[field], conflicts),
			])
			kept.push(Object.fromEntries(fields) as Item)
		} else if (!before || !isSame(item, before)) kept.push(item)
	}
	const added = theirs.filter((item) => !find(mine, item))
	return [...kept, ...added.filter((item) => !find(base, item) || !isSame(find(base, item), item))]
}

const isSame = (one: unknown, other: unknown): boolean => one === other || JSON.stringify(one) === JSON.stringify(other)

/** The fields that differ: the body of a PATCH. */
export const changes = <T extends Values>(base: T, values: T): Partial<T> =>
	Object.fromEntries(Object.entries(values).filter(([name, value]) => !isSame(value, base[name]))) as Partial<T>
