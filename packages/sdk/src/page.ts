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
	 * Whether there is a page after this one. A server of an older version may not say so: then a list without `meta` ends with a page
	 * that is not full.
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

/** The `meta` of a page. Servers of older versions have no `hasMore`, and `nextCursor` in some lists only. */
export interface PageMeta {
	readonly total: number | null
	readonly hasMore?: boolean
	readonly nextCursor?: string | null
}

/** The start of the next page. */
export interface NextPlace {
	readonly offset: number
	readonly cursor?: string
}

/**
 * Where the next page begins; undefined after the last. A cursor is preferred, because records that are added meanwhile do not shift it, and
 * a page far into the list costs no more. A list without `meta` has it in the header `Link` alone.
 */
export function placeAfter(
	span: Span & { readonly cursor?: string },
	length: number,
	meta: PageMeta | undefined,
	link: string | null,
): NextPlace | undefined {
	const cursor = meta?.nextCursor ?? cursorOf(link)
	if (!continues(length, span, meta, cursor)) return undefined
	return cursor ? { offset: 0, cursor } : { offset: span.offset + length }
}

function continues(
	length: number,
	{ limit, offset, cursor }: Span & { readonly cursor?: string },
	meta: PageMeta | undefined,
	next: string | undefined,
): boolean {
	if (meta?.hasMore !== undefined) return meta.hasMore && (length > 0 || next !== undefined)
	if (!meta && next !== undefined) return true
	// The page behind a cursor of `Link` would have a link, too. An empty page ends a list in any case, as a total may be wrong.
	if (length === 0 || (!meta && cursor !== undefined)) return false
	return typeof meta?.total === 'number' ? offset + length < meta.total : length >= limit
}

/** The cursor in a `Link` to the next page (RFC 8288). */
function cursorOf(link: string | null): string | undefined {
	const [, query] = /<[^>?]*\?([^>]*)>\s*;\s*rel="?next"?/.exec(link ?? '') ?? []
	return new URLSearchParams(query).get('cursor') ?? undefined
}
