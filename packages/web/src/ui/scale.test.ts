import fc from 'fast-check'
import { expect, it } from 'vitest'
import { marksTo } from './scale.ts'

it('Marks are round, begin at 0 and reach over the highest bar', () => {
	expect(marksTo(1)).toEqual([0, 0.5, 1])
	expect(marksTo(340)).toEqual([0, 100, 200, 300, 400])
	expect(marksTo(1_000_000)).toEqual([0, 500_000, 1_000_000])
	expect(marksTo(41)).toEqual([0, 20, 40, 60])
})

it('There are at most five, and the highest bar takes at least half of the height', () => {
	fc.assert(
		fc.property(fc.integer({ min: 1, max: 1e15 }), (most) => {
			const marks = marksTo(most)
			const last = marks.at(-1) as number
			expect(marks.length).toBeLessThanOrEqual(5)
			expect(last).toBeGreaterThanOrEqual(most)
			expect(most / last).toBeGreaterThan(0.5)
		}),
	)
})
