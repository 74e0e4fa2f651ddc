// Lists of invoices by any filters in any order (docs/decisions/lists.md). Where no index has just these filters in just this order, the
// index of the order is walked, stride by stride, and other requests have a turn after each. A request looks at so many invoices at most.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Today } from '../../../platform/base/dates.ts'
import type { Db, Query } from '../../../platform/db/database.ts'
import { countBound, isBeyond, offsetTooDeep, type PageQuery, type Place, strides } from '../../../platform/db/pages.ts'
import type { Sieve } from '../../search/invoices-store.ts'
import {
	conditionsOf,
	countAmong,
	countFew,
	countFound,
	type Few,
	type FewIndex,
	fewOf,
	statementsOf,
} from './conditions-store.ts'
import type { Filter } from './filter.ts'
import type { Shape } from './invoice-json.ts'
import { type Segment, type Sort, segmentsOf, sortKeys } from './orders.ts'
import { countInvoices, type Filters, type InvoicePage, readInvoices, readNamed } from './store.ts'

/** A page looks at so many invoices, and so does a count: beyond, a page is shorter, and a list is not counted. The contract says it, too. */
export const mostLooked = 10_000

/** So many invoices that one filter leaves are read and sorted, instead of walking the index of the order. */
const fewest = 1_000

/** The words of so many invoices are looked at in one go, and of so many for a page. The contract says the latter, too. */
const siftedAtOnce = 500
const mostSifted = 1_000

/** A page, and how many invoices the list has: null when they were not counted. */
export type CountedInvoices = InvoicePage & { readonly total: number | null }

export interface ListQuery {
	readonly filter: Filter
	/** Those that a search found; absent without a search. */
	readonly found?: readonly string[] | undefined
	/** Chooses those of some that a search finds which found too many; absent with `found`. */
	readonly sieve?: Sieve | undefined
	readonly sort: Sort
	readonly page: PageQuery
	readonly shape: Shape
	readonly count: boolean
}

export async function listInvoices(
	db: Db,
	{ filter, found: searched, sieve, sort, page, shape, count }: ListQuery,
	today: Today,
): Promise<CountedInvoices> {
	const served = searched || sieve ? undefined : servedByIndex(filter)
	const isCounted = count && page.after === undefined
	if (served && sort.sortBy === 'createdAt') {
		const found = await readInvoices(db, served, page, today, { shape, direction: sort.sortOrder })
		return { ...found, total: isCounted ? bounded(await countInvoices(db, served)) : null }
	}
	const search = new Walk(db, filter, searched, sort, today)
	const { places, end, total } = await (sieve ? search.sift(sieve, page) : search.find(page))
	const rows = await readNamed(db, filter.organizationId, places, today, shape)
	const isShort = end !== undefined && places.length < page.limit
	const counted = async () => total ?? (served ? countInvoices(db, served) : isShort ? undefined : search.count(sieve))
	return { rows, hasMore: end !== undefined, ...(end && { end }), total: isCounted ? bounded(await counted()) : null }
}

const bounded = (total: number | undefined) => (total === undefined || total > countBound ? null : total)

/** The filters, if they are no more than an index has in the order of creation. */
function servedByIndex(filter: Filter): Filters | undefined {
	const {
		organizationId,
		companyId,
		dealId,
		statuses,
		paymentState,
		isOutstanding,
		isOverdue,
		currency,
		updatedSince,
		...ranges
	} = filter
	const others = [
		paymentState,
		isOutstanding,
		isOverdue,
		currency,
		updatedSince,
		...Object.values(ranges).flatMap(({ from, to }) => [from, to]),
	]
	if (others.some((value) => value !== undefined) || (statuses?.length ?? 0) > 1) return undefined
	if (companyId !== undefined && dealId !== undefined) return undefined
	return { organizationId, companyId, dealId, status: statuses?.[0] }
}

interface Found {
	/** The ids of the page. */
	readonly places: readonly string[]
	/** Where the next page begins: behind the last invoice that was looked at. Absent at the end of the list. */
	readonly end?: Place
	/** How many match, when the end of the list says it. */
	readonly total?: number
}

type Leftover = readonly [index: FewIndex, params: Few]

type Params = { readonly organizationId: string } & ReturnType<typeof conditionsOf>

class Walk {
	readonly #db: Db
	readonly #filter: Filter
	readonly #searched: readonly string[] | undefined
	readonly #sort: Sort
	readonly #today: Today
	readonly #stride: number
	readonly #params: Params
	#few: Promise<Leftover | undefined> | undefined

	constructor(db: Db, filter: Filter, searched: readonly string[] | undefined, sort: Sort, today: Today) {
		this.#db = db
		this.#filter = filter
		this.#searched = searched
		this.#sort = sort
		this.#today = today
		this.#stride = Math.min(strides[db.dialect], mostLooked)
		this.#params = { organizationId: filter.organizationId, ...conditionsOf(filter, today) }
	}

	async find(page: PageQuery): Promise<Found> {
		const { limit, offset } = page
		if (this.#searched) return this.#findAmong(this.#statements.matchesFound, { ids: this.#searched }, page)
		if (offset >= this.#stride && (await isBeyond(this.#db, 'invoices', offset))) return { places: [] }
		const { matches } = this.#statements
		const found: Place[] = []
		let toSkip = offset
		let isFirst = true
		let looked = 0
		for (let segments = this.#segments(page.after); segments.length > 0; ) {
			const [segment = {}, ...rest] = segments
			// A filter that leaves few is looked for after a short stride: most pages are full by then.
			const stride = isFirst ? fewest : this.#stride
			const isSkipping = toSkip > 0
			const walked = { ...this.#params, ...segment, stride }
			const skipped = await this.#skippable(walked, toSkip)
			if (skipped !== undefined) toSkip -= skipped
			else {
				const wanted = Math.min(stride, toSkip + limit + 1 - found.length)
				const places = await this.#db.all(matches, { ...walked, limit: wanted })
				found.push(...places.slice(toSkip))
				toSkip -= Math.min(toSkip, places.length)
				if (found.length > limit) return { places: idsOf(found.slice(0, limit)), end: found[limit - 1] as Place }
			}
			const last = await this.#lastOf(segment, stride)
			if (last === undefined) {
				segments = rest
				continue
			}
			if (isFirst) {
				const few = await this.#leavesFew()
				if (few) return this.#findAmong(this.#statements.matchesAmong(few[0]), few[1], page)
			}
			isFirst = false
			// As in every list, an offset has no bound.
			if (!isSkipping) looked += stride
			if (looked >= mostLooked) return { places: idsOf(found), end: last }
			segments = this.#segments(last)
			await nextTurn()
		}
		return { places: idsOf(found), ...(page.after === undefined && { total: offset - toSkip + found.length }) }
	}

	/** A page of those that a search finds besides: its words are in no index of an order, so they are looked at in the records. */
	async sift(sieve: Sieve, { limit, offset, after }: PageQuery): Promise<Found> {
		const few = await this.#leavesFew()
		const { matches, matchesAmong } = this.#statements
		const found: Place[] = []
		let [toSkip, looked, sifted] = [offset, 0, 0]
		for (let segments = this.#segments(after); segments.length > 0; ) {
			const [segment = {}, ...rest] = segments
			// Most pages are full after a few, since many match.
			const most = Math.min(siftedAtOnce, sifted > 0 ? siftedAtOnce : 2 * (limit + 1))
			const walked = { ...this.#params, ...segment, limit: most }
			const places = await (few
				? this.#db.all(matchesAmong(few[0]), { ...walked, ...few[1] })
				: this.#db.all(matches, { ...walked, stride: this.#stride }))
			const chosen = new Set(places.length > 0 ? await sieve(idsOf(places)) : [])
			const kept = places.filter(({ id }) => chosen.has(id))
			found.push(...kept.slice(toSkip))
			toSkip -= Math.min(toSkip, kept.length)
			if (found.length > limit) return { places: idsOf(found.slice(0, limit)), end: found[limit - 1] as Place }
			const isFull = places.length === most
			const last = isFull ? places.at(-1) : few ? undefined : await this.#lastOf(segment, this.#stride)
			segments = last ? this.#segments(last) : rest
			looked += isFull ? 0 : this.#stride
			sifted += places.length
			if (last && (looked >= mostLooked || sifted >= mostSifted)) {
				if (toSkip > 0) throw offsetTooDeep()
				return { places: idsOf(found), end: last }
			}
			await nextTurn()
		}
		return { places: idsOf(found), ...(after === undefined && { total: offset - toSkip + found.length }) }
	}

	/** How many match; undefined when more than a request looks at would tell. */
	async count(sieve?: Sieve): Promise<number | undefined> {
		if (sieve) return (await this.sift(sieve, { limit: mostLooked, offset: 0 })).total
		if (this.#searched) return (await this.#db.get(countFound, { ...this.#params, ids: this.#searched }))?.total
		const few = await this.#leavesFew()
		if (few) return (await this.#db.get(countAmong(few[0]), { ...this.#params, ...few[1] }))?.total
		let total = 0
		let looked = 0
		for (let segments = this.#segments(undefined); segments.length > 0 && total <= countBound; ) {
			const [segment = {}, ...rest] = segments
			const { countOfStride } = this.#statements
			total += (await this.#db.get(countOfStride, { ...this.#params, ...segment, stride: this.#stride }))?.total ?? 0
			const last = await this.#lastOf(segment, this.#stride)
			looked += last ? this.#stride : 0
			if (looked >= mostLooked) return undefined
			segments = last ? this.#segments(last) : rest
			await nextTurn()
		}
		return total
	}

	get #statements() {
		return statementsOf(this.#sort)
	}

	#segments(after: Place | undefined) {
		const sortKey = sortKeys[this.#sort.sortBy]
		return segmentsOf(sortKey, this.#sort.sortOrder, sortKey.within(this.#filter), after)
	}

	#lastOf(segment: object, stride: number): Promise<Place | undefined> {
		const { organizationId } = this.#params
		return this.#db.get(this.#statements.lastOfStride, { organizationId, ...segment, stride: stride - 1 })
	}

	/** How many match in a stride, when an offset skips all of them. */
	async #skippable(walked: { organizationId: string; stride: number }, toSkip: number): Promise<number | undefined> {
		if (toSkip < fewest) return undefined
		const { total = 0 } = (await this.#db.get(this.#statements.countOfStride, walked)) ?? {}
		return total <= toSkip ? total : undefined
	}

	/** The first filter that leaves few invoices. */
	#leavesFew(): Promise<Leftover | undefined> {
		this.#few ??= this.#findFew()
		return this.#few
	}

	async #findFew(): Promise<Leftover | undefined> {
		const { organizationId } = this.#filter
		for (const [index, params] of fewOf(this.#filter, this.#today)) {
			const counted = await this.#db.get(countFew(index), { organizationId, ...params, limit: fewest + 1 })
			if ((counted?.total ?? 0) <= fewest) return [index, params]
		}
		return undefined
	}

	async #findAmong<Among extends object>(
		statement: Query<Among & Params & Segment & { limit: number }, Place>,
		among: Among,
		{ limit, offset, after }: PageQuery,
	): Promise<Found> {
		const most = Math.min(offset, fewest) + limit + 1
		const found: Place[] = []
		for (const segment of this.#segments(after))
			found.push(...(await this.#db.all(statement, { ...this.#params, ...segment, ...among, limit: most - found.length })))
		const places = found.slice(offset, offset + limit)
		const isEnd = found.length <= offset + limit
		const total = isEnd && after === undefined ? { total: found.length } : {}
		return { places: idsOf(places), ...(isEnd ? total : { end: places.at(-1) as Place }) }
	}
}

const idsOf = (places: readonly Place[]) => places.map(({ id }) => id)
