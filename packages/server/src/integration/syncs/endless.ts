// Tells a list that has no end: its pages lead back to one that was read, or have the same records again and again, or none.
import { hash } from 'node:crypto'
import { EndlessList, type RecordPage } from '../connections/records/records.ts'

/**
 * What a pass remembers of the pages that it has read: one of them, and another one whenever their number has doubled. So a circle is
 * found whatever its length is, by three times as many pages at most, and what is remembered stays small.
 */
export interface Trail {
	/** How many pages were read. */
	readonly pages: number
	/** How many of the last pages had no record. */
	readonly empty: number
	/** The place of the page that is remembered, as a hash. */
	readonly place: string
	/** Some of its records, by the hashes of their ids, and how many pages have had each since. */
	readonly marks: Readonly<Record<string, number>>
}

const start: Trail = { pages: 0, empty: 0, place: '', marks: {} }

/** A page of changes may repeat what is at the edges of others, and a record may change again while changes are read. */
const mostTimes = 5
/** Some providers filter a page after they have cut it. */
const mostEmpty = 1_000
const mostMarks = 10

/** What is remembered once the page at a place of the list was read. Throws EndlessList. */
export function follow(before: Trail | null | undefined, at: string | null, { records, next }: RecordPage): Trail {
	const trail = before ?? start
	const pages = trail.pages + 1
	const empty = records.length === 0 ? trail.empty + 1 : 0
	const ids = records.map(({ id }) => shortened(id))
	const marks = counted(trail.marks, new Set(ids))
	if (next !== null) {
		const place = shortened(next)
		if (place === trail.place || place === shortened(at ?? ''))
			throw new EndlessList(`Page ${pages} of the provider's list leads back to one that was read.`)
		if (empty >= mostEmpty) throw new EndlessList(`${empty} pages in a row of the provider's list have no record.`)
		const again = Object.values(marks).filter((times) => times >= mostTimes).length
		if (again > 0 && again * 2 >= Object.keys(marks).length)
			throw new EndlessList(`The provider's list has the same records again and again, on ${pages} pages so far.`)
	}
	// Not a power of two.
	if ((pages & (pages - 1)) !== 0) return { ...trail, pages, empty, marks }
	return { pages, empty, place: shortened(at ?? ''), marks: ids.length > 0 ? marked(ids) : marks }
}

const counted = (marks: Trail['marks'], ids: ReadonlySet<string>): Trail['marks'] =>
	Object.fromEntries(Object.entries(marks).map(([id, times]) => [id, ids.has(id) ? times + 1 : times]))

/** Records from all over a page. */
function marked(ids: readonly string[]): Trail['marks'] {
	const step = Math.ceil(ids.length / mostMarks)
	return Object.fromEntries(ids.filter((_, at) => at % step === 0).map((id) => [id, 0]))
}

const shortened = (text: string) => hash('sha256', text, 'base64url').slice(0, 16)
