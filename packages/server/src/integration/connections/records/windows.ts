// Pages by when records changed. Each page begins where the one before ended, by time and not by number: a record that changes while the pages are read
// moves to the end of the list, and would else push another one over the edge of a page. What changed at the edge comes twice.
import type { Changes, ObjectManifest } from '../providers/manifest.ts'
import { valueAt } from '../values.ts'
import { callProvider, type ProviderAnswer, type Target } from './call.ts'
import { type Cursor, read, written } from './cursors.ts'
import { askedOf, listQuery, totalOf } from './pages.ts'
import type { ExternalRecord, PageStart, RecordContext, RecordPage } from './types.ts'
import { notAnswered, recordsIn } from './values.ts'

type From = Extract<Cursor, { from: number }>
type Window = Extract<Cursor, { page: number }>

const changeOf = (records: readonly ExternalRecord[]): number => {
	const at = records.at(-1)?.changedAt
	if (typeof at !== 'number') throw notAnswered('time of the last change')
	return at
}

type Search = Extract<Changes, { style: 'search' }>

/** A page of HubSpot's search, of which no query answers more than 10,000 records: each page is a query of its own. */
export async function searchPage(
	context: RecordContext,
	target: Target,
	search: Search,
	at: PageStart & { readonly since: number },
): Promise<RecordPage> {
	const { object } = target
	const start = at.cursor === null ? { from: Math.max(0, at.since - search.lagMs), id: null } : read<From>(at.cursor, 'from')
	const changed = (operator: string) => ({ propertyName: search.property, operator, value: String(start.from) })
	const after = { propertyName: search.idProperty, operator: 'GT', value: start.id }
	const answer = await postSearch(context, target, search.path, {
		filterGroups: [{ filters: start.id === null ? [changed('GTE')] : [changed('EQ'), after] }],
		sorts: [{ propertyName: start.id === null ? search.property : search.idProperty, direction: 'ASCENDING' }],
		properties: askedOf(object, at.fields),
		limit: search.most,
	})
	const records = await recordsIn(object, answer.json)
	const { pagination } = object
	const hasMore = pagination.style === 'cursor' && valueAt(answer.json, pagination.next) !== undefined
	const next = nextFrom(start, records, hasMore)
	return { records, next: next && written(next), bytes: answer.bytes, total: at.cursor === null ? totalOf(object, answer) : null }
}

function nextFrom({ from, id }: From, records: readonly ExternalRecord[], hasMore: boolean): From | null {
	const last = records.at(-1)
	const isFull = hasMore && last !== undefined
	if (id !== null) return isFull ? { from, id: last.id } : { from: from + 1, id: null }
	if (!isFull) return null
	const latest = changeOf(records)
	// A whole page of one time: these are read by their ids.
	return latest > from ? { from: latest, id: null } : { from, id: '0' }
}

export const postSearch = (context: RecordContext, target: Target, path: string, body: object): Promise<ProviderAnswer> =>
	callProvider(context, target, {
		...{ method: 'POST', effect: 'read', path },
		body: { type: 'application/json', text: JSON.stringify(body) },
	})

type Modified = Extract<Changes, { style: 'if_modified_since' }>

/** A page of a list that is filtered by If-Modified-Since, which counts in seconds. */
export async function modifiedPage(
	context: RecordContext,
	target: Target,
	{ order }: Modified,
	at: PageStart,
): Promise<RecordPage> {
	const { object } = target
	const first = { since: at.since === null ? null : Math.floor(at.since / 1000), page: 1 }
	const window = at.cursor === null ? first : read<Window>(at.cursor, 'page')
	// Whether "since" has that second in it, Xero does not say.
	const seconds = window.since === null ? null : Math.max(0, window.since - 1)
	const since: Record<string, string> =
		seconds === null ? {} : { 'if-modified-since': new Date(seconds * 1000).toISOString().slice(0, 19) }
	const answer = await callProvider(context, target, {
		...{ method: 'GET', effect: 'read', path: object.path, headers: since },
		query: { ...listQuery(object, at.fields), ...order, ...pageQuery(object, window.page) },
		expected: [304],
	})
	const records = answer.status === 304 ? [] : await recordsIn(object, answer.json)
	const total = totalOf(object, answer)
	const next = nextWindow(window, records, total)
	return { records, next: next && written(next), bytes: answer.bytes, total: at.cursor === null ? total : null }
}

const pageQuery = ({ pagination }: ObjectManifest, page: number) =>
	pagination.style === 'page' ? { [pagination.parameter]: String(page) } : {}

function nextWindow({ since, page }: Window, records: readonly ExternalRecord[], total: number | null): Window | null {
	if (records.length === 0 || (page === 1 && total !== null && records.length >= total)) return null
	const latest = Math.floor(changeOf(records) / 1000)
	// More than a page changed within one second: these alone are counted.
	return since !== null && latest <= since ? { since, page: page + 1 } : { since: latest, page: 1 }
}
