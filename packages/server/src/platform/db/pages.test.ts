// Deep offsets are skipped in strides, and others have their turns in between.
import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { Db } from './database.ts'
import { type PageParameters, skipTo, stepOf } from './pages.ts'

const step = stepOf((knex) => knex('things'), { column: 'createdAt', direction: 'asc' })

/** A list of this many rows in a database that notes what each statement skips. */
function listOf(rows: number, rowids = rows) {
	const skipped: number[] = []
	const db = {
		dialect: 'sqlite',
		get: async (query: unknown, { offset, afterKey = -1 }: PageParameters) => {
			if (query !== step) return { most: rowids }
			skipped.push(offset)
			const key = Number(afterKey) + 1 + offset
			return key < rows ? { key, id: `t_${key}` } : undefined
		},
	} as unknown as Db
	return { db, skipped }
}

it('an offset is skipped by statements of 5,000 rows at most, with a turn for others after each', async () => {
	const { db, skipped } = listOf(1_000_000)
	let turns = 0
	let isOver = false
	const others = (async () => {
		for (; !isOver; turns++) await turn()
	})()
	expect(await skipTo(db, 'things', step, {}, { limit: 7, offset: 900_123 })).toEqual({
		...{ limit: 7, offset: 123 },
		after: { key: 899_999, id: 't_899999' },
	})
	isOver = true
	await others
	expect(Math.max(...skipped)).toBeLessThan(5_000)
	expect(skipped).toHaveLength(180)
	expect(turns).toBeGreaterThanOrEqual(180)
})

it('an offset beyond the end is answered with as many steps as the list has, and beyond the table without any', async () => {
	const few = listOf(12_000, 1_000_000)
	expect(await skipTo(few.db, 'things', step, {}, { limit: 7, offset: 900_000 })).toBeUndefined()
	expect(few.skipped).toHaveLength(3)
	const whole = listOf(1_000_000)
	expect(await skipTo(whole.db, 'things', step, {}, { limit: 7, offset: 999_999_999 })).toBeUndefined()
	expect(whole.skipped).toEqual([])
})

it('a small offset is left to the page', async () => {
	const { db, skipped } = listOf(10)
	const page = { limit: 7, offset: 4_999 }
	expect(await skipTo(db, 'things', step, {}, page)).toBe(page)
	expect(skipped).toEqual([])
})
