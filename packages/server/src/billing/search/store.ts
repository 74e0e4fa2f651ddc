// Finds records by the beginnings of their words, in an index of all kinds (migration 0079). A search reads a bounded part of the index,
// however many records match: SQLite runs on the event loop's thread.
import type { Knex } from 'knex'
import { searchedWords } from '../../platform/base/search-words.ts'
import { type Db, type Dialect, madeOnce, query } from '../../platform/db/database.ts'
import { hasWords } from '../../platform/db/records.ts'
import type { SearchedTable } from './texts.ts'

/** A search ranks so many records. */
export const mostFound = 250

/** A search beside filters chooses among so many records. Of more, the list is walked by its filters, and each record's words are looked at. */
export const mostChosen = 500

/** Records that match a search, the best first. */
export interface Found {
	readonly ids: readonly string[]
	/** Whether more match. */
	readonly isCut: boolean
}

/** The tables that are searched, in the order in which hits are shown of those that fit as well, and their kinds. */
export const kinds = {
	companies: 'company',
	contacts: 'contact',
	deals: 'deal',
	invoices: 'invoice',
	time_entries: 'time_entry',
} as const

/** The kind of deleted companies: their invoices are found by their names. */
const deletedCompany = 'deleted_company'

/** Where to search, and how many records to rank. */
export interface Search {
	readonly db: Db
	readonly organizationId: string
	readonly most: number
	/** Whether the best are of no use without the others. */
	readonly allOrNothing?: boolean
	/** Whether none has to be found where more than `most` match several words. */
	readonly noneIfCut?: boolean
	/** Whether deleted companies are found, too, after the others. */
	readonly evenDeleted?: boolean
}

interface Range {
	readonly organizationId: string
	readonly kind: string
	readonly from: string
	readonly before: string
	readonly limit: number
}

/**
 * In the order of the index: the word itself before longer ones, and of one word the newest record first. They are joined, since a row
 * costs more than the entry that it shows.
 */
const inRange = query<Range, { ids: string | null }>((knex, { organizationId, kind, from, before, limit }, dialect) =>
	knex.raw(
		`select ${dialect === 'sqlite' ? 'group_concat' : 'string_agg'}(id, ',') as ids from (select id from search_words
			where "organizationId" = ? and kind = ? and word >= ? and word < ? order by word, place, id limit ?) as entries`,
		[organizationId, kind, from, before, limit],
	),
)

/** The records with a word that begins with one of these, those of the first before those of the second. One more than are ranked. */
async function beginning(
	{ db, organizationId, evenDeleted }: Search,
	table: SearchedTable,
	beginnings: readonly string[],
	most: number,
): Promise<string[]> {
	const found = new Set<string>()
	const all = [kinds[table], ...(evenDeleted && table === 'companies' ? [deletedCompany] : [])]
	for (const [kind, from] of all.flatMap((kind) => beginnings.map((from) => [kind, from] as const))) {
		const range = { organizationId, kind, from, before: `${from}\u{10ffff}`, limit: most + 1 }
		for (const id of (await db.get(inRange, range))?.ids?.split(',') ?? []) found.add(id)
		if (found.size > most) break
	}
	return [...found].slice(0, most + 1)
}

/** Those with a word that begins with this one: first those whose title does. */
export const withWord = (search: Search, table: SearchedTable, word: string, most = search.most) =>
	beginning(search, table, [`=${word}`, word], most)

interface Named {
	readonly organizationId: string
	readonly ids: readonly string[]
	readonly words: readonly string[]
}

/** Rows by ids, in the order of the ids. */
export const byIds = (knex: Knex, dialect: Dialect, table: string, ids: Knex.Value) =>
	dialect === 'sqlite'
		? knex.raw('(select value as "foundId", key as n from json_each(?)) as found cross join ?? as r', [ids, table])
		: knex.raw('jsonb_array_elements_text(cast(? as jsonb)) with ordinality as found("foundId", n) join ?? as r on true', [
				ids,
				table,
			])

/** Those of the records that have all the words. */
const havingAll = madeOnce((table: SearchedTable) =>
	query<Named, { json: string }>((knex, { organizationId, ids, words }, dialect) =>
		knex
			.from(byIds(knex, dialect, table, ids))
			.whereRaw('r."organizationId" = ? and r.id = "foundId"', [organizationId])
			.whereRaw(hasWords('r."searchText"', dialect), [words])
			.orderBy('n')
			.select({ json: 'r.id' }),
	),
)

/** So many words are tried for one that few records have. */
const triedWords = 3

export const longestFirst = (words: readonly string[]) =>
	[...words].sort((one, other) => other.length - one.length).slice(0, triedWords)

/** How much more of the index is read for each of several words, to find the records that have them all; and at most so much. */
const deeper = 8
const deepest = 2_000

/** Records that may have all the words: those that all the words have of which the index was read to its end. */
async function candidates(search: Search, table: SearchedTable, words: readonly string[]): Promise<Found> {
	const most = Math.min(search.most * deeper, deepest)
	const partial: string[][] = []
	let all: string[] | undefined
	for (const word of longestFirst(words)) {
		const found = await withWord(search, table, word, most)
		if (found.length > most) partial.push(found)
		else all = all ? shared(all, found) : found
		if (all && all.length <= search.most) return { ids: all, isCut: false }
	}
	if (all) return cut(all, search.most)
	const [first = [], second = []] = partial
	return { ids: [...new Set([...shared(first, second), ...first])].slice(0, search.most), isCut: true }
}

function shared(some: readonly string[], others: readonly string[]): string[] {
	const known = new Set(others)
	return some.filter((id) => known.has(id))
}

/** The records of a kind that have all the words: those whose title begins with the text come first. */
export async function findByWords(search: Search, table: SearchedTable, words: readonly string[]): Promise<Found> {
	const { db, organizationId, most, noneIfCut = false } = search
	const [first, ...more] = words
	if (first === undefined) return { ids: [], isCut: false }
	if (more.length === 0) return cut(await withWord(search, table, first), most)
	const { ids, isCut } = await candidates(search, table, words)
	if (isCut && noneIfCut) return { ids: [], isCut }
	const titled = await beginning(search, table, [`=${words.join(' ')}`], most)
	const having = ids.length > 0 ? await db.column(havingAll(table), { organizationId, ids, words }) : []
	const all = cut([...new Set([...titled, ...having])], most)
	return { ids: all.ids, isCut: isCut || all.isCut }
}

export const cut = (ids: readonly string[], most: number): Found => ({ ids: ids.slice(0, most), isCut: ids.length > most })

/** The words that a search for a text looks for; none where it has no letter or digit, and undefined for a blank text, which is no search. */
export const wordsToFind = (text: string | undefined): string[] | undefined => (text?.trim() ? searchedWords(text) : undefined)

/** What a list's `search` finds: the best, or all unless it is cut; undefined where it is blank. */
export async function findText(
	db: Db,
	organizationId: string,
	table: SearchedTable,
	text: string | undefined,
	isComplete = false,
): Promise<(Found & { readonly words: readonly string[] }) | undefined> {
	const words = wordsToFind(text)
	const search = { db, organizationId, most: isComplete ? mostChosen : mostFound, noneIfCut: isComplete }
	return words && { ...(await findByWords(search, table, words)), words }
}
