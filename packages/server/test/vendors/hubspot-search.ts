// HubSpot's search. https://developers.hubspot.com/docs/api-reference/search/guide
import { invalid } from './hubspot-errors.ts'
import { propertyOf } from './hubspot-properties.ts'
import type { Stored } from './records.ts'

/** No query answers more, on all its pages together. */
const most = 10_000

interface Filter {
	readonly propertyName: string
	readonly operator: string
	readonly value?: string
	readonly highValue?: string
	readonly values?: readonly string[]
}

interface Search {
	readonly filterGroups?: readonly { readonly filters: readonly Filter[] }[]
	readonly sorts?: readonly (string | { readonly propertyName: string; readonly direction?: 'ASCENDING' | 'DESCENDING' })[]
	readonly limit?: number
	readonly after?: string | number | null
}

export interface Found {
	readonly total: number
	readonly found: readonly Stored[]
	/** Where the next page begins; beyond `most` it leads to an error. */
	readonly next: string | undefined
}

export function searchIn(companies: readonly Stored[], search: Search): Found {
	const { filterGroups = [], sorts = [], limit = 10 } = search
	const after = Number(search.after ?? 0)
	if (!(limit >= 1 && limit <= 200)) throw invalid(`limit must be between 1 and 200, it is ${limit}.`)
	if (!Number.isInteger(after) || after < 0) throw invalid('The cursor of the parameter "after" is not valid.')
	if (after + limit > most) throw invalid(`The search answers no more than ${most} results of a query.`)
	if (filterGroups.length > 5 || filterGroups.some(({ filters }) => filters.length > 6))
		throw invalid('There are too many filters.')
	if (sorts.length > 1) throw invalid('There can be only one sort.')
	const matches = companies.filter(
		(company) =>
			filterGroups.length === 0 || filterGroups.some(({ filters }) => filters.every((filter) => fits(company, filter))),
	)
	const [sort = 'createdate'] = sorts
	const { propertyName, direction = 'ASCENDING' } = typeof sort === 'string' ? { propertyName: sort } : sort
	const sign = direction === 'DESCENDING' ? -1 : 1
	const sorted = matches.toSorted((a, b) => sign * compare(keyOf(a, propertyName) ?? '', keyOf(b, propertyName) ?? ''))
	const end = after + limit
	return { total: sorted.length, found: sorted.slice(after, end), next: sorted.length > end ? String(end) : undefined }
}

function fits(company: Stored, { propertyName, operator, value = '', highValue = '', values = [] }: Filter): boolean {
	const own = keyOf(company, propertyName)
	if (operator === 'NOT_HAS_PROPERTY') return own === null
	if (own === null) return operator === 'NEQ' || operator === 'NOT_IN'
	const to = (other: string) => compare(own, comparable(other))
	switch (operator) {
		case 'HAS_PROPERTY':
			return true
		case 'EQ':
			return to(value) === 0
		case 'NEQ':
			return to(value) !== 0
		case 'LT':
			return to(value) < 0
		case 'LTE':
			return to(value) <= 0
		case 'GT':
			return to(value) > 0
		case 'GTE':
			return to(value) >= 0
		case 'BETWEEN':
			return to(value) >= 0 && to(highValue) <= 0
		case 'IN':
			return values.some((one) => to(one) === 0)
		case 'NOT_IN':
			return values.every((one) => to(one) !== 0)
		case 'CONTAINS_TOKEN':
			return String(own).split(/\W+/).includes(value.toLowerCase())
	}
	throw invalid(`There is no operator ${operator}.`)
}

/** What a company is compared by; null without a value. */
function keyOf(company: Stored, name: string): number | string | null {
	if (name === 'hs_lastmodifieddate') return company.updatedAt
	if (name === 'createdate') return company.createdAt
	const text = propertyOf(company, name)
	return text === null ? null : comparable(text)
}

/** Numbers and times by value, times as ISO text or in milliseconds; anything else as text without case. */
function comparable(value: string): number | string {
	if (/^-?\d+(\.\d+)?$/.test(value)) return Number(value)
	return /^\d{4}-\d\d-\d\dT/.test(value) ? Date.parse(value) : value.toLowerCase()
}

function compare(a: number | string, b: number | string): number {
	if (typeof a === 'number' && typeof b === 'number') return a - b
	return String(a) < String(b) ? -1 : Number(String(a) > String(b))
}
