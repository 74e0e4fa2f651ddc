import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nextAttempt, retryAfterMs } from './backoff.ts'

const schedule = [0, 5, 300]
const day = 86_400_000
const now = Date.UTC(2026, 0, 1)

describe('nextAttempt', () => {
	const wait = (made: number, options: Parameters<typeof nextAttempt>[3]) =>
		(nextAttempt(schedule, made, now, options) ?? Number.NaN) - now

	it('is at the time of the schedule, give or take a fifth', () => {
		expect([0, 0.5, 1].map((random) => wait(1, { random }))).toEqual([4_000, 5_000, 6_000])
		expect([0, 0.5, 1].map((random) => wait(2, { random }))).toEqual([240_000, 300_000, 360_000])
		expect([0, 0.5, 1].map((random) => wait(0, { random }))).toEqual([0, 0, 0])
	})

	it('is none when the schedule is used up, whatever the receiver asks for', () => {
		expect(nextAttempt(schedule, 3, now)).toBeUndefined()
		expect(nextAttempt(schedule, 3, now, { retryAfterMs: 1_000 })).toBeUndefined()
		expect(nextAttempt([], 0, now)).toBeUndefined()
	})

	it('is never before the receiver asked for, and never earlier for its asking', () => {
		expect(wait(1, { random: 0.5, retryAfterMs: 60_000 })).toBe(60_000)
		expect(wait(2, { random: 0.5, retryAfterMs: 60_000 })).toBe(300_000)
	})

	it('is a whole millisecond within bounds for every schedule and every wish', () => {
		const seconds = fc.array(fc.integer({ min: 0, max: 9_999_999 }), { minLength: 1, maxLength: 50 })
		const wish = fc.nat(day)
		const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
		fc.assert(
			fc.property(seconds, fc.nat(49), wish, random, (list, made, asked, chance) => {
				const next = nextAttempt(list, made, now, { retryAfterMs: asked, random: chance })
				const planned = list[made]
				if (planned === undefined) return next === undefined
				const least = Math.max(planned * 800, asked)
				const most = Math.max(planned * 1_200, asked)
				return Number.isInteger(next) && Number(next) - now >= least - 1 && Number(next) - now <= most + 1
			}),
		)
	})

	it('spreads what failed together over the fifths', () => {
		const waits = Array.from({ length: 200 }, () => (nextAttempt(schedule, 2, now) ?? 0) - now)
		expect(Math.max(...waits) - Math.min(...waits)).toBeGreaterThan(60_000)
	})
})

describe('retryAfterMs', () => {
	it('reads seconds', () => {
		expect(['0', '120', ' 120 ', '86400'].map((header) => retryAfterMs(header, now))).toEqual([0, 120_000, 120_000, day])
	})

	it('puts off for a day at most', () => {
		const absurd = ['86401', '999999999', '9'.repeat(400), 'Fri, 31 Dec 9999 23:59:59 GMT']
		expect(absurd.map((header) => retryAfterMs(header, now))).toEqual(absurd.map(() => day))
	})

	it('reads a date, and takes one that is past for now', () => {
		expect(retryAfterMs('Thu, 01 Jan 2026 00:02:00 GMT', now)).toBe(120_000)
		expect(retryAfterMs('Fri, 31 Dec 1999 23:59:59 GMT', now)).toBe(0)
	})

	it('ignores what is neither', () => {
		const garbage = [
			'',
			' ',
			'soon',
			'-5',
			'1.5',
			'1e9',
			'0x10',
			'120 seconds',
			'tomorrow 2030',
			'retry 3000',
			'2099-01-01',
			'1 2 3',
		]
		expect(garbage.map((header) => [header, retryAfterMs(header, now)])).toEqual(garbage.map((header) => [header, undefined]))
		expect(retryAfterMs(undefined, now)).toBeUndefined()
		expect(retryAfterMs('Thu, 99 Jan 2026 00:02:00 GMT', now)).toBeUndefined()
	})

	it('takes any text for a wait that is not negative, or for none', () => {
		fc.assert(
			fc.property(fc.oneof(fc.string(), fc.integer().map(String), fc.date().map(String)), (header) => {
				const wait = retryAfterMs(header, now)
				return wait === undefined || (wait >= 0 && wait <= day)
			}),
		)
	})
})
