// Lists: `await` gives one page, `for await` the records of all pages.
import { ApiPromise } from './api-promise.ts'

/** One page of a list. Iterating it gives its records and those of all pages after it. */
export class Page<T, Meta = undefined> implements AsyncIterable<T> {
	/** The records of this page. */
	readonly data: T[]
	/** The place of the page in its list; undefined for lists without it. */
	readonly meta: Meta
	readonly #next: (() => PagePromise<T, Meta>) | undefined

	constructor(data: T[], meta: Meta, next: (() => PagePromise<T, Meta>) | undefined) {
		this.data = data
		this.meta = meta
		this.#next = next
	}

	/**
	 * Whether there may be a page after this one. A list without `meta` ends with a page that is not full: if its length
	 * is a multiple of the limit, the page after the last full one is empty.
	 */
	get hasNextPage(): boolean {
		return this.#next !== undefined
	}

	/** Asks for the next page; undefined after the last. */
	nextPage(): PagePromise<T, Meta> | undefined {
		return this.#next?.()
	}

	async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
		yield* this.data
		for (let page = await this.nextPage(); page; page = await page.nextPage()) yield* page.data
	}
}

/** A promise of the first page; iterating it gives the records of all pages. */
export class PagePromise<T, Meta = undefined> extends ApiPromise<Page<T, Meta>> implements AsyncIterable<T> {
	async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
		yield* await this
	}
}

/** The start of a page and its greatest length. */
export interface Span {
	readonly limit: number
	readonly offset: number
}

/** The `meta` of a page. In a list that is read by cursor it has a `nextCursor`, and `total` is null after the first page. */
export interface PageMeta {
	readonly total: number | null
	readonly nextCursor?: string | null
}

/** Whether records may follow a page. An empty page always ends the list; otherwise a wrong total would never end it. */
export function continues(length: number, span: Span, meta: PageMeta | undefined): boolean {
	if (length === 0) return false
	return typeof meta?.total === 'number' ? span.offset + length < meta.total : length >= span.limit
}

/** The start of the next page. A cursor is preferred, because records that are added meanwhile do not shift it. */
export function placeAfter(span: Span, length: number, meta: PageMeta | undefined): { offset: number; cursor?: string } {
	return meta?.nextCursor ? { offset: 0, cursor: meta.nextCursor } : { offset: span.offset + length }
}
