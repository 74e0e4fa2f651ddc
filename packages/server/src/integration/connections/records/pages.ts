// Pages of lists, whose next page is where the provider says, or where counting leads.
import { hash } from 'node:crypto'
import type { ObjectManifest, Pagination } from '../providers/manifest.ts'
import { valueAt } from '../values.ts'
import { callProvider, type ProviderAnswer, type Target } from './call.ts'
import { type Cursor, read, written } from './cursors.ts'
import { EndlessList, type ExternalRecord, type PageStart, ProviderFailed, type RecordContext, type RecordPage } from './types.ts'
import { recordsIn, timeText } from './values.ts'

type At = Extract<Cursor, { at: string }>
type Numbered = Extract<Cursor, { number: number }>

/** What a provider answers to a place in a list that it does not know any more: the same call without it was fine. */
const goneStatuses = [400, 404, 410, 422]

export async function listPage(context: RecordContext, target: Target, at: PageStart): Promise<RecordPage> {
	const { object } = target
	const { path, query } = whereOf(object.pagination, at.cursor, object.path)
	const isPlace = at.cursor !== null && ['cursor', 'after_id', 'link'].includes(object.pagination.style)
	const answer = await callProvider(context, target, {
		...{ method: 'GET', effect: 'read', path },
		// A URL that the provider gave has all that it needs.
		query: path === object.path ? { ...listQuery(object, at.fields), ...sinceQuery(object, at.since), ...query } : {},
		expected: isPlace ? goneStatuses : [],
	})
	if (answer.status >= 400)
		throw new ProviderFailed('cursor_expired', 'rejected', `The provider answered ${answer.status} to a place in its list.`)
	const records = await recordsIn(object, answer.json)
	const next = nextOf(object.pagination, at.cursor, answer, records)
	return { records, next: next && written(next), bytes: answer.bytes, total: at.cursor === null ? totalOf(object, answer) : null }
}

/** The parameters of each call that reads the list. */
export const listQuery = ({ query, pageSize, ...object }: ObjectManifest, fields: readonly string[]) => ({
	...query,
	...(pageSize && { [pageSize.parameter]: String(pageSize.most) }),
	...fieldQuery(object, fields),
})

/** Those that say what of each record is answered. */
export const fieldQuery = (object: Pick<ObjectManifest, 'asks' | 'changedField'>, fields: readonly string[]) =>
	object.asks ? { [object.asks.parameter]: askedOf(object, fields).join(',') } : {}

/** The names to ask for: those below the prefix, and the one that says when a record changed. */
export function askedOf(
	{ asks, changedField }: Pick<ObjectManifest, 'asks' | 'changedField'>,
	fields: readonly string[],
): string[] {
	const { prefix } = asks ?? { prefix: '' }
	const below = [...fields, changedField ?? ''].filter((path) => path.startsWith(prefix))
	return [...new Set(below.map((path) => /^[^.[]*/.exec(path.slice(prefix.length))?.[0] ?? '').filter(Boolean))]
}

function sinceQuery({ changes }: ObjectManifest, since: number | null): Record<string, string> {
	if (since === null || changes?.style !== 'parameter') return {}
	return { [changes.parameter]: timeText(since, changes.format) }
}

export function totalOf({ total }: ObjectManifest, { json }: ProviderAnswer): number | null {
	const value = total === undefined ? null : valueAt(json, total)
	return Number.isSafeInteger(value) ? (value as number) : null
}

function whereOf(pagination: Pagination, cursor: string | null, path: string): { path: string; query: Record<string, string> } {
	const { style } = pagination
	if (style === 'none') return { path, query: {} }
	if (style === 'page' || style === 'offset') {
		const { number } = cursor === null ? { number: firstOf(pagination) } : read<Numbered>(cursor, 'number')
		return { path, query: { [pagination.parameter]: String(number) } }
	}
	if (cursor === null) return { path, query: {} }
	const { at } = read<At>(cursor, 'at')
	return style === 'link' ? { path: at, query: {} } : { path, query: { [pagination.parameter]: at } }
}

const firstOf = (pagination: Pagination) => (pagination.style === 'page' ? (pagination.first ?? 1) : 0)

function nextOf(
	pagination: Pagination,
	cursor: string | null,
	answer: ProviderAnswer,
	records: readonly ExternalRecord[],
): Cursor | null {
	if (pagination.style === 'none') return null
	if (pagination.style === 'page' || pagination.style === 'offset') {
		if (records.length === 0) return null
		const seen = hash('sha256', JSON.stringify(records.map(({ id }) => id)))
		const before = cursor === null ? undefined : read<Numbered>(cursor, 'number')
		if (before?.seen === seen) throw repeats()
		const number = before?.number ?? firstOf(pagination)
		return { number: number + (pagination.style === 'page' ? 1 : records.length), seen }
	}
	const at = placeOf(pagination, answer, records)
	if (at === null) return null
	if (cursor !== null && read<At>(cursor, 'at').at === at) throw repeats()
	return { at }
}

const repeats = () => new EndlessList('The provider answers one page of the list again and again.')

function placeOf(
	pagination: Extract<Pagination, { style: 'cursor' | 'after_id' | 'link' }>,
	answer: ProviderAnswer,
	records: readonly ExternalRecord[],
): string | null {
	if (pagination.style === 'link') return linkOf(answer)
	if (pagination.style === 'after_id') return valueAt(answer.json, pagination.more) === true ? (records.at(-1)?.id ?? null) : null
	const next = valueAt(answer.json, pagination.next)
	if (typeof next === 'string' || typeof next === 'number') return next === '' ? null : String(next)
	// A list that seems to end here would have the records behind it deleted.
	if (next)
		throw new ProviderFailed(
			'rejected',
			'invalid_answer',
			`The provider names the next page at ${pagination.next} by what is no text.`,
		)
	return null
}

const linkForm = /<([^<>]*)>((?:\s*;\s*[^\s=;,"]+\s*(?:=\s*(?:"(?:[^"\\]|\\.)*"|[^\s;,"]*))?)*)/g
const nextForm = /;\s*rel\s*=\s*(?:"(?:[^"]*\s)?next(?:\s[^"]*)?"|next(?=\s|;|$))/i

/** The URL of the next page (RFC 8288 §3). Whether it may be called is decided when it is. */
function linkOf({ headers, url }: ProviderAnswer): string | null {
	const header = [headers.link ?? []].flat().join(', ').slice(0, 16_384)
	const [, target] = [...header.matchAll(linkForm)].find(([, , parameters = '']) => nextForm.test(parameters)) ?? []
	if (target === undefined) return null
	const next = URL.parse(target, url.href)
	if (next?.origin !== url.origin)
		throw new ProviderFailed('rejected', 'unsafe_url', 'The provider names a next page at another origin, which is not called.')
	return next.href
}
