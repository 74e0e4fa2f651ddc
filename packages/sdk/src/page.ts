// Lists: `await` gives one page, `for await` the records of all pages.
import { ApiPromise } from './api-promise.ts'
import { RemitError } from './errors.ts'
import type { RequestOptions } from './options.ts'

/** One page of a list. Iterating it gives its records and those of all pages after it. */
export class Page<T, Meta = undefined> implements AsyncIterable<T> {
	/** The records of this page. */
	readonly data: T[]
	/** The place of the page in its list; undefined for lists without it. */
	readonly meta: Meta
	readonly #next: NextPage<T, Meta> | undefined

	constructor(data: T[], meta: Meta, next: NextPage<T, Meta> | undefined) {
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

	/** Asks for the next page; undefined after the last. `options` win over those of this page's call. */
	nextPage(options?: RequestOptions): PagePromise<T, Meta> | undefined {
		return this.#next?.(options)
	}

	async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
		for await (const page of pagesFrom(this)) yield* page.data
	}
}

type NextPage<T, Meta> = (options?: RequestOptions) => PagePromise<T, Meta>

async function* pagesFrom<T, Meta>(first: Page<T, Meta>): AsyncGenerator<Page<T, Meta>, void, undefined> {
	for (let page: Page<T, Meta> | undefined = first; page; page = await page.nextPage()) yield page
}

/** A promise of the first page; iterating it gives the records of all pages. */
export class PagePromise<T, Meta = undefined> extends ApiPromise<Page<T, Meta>> implements AsyncIterable<T> {
	async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
		yield* await this
	}

	/** The pages, this one first. */
	async *pages(): AsyncGenerator<Page<T, Meta>, void, undefined> {
		yield* pagesFrom(await this)
	}

	/**
	 * The records of all pages as one array.
	 *
	 * @param options - `limit`: how many at most; no page is asked for beyond it.
	 * @returns The first records of the list.
	 * @example
	 * ```ts
	 * const companies = await remit.companies.list({ search: 'acme' }).toArray({ limit: 1_000 })
	 * ```
	 */
	async toArray(options: { limit: number }): Promise<T[]> {
		// A caller in JavaScript may leave it out.
		const limit = options?.limit
		if (!(limit >= 0)) {
			// The request is under way, and nobody will see how it fails.
			this.catch(() => {})
			throw new RemitError(`limit must be a number from 0; it is ${String(limit)}`)
		}
		const records: T[] = []
		for await (const { data } of this.pages()) {
			records.push(...data.slice(0, limit - records.length))
			if (records.length >= limit) break
		}
		return records
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
