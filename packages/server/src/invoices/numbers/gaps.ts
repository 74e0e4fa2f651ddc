// Explains the gaps in a series of numbers: what was deleted, renumbered or skipped.
import type { NumberGap } from '../../generated/contract.ts'
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

/** Each gap once, cut where its reason changes. */
export function explainGaps(series: string, { ranges, gone, skips }: Known): NumberGap[] {
	const deleted = new Map(gone.map((one) => [one.number, one]))
	const begins = [...gone.map(({ number }) => number), ...skips.map(({ firstNumber }) => Number(firstNumber))].sort(
		(a, b) => a - b,
	)
	const gaps: NumberGap[] = []
	for (const { firstNumber: from, lastNumber: to } of ranges) {
		for (let firstNumber = from; firstNumber <= to; ) {
			const one = deleted.get(firstNumber)
			const skip = skips.find((each) => Number(each.firstNumber) <= firstNumber && firstNumber <= Number(each.lastNumber))
			const next = begins.find((begin) => begin > firstNumber) ?? Number.POSITIVE_INFINITY
			const lastNumber = one ? firstNumber : Math.min(to, next - 1, skip ? Number(skip.lastNumber) : to)
			gaps.push({ series, firstNumber, lastNumber, ...reasonOf(one, skip) })
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
