// Explains the gaps in a series of numbers: what was deleted, renumbered or skipped.
import type { NumberGap } from '../../../generated/contract.ts'
import type { Skip } from './store.ts'

export interface Range {
	readonly firstNumber: number
	readonly lastNumber: number
}

/** The number of a deleted invoice. */
export interface Gone {
	readonly number: number
	readonly invoiceId: string
	readonly by: string
	readonly at: number
}

interface Known {
	readonly ranges: readonly Range[]
	/** By their numbers. */
	readonly gone: readonly Gone[]
	/** The newest first. */
	readonly skips: readonly Skip[]
}

/** Each gap once, cut where its reason changes. Goes through the numbers once, with the skips that cover the present one at hand. */
export function explainGaps(series: string, { ranges, gone, skips }: Known): NumberGap[] {
	const deleted = new Map(gone.map((one) => [one.number, one]))
	const spans = skips
		.map((skip, age) => ({ skip, age, first: Number(skip.firstNumber), last: Number(skip.lastNumber) }))
		.sort((a, b) => a.first - b.first)
	const begins = [...gone.map(({ number }) => number), ...spans.map(({ first }) => first)].sort((a, b) => a - b)
	const gaps: NumberGap[] = []
	let [spansSeen, beginsSeen] = [0, 0]
	let covering: typeof spans = []
	for (const { firstNumber: from, lastNumber: to } of ranges) {
		for (let firstNumber = from; firstNumber <= to; ) {
			for (let span = spans[spansSeen]; span && span.first <= firstNumber; span = spans[++spansSeen]) covering.push(span)
			covering = covering.filter(({ last }) => last >= firstNumber)
			while ((begins[beginsSeen] ?? Number.POSITIVE_INFINITY) <= firstNumber) beginsSeen++
			const next = begins[beginsSeen] ?? Number.POSITIVE_INFINITY
			const one = deleted.get(firstNumber)
			const newest = covering.reduce<(typeof spans)[0] | undefined>((a, b) => (a && a.age < b.age ? a : b), undefined)
			const lastNumber = one ? firstNumber : Math.min(to, next - 1, newest?.last ?? to)
			gaps.push({ series, firstNumber, lastNumber, ...reasonOf(one, newest?.skip) })
			firstNumber = lastNumber + 1
		}
	}
	return gaps
}

function reasonOf(one: Gone | undefined, skip: Skip | undefined): Pick<NumberGap, 'reason' | 'invoiceId' | 'by' | 'at'> {
	if (one) return { reason: 'deleted', invoiceId: one.invoiceId, by: one.by, at: one.at }
	if (!skip) return { reason: 'unknown', invoiceId: null, by: null, at: null }
	return { reason: skip.reason, invoiceId: skip.invoiceId, by: skip.skippedBy, at: Number(skip.skippedAt) }
}
