// Finds invoices by their numbers and references, and by the companies that they bill: a company that gets another name is one entry of
// the index, however many invoices it has.
import type { Knex } from 'knex'
import { asNumber, madeOnce, query } from '../../platform/db/database.ts'
import { hasWords } from '../../platform/db/records.ts'
import { byIds, cut, type Found, findByWords, longestFirst, type Search, withWord, wordsToFind } from './store.ts'

/** So many companies are looked into. */
const mostCompanies = 100

interface OfCompanies {
	readonly organizationId: string
	readonly ids: readonly string[]
	readonly each: number
	readonly limit: number
}

/** The newest invoices of each company. */
const ofCompanies = query<OfCompanies, { json: string }>((knex, { organizationId, ids, each, limit }, dialect) => {
	const newest = (company: Knex.Raw) =>
		knex('invoices as i')
			.where({ 'i.organizationId': organizationId })
			.where('i.companyId', company)
			.orderBy([
				{ column: 'i.createdAt', order: 'desc' },
				{ column: 'i.id', order: 'desc' },
			])
			.limit(asNumber(each))
			.select('i.id')
	if (dialect === 'postgres')
		return knex
			.select({ json: 'newest.id' })
			.from(
				knex.raw('jsonb_array_elements_text(cast(? as jsonb)) as c(id) cross join lateral ? as newest', [
					ids,
					newest(knex.raw('c.id')),
				]),
			)
			.limit(asNumber(limit))
	return knex
		.select({ json: 'r.id' })
		.from(knex.raw('json_each(?) as c cross join invoices as r', [ids]))
		.whereRaw('r."organizationId" = ?', [organizationId])
		.whereIn('r.id', newest(knex.raw('c.value')))
		.limit(asNumber(limit))
})

/** The newest invoices that bill companies; of many companies fewer each. */
async function billedTo({ db, organizationId, most, allOrNothing }: Search, companies: Found): Promise<Found> {
	const ids = companies.ids.slice(0, mostCompanies)
	if (ids.length === 0) return { ids: [], isCut: false }
	const limit = most + 1
	const each = allOrNothing ? limit : Math.max(10, Math.ceil(limit / ids.length))
	const found = cut(await db.column(ofCompanies, { organizationId, ids, each, limit }), most)
	return {
		ids: found.ids,
		isCut: found.isCut || companies.isCut || companies.ids.length > ids.length || found.ids.length >= each,
	}
}

interface Candidates {
	readonly organizationId: string
	readonly ids: readonly string[]
	readonly words: readonly string[]
}

const own = 'r."searchText"'
const company = `coalesce((select "searchText" from companies as c where c."organizationId" = r."organizationId"
		and c.id = r."companyId"), '')`

/** Where the words have to be: all of them in the invoice, or all in the invoice or all in its company, or each in one of the two. */
type Place = 'own' | 'either' | 'together'

/** Those of the invoices that have all the words there. */
const withAll = madeOnce((place: Place) =>
	query<Candidates, { json: string }>((knex, { organizationId, ids, words }, dialect) => {
		const rows = knex
			.from(byIds(knex, dialect, 'invoices', ids))
			.whereRaw('r."organizationId" = ? and r.id = "foundId"', [organizationId])
			.orderBy('n')
			.select({ json: 'r.id' })
		if (place === 'own') return rows.whereRaw(hasWords(own, dialect), [words])
		if (place === 'together') return rows.whereRaw(hasWords(`(${own} || ' ' || ${company})`, dialect), [words])
		return rows.whereRaw(`(${hasWords(own, dialect)} or ${hasWords(company, dialect)})`, [words, words])
	}),
)

/** Chooses those of some invoices that a text finds. */
export type Sieve = (ids: readonly string[]) => Promise<string[]>

const sieveOf =
	({ db, organizationId }: Search, words: readonly string[], place: Place): Sieve =>
	(ids) =>
		db.column(withAll(place), { organizationId, ids, words })

/** What a text finds, and how to tell what it finds of others. */
export interface FoundInvoices extends Found {
	readonly sieve: Sieve
}

/** Invoices that have some of the words by themselves, and the others by their company: looked for by the word that fewest have. */
async function mixed(search: Search, words: readonly string[]): Promise<Found> {
	const { db, organizationId, most } = search
	let fewest: Found | undefined
	for (const word of longestFirst(words)) {
		const own = cut(await withWord(search, 'invoices', word), most)
		const billed = await billedTo(search, await findByWords({ ...search, evenDeleted: true }, 'companies', [word]))
		const found = { ids: [...new Set([...own.ids, ...billed.ids])], isCut: own.isCut || billed.isCut }
		if (!fewest || found.ids.length < fewest.ids.length) fewest = found
		if (!fewest.isCut) break
	}
	const { ids, isCut } = fewest ?? { ids: [], isCut: false }
	if (ids.length === 0) return { ids, isCut }
	const all = await db.column(withAll('together'), { organizationId, ids: ids.slice(0, most), words })
	return { ids: all, isCut: isCut || ids.length > most }
}

/**
 * The invoices that a text finds: by number or reference first, then those of companies, unless the caller may not read companies; and only
 * where there are none, those that have the words in both. Undefined for a blank text.
 */
export async function findInvoices(
	search: Search,
	text: string | undefined,
	byCompany = true,
): Promise<FoundInvoices | undefined> {
	const words = wordsToFind(text)
	if (!words) return undefined
	const own = await findByWords(search, 'invoices', words)
	if (!byCompany) return { ...own, sieve: sieveOf(search, words, 'own') }
	const billed = await billedTo(search, await findByWords({ ...search, evenDeleted: true }, 'companies', words))
	const found = cut([...new Set([...own.ids, ...billed.ids])], search.most)
	if (found.ids.length === 0 && words.length > 1)
		return { ...(await mixed(search, words)), sieve: sieveOf(search, words, 'together') }
	return { ids: found.ids, isCut: found.isCut || own.isCut || billed.isCut, sieve: sieveOf(search, words, 'either') }
}
