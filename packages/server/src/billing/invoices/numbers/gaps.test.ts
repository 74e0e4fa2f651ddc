// What explains each missing number, whatever was deleted and skipped, and at what cost.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { explainGaps, type Gone, type Range } from './gaps.ts'
import type { Skip } from './store.ts'

const by = { invoiceId: null, skippedBy: 'usr_1', organizationId: 'org_1', series: 'R' }
const skipped = (firstNumber: number, length: number, id: number): Skip => ({
	...{ ...by, id: `skp_${id}`, reason: 'setting', skippedAt: id, firstNumber, lastNumber: firstNumber + length - 1 },
})
const deleted = (number: number): Gone => ({ number, invoiceId: `inv_${number}`, by: 'usr_1', at: number })

/** Number by number: a deleted one is its own gap, others go on until another begins or the newest skip ends. */
function slowly(ranges: readonly Range[], gone: readonly Gone[], skips: readonly Skip[]) {
	const found: { firstNumber: number; lastNumber: number; at: number | null }[] = []
	for (const { firstNumber, lastNumber } of ranges)
		for (let number = firstNumber; number <= lastNumber; number++) {
			const own = gone.find((one) => one.number === number)
			const at = own?.at ?? skips.find((one) => one.firstNumber <= number && number <= one.lastNumber)?.skippedAt ?? null
			const last = found.at(-1)
			const begins = own || skips.some((one) => one.firstNumber === number) || gone.some((one) => one.number === number - 1)
			if (last && number > firstNumber && !begins && last.at === at) last.lastNumber = number
			else found.push({ firstNumber: number, lastNumber: number, at })
		}
	return found
}

it('Each gap has the reason of its numbers: the deletion, else the newest skip', () => {
	const used = fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { maxLength: 12 })
	const skips = fc.array(fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 15 })), { maxLength: 8 })
	fc.assert(
		fc.property(used, fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { maxLength: 6 }), skips, (numbers, removed, spans) => {
			const sorted = [0, ...numbers.toSorted((a, b) => a - b), 41]
			const ranges = sorted
				.map((number, index) => ({ firstNumber: number + 1, lastNumber: (sorted[index + 1] ?? 0) - 1 }))
				.filter(({ firstNumber, lastNumber }) => firstNumber <= lastNumber)
			const gone = removed.toSorted((a, b) => a - b).map(deleted)
			const newestFirst = spans.map(([first, length], index) => skipped(first, length, 1_000 - index))
			const gaps = explainGaps('R', { ranges, gone, skips: newestFirst })
			const brief = gaps.map(({ firstNumber, lastNumber, at }) => ({ firstNumber, lastNumber, at }))
			expect(brief).toEqual(slowly(ranges, gone, newestFirst))
		}),
	)
})

it('Twice as many gaps cost twice the work, not four times', () => {
	const readsOf = (count: number) => {
		let reads = 0
		const ranges = Array.from({ length: count }, (_, index) => ({ firstNumber: 3 * index + 1, lastNumber: 3 * index + 2 }))
		const skips = ranges
			.map(({ firstNumber }, index) => {
				const skip = skipped(firstNumber, 2, index)
				const get = () => {
					reads++
					return firstNumber
				}
				return Object.defineProperty(skip, 'firstNumber', { get })
			})
			.reverse()
		expect(explainGaps('R', { ranges, gone: [], skips })).toHaveLength(count)
		return reads
	}
	expect(readsOf(2_000) / readsOf(1_000)).toBeLessThan(2.5)
})
