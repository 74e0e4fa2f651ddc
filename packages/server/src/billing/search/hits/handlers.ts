import type { ResourceKind, SearchHit } from '../../../generated/contract.ts'
import { allows } from '../../../platform/auth/keys.ts'
import { words } from '../../../platform/base/search-words.ts'
import type { Handler } from '../../../platform/http/handler.ts'
import { findInvoices } from '../invoices-store.ts'
import { findByWords, kinds, wordsToFind } from '../store.ts'
import type { SearchedTable } from '../texts.ts'
import { readNamed } from './store.ts'

const mostHits = 10

/** Of each kind so many are ranked. */
const mostRanked = 100

interface Ranked {
	readonly hit: SearchHit
	/** Its place among those of its kind. */
	readonly place: number
	readonly isExact: boolean
}

/** Best names first, then the best of each kind, so that a kind with many hits does not hide the others. */
export const list: Handler<'search.list'> = async ({ query: { q }, caller }, { db }) => {
	const ranked: Ranked[] = []
	const readsCompanies = allows(caller.scopes, ['companies:read'])
	const search = { db, organizationId: caller.organizationId, most: mostRanked }
	const name = words(q ?? '').join(' ')
	const searched = wordsToFind(q)
	for (const [table, kind] of Object.entries(kinds) as [SearchedTable, ResourceKind][]) {
		if (!searched || !allows(caller.scopes, [`${table}:read`])) continue
		const found = await (table === 'invoices' ? findInvoices(search, q, readsCompanies) : findByWords(search, table, searched))
		const ids = found?.ids.slice(0, mostHits) ?? []
		if (ids.length === 0) continue
		for (const [place, { id, title, subtitle }] of (await readNamed(db, caller.organizationId, table, ids)).entries()) {
			const isAllowed = table === 'deals' || table === 'invoices' ? readsCompanies : subtitle !== title
			const hit = { kind, id, title, subtitle: isAllowed ? subtitle : null }
			ranked.push({ hit, place, isExact: words(title).join(' ') === name })
		}
	}
	ranked.sort((one, other) => Number(other.isExact) - Number(one.isExact) || one.place - other.place)
	return { status: 200, body: { data: ranked.slice(0, mostHits).map(({ hit }) => hit) } }
}
