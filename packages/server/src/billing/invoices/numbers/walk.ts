// Walks the numbers of the series for their gaps, in steps that leave turns to others. A page costs what lies before its last gap.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { NumberGap } from '../../../generated/contract.ts'
import type { Db } from '../../../platform/db/database.ts'
import { countBound, type PageQuery } from '../../../platform/db/pages.ts'
import { explainGaps, type Range } from './gaps.ts'
import { findNumber, readKnown, readMissing } from './gaps-store.ts'

export interface Series {
	readonly organizationId: string
	readonly series: string
	/** The next number of the series: what is missing below it is a gap. */
	readonly next: number
}

/** How many numbers a step looks at: some 2 ms on SQLite. */
const stepNumbers = 2_000
/** How many deletions and skips explain a part of a gap. */
const mostKnown = 1_000

/** The gaps of a series from a number on, step by step; a step may have none. */
async function* walk(db: Db, { next, ...key }: Series, from: number): AsyncGenerator<NumberGap[]> {
	for (let number = from; ; await nextTurn()) {
		const found = await findNumber(db, key, number)
		const before = (found ?? next) - 1
		if (before >= number) yield* explain(db, key, [{ firstNumber: number, lastNumber: before }])
		if (found === undefined) return
		const { ranges, last } = await readMissing(db, key, found, found + stepNumbers - 1)
		yield* explain(db, key, ranges)
		number = last + 1
	}
}

/** A gap that has much to say is explained part by part; each part ends where a reason ends. */
async function* explain(db: Db, key: Omit<Series, 'next'>, ranges: readonly Range[]): AsyncGenerator<NumberGap[]> {
	let left = ranges
	do {
		const [first, last] = [left[0]?.firstNumber ?? 0, left.at(-1)?.lastNumber ?? 0]
		const { gone, skips } = left.length > 0 ? await readKnown(db, key, first, last, mostKnown) : { gone: [], skips: [] }
		const lastGone = gone.length < mostKnown ? last : (gone.at(-1)?.number ?? last)
		const newest = Math.max(...skips.map(({ firstNumber }) => Number(firstNumber)))
		const lastSkip = skips.length < mostKnown || newest <= first ? last : newest - 1
		const end = Math.min(lastGone, lastSkip)
		yield explainGaps(key.series, { ranges: upTo(left, end), gone, skips })
		left = after(left, end)
		await nextTurn()
	} while (left.length > 0)
}

const upTo = (ranges: readonly Range[], end: number): Range[] =>
	ranges.flatMap(({ firstNumber, lastNumber }) =>
		firstNumber <= end ? { firstNumber, lastNumber: Math.min(lastNumber, end) } : [],
	)

const after = (ranges: readonly Range[], end: number): Range[] =>
	ranges.flatMap(({ firstNumber, lastNumber }) =>
		lastNumber > end ? { firstNumber: Math.max(firstNumber, end + 1), lastNumber } : [],
	)

/** A page of the gaps of all series, which come in the order of their names. The total is looked for in some more steps. */
export async function readGapPage(db: Db, all: readonly Series[], { limit, offset, after }: PageQuery) {
	const rows: NumberGap[] = []
	let [seen, steps, isWhole] = [0, 0, true]
	const isEnough = () => seen > offset + limit && (after !== undefined || seen > countBound || ++steps > countBound / stepNumbers)
	walking: for (const one of all.filter(({ series }) => after === undefined || series >= after.id)) {
		const from = after?.id === one.series ? Number(after.key) + 1 : 1
		for await (const gaps of walk(db, one, from)) {
			for (const gap of gaps) if (++seen > offset && rows.length < limit) rows.push(gap)
			if (!isEnough()) continue
			isWhole = false
			break walking
		}
	}
	const hasMore = seen > offset + rows.length && rows.length > 0
	const last = rows.at(-1)
	return {
		rows: rows.map((gap) => JSON.stringify(gap)),
		hasMore,
		total: isWhole && !after && seen <= countBound ? seen : null,
		...(hasMore && last && { end: { key: last.lastNumber, id: last.series } }),
	}
}
