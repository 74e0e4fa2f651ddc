// Finds invoices by their numbers and references, and by the companies that they bill: a company that gets another name is one entry of
// the index, however many invoices it has.
import type { Knex } from 'knex'
import { query } from '../db/database.ts'
import { byIds, cut, type Found, findByWords, hasWords, longestFirst, type Search, withWord, wordsToFind } from './store.ts'

/** So many companies are looked into. */
const mostCompanies = 100

interface OfCompanies {
	readonly organizationId: string
	readonly ids: readonly string[]
	readonly limit: number
}

/** The newest invoices of each company. */
const ofCompanies = query<OfCompanies, { json: string }>((knex, { organizationId, ids, limit }, dialect) => {
	const newest = (company: Knex.Raw) =>
		knex('invoices as i')
			.where({ 'i.organizationId': organizationId })
			.where('i.companyId', company)
			.orderBy([
				{ column: 'i.createdAt', order: 'desc' },
				{ column: 'i.id', order: 'desc' },
			])
			.limit(limit as unknown as number)
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
	return knex
		.select({ json: 'r.id' })
		.from(knex.raw('json_each(?) as c cross join invoices as r', [ids]))
		.whereRaw('r."organizationId" = ?', [organizationId])
		.whereIn('r.id', newest(knex.raw('c.value')))
})

/** The newest invoices that bill companies; of many companies fewer each. */
async function billedTo({ db, organizationId, most }: Search, companies: Found): Promise<Found> {
	const ids = companies.ids.slice(0, mostCompanies)
	if (ids.length === 0) return { ids: [], isCut: false }
	const each = Math.max(10, Math.ceil((most + 1) / ids.length))
	const found = cut(await db.column(ofCompanies, { organizationId, ids, limit: each }), most)
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

const text = `r."searchText" || ' ' || coalesce((select "searchText" from companies as c where c."organizationId" = r."organizationId"
		and c.id = r."companyId" and c."deletedAt" is null), '')`

/** Those of the invoices that have all the words, by themselves or by their company. */
const withAll = query<Candidates, { json: string }>((knex, { organizationId, ids, words }, dialect) =>
	knex
		.from(byIds(knex, dialect, 'invoices', ids))
		.whereRaw('r."organizationId" = ? and r.id = "foundId"', [organizationId])
		.whereRaw(hasWords(`(${text})`, dialect), [words])
		.orderBy('n')
		.select({ json: 'r.id' }),
)

/** Invoices that have some of the words by themselves, and the others by their company: looked for by the word that fewest have. */
async function mixed(search: Search, words: readonly string[]): Promise<Found> {
	const { db, organizationId, most } = search
	let fewest: Found | undefined
	for (const word of longestFirst(words)) {
		const own = cut(await withWord(search, 'invoices', word), most)
		const billed = await billedTo(search, await findByWords(search, 'companies', [word]))
		const found = { ids: [...new Set([...own.ids, ...billed.ids])], isCut: own.isCut || billed.isCut }
		if (!fewest || found.ids.length < fewest.ids.length) fewest = found
		if (!fewest.isCut) break
	}
	const { ids, isCut } = fewest ?? { ids: [], isCut: false }
	if (ids.length === 0) return { ids, isCut }
	const all = await db.column(withAll, { organizationId, ids: ids.slice(0, most), words })
	return { ids: all, isCut: isCut || ids.length > most }
}

/**
 * The invoices that a text finds: by number or reference first, then those of companies, unless the caller may not read companies.
 * Undefined for a blank text.
 */
export async function findInvoices(search: Search, text: string | undefined, byCompany = true): Promise<Found | undefined> {
	const words = wordsToFind('invoices', text)
	if (!words) return undefined
	const own = await findByWords(search, 'invoices', words)
	if (!byCompany) return own
	const companies = await findByWords(search, 'companies', wordsToFind('companies', text) ?? [])
	const billed = await billedTo(search, companies)
	const found = cut([...new Set([...own.ids, ...billed.ids])], search.most)
	if (found.ids.length > 0 || words.length === 1) return { ids: found.ids, isCut: found.isCut || own.isCut || billed.isCut }
	return mixed(search, words)
}
