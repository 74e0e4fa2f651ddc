// Cursors: where a page of a list begins, signed by this server. A cursor holds for the list, the filters, the order and the organization
// that it was made for: in another list it would name a row that is not there, and silently leave out what lies between.
import { timingSafeEqual } from 'node:crypto'
import { dayMs } from '../base/dates.ts'
import { ApiError } from '../base/errors.ts'
import type { Place } from '../db/pages.ts'
import type { Secrets } from '../outside/secrets.ts'

/** What a cursor holds for. */
export interface ListScope {
	/** The list's name. */
	readonly list: string
	readonly organizationId: string
	/** The query of the request, whose place in the list does not count. */
	readonly query: Readonly<Record<string, unknown>>
}

/** A cursor is good for so long. */
export const cursorDays = 90

const purpose = 'list cursors'

/** Makes the cursor of a place. */
export function sealCursor(secrets: Secrets, scope: ListScope, { key, id }: Place, now: number): string {
	const place = Buffer.from(JSON.stringify([Math.floor(now / dayMs), key, id])).toString('base64url')
	return `${place}.${secrets.tokens(purpose, boundTo(scope, place)).get(secrets.keyIds[0])}`
}

/** The place of a cursor. Throws 400 for one that this list did not give, or that is too old. */
export function openCursor(secrets: Secrets, scope: ListScope, cursor: string, now: number): Place {
	const [place = '', signature = '', ...rest] = cursor.split('.')
	const isOurs = [...secrets.tokens(purpose, boundTo(scope, place)).values()].some((token) => isSame(token, signature))
	if (!isOurs || rest.length > 0) throw invalidCursor()
	const [day, key, id] = JSON.parse(Buffer.from(place, 'base64url').toString()) as [number, Place['key'], string]
	if (now / dayMs - day > cursorDays) throw invalidCursor()
	return { key, id }
}

const notFilters = new Set(['limit', 'offset', 'cursor'])

function boundTo({ list, organizationId, query }: ListScope, place: string): string {
	const filters = Object.entries(query).filter(([name, value]) => !notFilters.has(name) && value !== undefined)
	return JSON.stringify([list, organizationId, filters.sort(([a], [b]) => (a < b ? -1 : 1)), place])
}

function isSame(one: string, other: string): boolean {
	const [a, b] = [Buffer.from(one), Buffer.from(other)]
	return a.length === b.length && timingSafeEqual(a, b)
}

function invalidCursor(): ApiError {
	const detail = `is not from this list with these filters and this order, or is older than ${cursorDays} days: begin with the first page`
	return new ApiError('invalid_request', 'The cursor cannot be used here.', {
		errors: [{ parameter: 'cursor', code: 'cursor', detail }],
	})
}
