// Cursors hold for what they were made for alone.
import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { dayMs } from '../base/dates.ts'
import { openSecrets } from '../outside/secrets.ts'
import { cursorDays, type ListScope, openCursor, sealCursor } from './cursor.ts'

const key = () => randomBytes(32).toString('base64')
const [first, second] = [key(), key()]
const secretsOf = (...keys: string[]) => openSecrets({ ENCRYPTION_KEYS: keys.join(','), DATA_DIR: '' } as never)
const secrets = secretsOf(first)
const now = Date.UTC(2026, 10, 23)
const scope: ListScope = {
	list: 'deal',
	organizationId: 'org_1',
	query: { stage: 'won', sortOrder: 'asc', limit: 50, offset: 0 },
}
const place = { key: 'münchen', id: 'dl_1' }
const cursor = sealCursor(secrets, scope, place, now)
const refused = expect.objectContaining({ code: 'invalid_request', errors: [expect.objectContaining({ parameter: 'cursor' })] })
const open = (changes: Partial<ListScope> = {}, text = cursor, at = now) =>
	openCursor(secrets, { ...scope, ...changes }, text, at)

describe('a cursor', () => {
	it('gives its place back, whatever the limit and the offset of the next request', () => {
		expect(open()).toEqual(place)
		expect(open({ query: { offset: 7, limit: 3, cursor, sortOrder: 'asc', stage: 'won' } })).toEqual(place)
		expect(openCursor(secrets, scope, sealCursor(secrets, scope, { key: 7, id: 'dl_2' }, now), now)).toEqual({
			key: 7,
			id: 'dl_2',
		})
	})

	it.each([
		['another list', { list: 'contact' }],
		['another organization', { organizationId: 'org_2' }],
		['another filter', { query: { ...scope.query, stage: 'lost' } }],
		['one filter more', { query: { ...scope.query, companyId: 'cmp_1' } }],
		['no filter', { query: { sortOrder: 'asc' } }],
		['another order', { query: { ...scope.query, sortOrder: 'desc' } }],
	])('is refused by %s', (_, changes) => {
		expect(() => open(changes)).toThrow(refused)
	})

	it('is refused when any of its characters is another one, or is missing', () => {
		for (let at = 0; at < cursor.length; at++) {
			const other = cursor[at] === 'A' ? 'B' : 'A'
			expect(() => open({}, cursor.slice(0, at) + other + cursor.slice(at + 1))).toThrow(refused)
			expect(() => open({}, cursor.slice(0, at))).toThrow(refused)
		}
		for (const text of [`${cursor}.`, `.${cursor}`, '.', 'now', `${cursor}.a`]) expect(() => open({}, text)).toThrow(refused)
	})

	it('is refused when it is old', () => {
		expect(open({}, cursor, now + cursorDays * dayMs)).toEqual(place)
		expect(() => open({}, cursor, now + (cursorDays + 1) * dayMs)).toThrow(refused)
		expect(() => open({}, cursor, now + 365 * dayMs)).toThrow(refused)
	})

	it('outlives a new key, and is refused without the key that signed it', () => {
		expect(openCursor(secretsOf(second, first), scope, cursor, now)).toEqual(place)
		expect(() => openCursor(secretsOf(second), scope, cursor, now)).toThrow(refused)
	})
})
