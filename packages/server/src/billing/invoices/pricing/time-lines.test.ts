import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Deal, TaxRate, TimeEntry } from '../../../generated/contract.ts'
import { rateEntries, timeLines } from './time-lines.ts'
import { computeInvoice } from './totals.ts'

const deal = { id: 'dl_1', currency: 'USD', hourlyRateCents: 10_000 } as Deal
const organization = { defaultCurrency: 'USD', hourlyRateCents: null }

let count = 0
const entry = (fields: Partial<TimeEntry> = {}) =>
	({
		id: `te_${++count}`,
		dealId: deal.id,
		taskId: null,
		taskName: null,
		deliverableId: null,
		deliverableName: null,
		startedAt: count,
		durationSeconds: 3600,
		billable: true,
		hourlyRateCents: null,
		status: 'open',
		invoiceId: null,
		...fields,
	}) as TimeEntry

const charged = (entries: TimeEntry[], ids = entries.map(({ id }) => id)) => rateEntries({ ids, entries, deal, organization })
const linesOf = (entries: TimeEntry[], groupBy: Parameters<typeof timeLines>[1] = 'task', rate?: TaxRate) =>
	timeLines(charged(entries), groupBy, rate, { timeRounding: 'none', timeRoundingMinutes: 15 }, 'Time')
const words = (entries: TimeEntry[]) => linesOf(entries).map(({ description }) => description)

describe('entries share a line', () => {
	it.each([
		[
			'the same task, however it is called',
			[
				{ taskId: 'a', taskName: 'One' },
				{ taskId: 'a', taskName: 'Two' },
			],
			['One'],
		],
		['the same name, when neither has an id', [{ taskName: 'One' }, { taskName: 'One' }], ['One']],
		['no task', [{}, {}], ['Time']],
		[
			'not: one name, two tasks',
			[
				{ taskId: 'a', taskName: 'One' },
				{ taskId: 'b', taskName: 'One' },
			],
			['One', 'One'],
		],
		['not: a name that is the id of another', [{ taskId: 'a' }, { taskName: 'a' }], ['a', 'a']],
		['not: without a task and of the task "Time"', [{}, { taskName: 'Time' }], ['Time', 'Time']],
		['not: at two rates', [{ taskName: 'One' }, { taskName: 'One', hourlyRateCents: 1 }], ['One', 'One']],
		['names that look like JSON', [{ taskName: '"]' }, { taskName: '"] 10000' }], ['"]', '"] 10000']],
	])('%s', (_, entries, expected) => {
		expect(words(entries.map(entry))).toEqual(expected)
	})
})

describe('the lines', () => {
	it('stand in the order in which their work began, entries of one moment by id', () => {
		const early = entry({ id: 'te_b', startedAt: 1, taskName: 'Early' })
		const late = entry({ id: 'te_a', startedAt: 2, taskName: 'Late' })
		const same = entry({ id: 'te_0', startedAt: 1, taskName: 'Same moment' })
		for (const entries of [
			[late, early, same],
			[same, late, early],
		]) {
			// biome-ignore format: a row
			expect(words(entries)).toEqual(['Same moment', 'Early', 'Late'])
			expect(linesOf(entries, 'all')[0]?.timeEntryIds).toEqual(['te_0', 'te_b', 'te_a'])
		}
		expect(linesOf([late, early]).map(({ position }) => position)).toEqual([1, 2])
	})

	it.each([
		[3600, '1'],
		[5400, '1.5'],
		[1, '0.000278'],
		[2, '0.000556'],
		[9001, '2.500278'],
		[0, '0'],
	])('have the hours of %i seconds as %s', (durationSeconds, quantity) => {
		expect(linesOf([entry({ durationSeconds })])).toMatchObject([{ quantity, durationSeconds, unit: 'h', kind: 'time' }])
	})

	const rate = fc.constantFrom(null, 0, 1, 2750, 3225, 9_999, 33_333)
	const name = fc.constantFrom(null, 'Design', 'Build', 'Review')
	const fields = fc.record({
		taskName: name,
		deliverableName: name,
		hourlyRateCents: rate,
		startedAt: fc.nat(50),
		durationSeconds: fc.nat(100_000),
	})

	it.each(['task', 'deliverable', 'all'] as const)(
		'have every entry once, and amount to its group’s seconds × rate ÷ 3600, half up: %s',
		(groupBy) => {
			fc.assert(
				fc.property(fc.array(fields, { minLength: 1, maxLength: 30 }), (many) => {
					const entries = many.map(entry)
					const byId = new Map(entries.map((one) => [one.id, one]))
					const lines = linesOf(entries, groupBy)
					expect(lines.flatMap(({ timeEntryIds }) => timeEntryIds).sort()).toEqual([...byId.keys()].sort())
					const amounts = computeInvoice({ taxRounding: 'line', lines: lines.map((line) => ({ ...line, taxes: [] })) }).lines
					for (const [index, { timeEntryIds, unitPriceCents }] of lines.entries()) {
						const group = timeEntryIds.map((id) => byId.get(id) as TimeEntry)
						const seconds = group.reduce((sum, { durationSeconds }) => sum + (durationSeconds as number), 0)
						const price = unitPriceCents as number
						expect(new Set(group.map(({ hourlyRateCents }) => hourlyRateCents ?? 10_000))).toEqual(new Set([price]))
						// Exact as floats: both factors are small integers.
						expect(amounts[index]?.amountCents).toBe(Math.floor((seconds * price * 2 + 3600) / 7200))
					}
				}),
			)
		},
	)
})

describe('what cannot be invoiced', () => {
	it('is named by where it first stands in the request, however often others stand before it', () => {
		const good = entry()
		const running = entry({ durationSeconds: null })
		const attempt = () => charged([good, running], [good.id, good.id, running.id, 'te_unknown', running.id])
		expect(attempt).toThrow(
			expect.objectContaining({
				code: 'invalid_time_entries',
				errors: [
					{ pointer: '/timeEntryIds/2', code: 'running', detail: `${running.id} is still running` },
					{ pointer: '/timeEntryIds/3', code: 'unknown', detail: 'there is no time entry te_unknown' },
				],
			}),
		)
	})

	it('is only missing a rate when nobody has one; 0 is a rate', () => {
		const without = { ...deal, hourlyRateCents: null }
		const [free, none] = [entry({ hourlyRateCents: 0 }), entry()]
		const ask = (hourlyRateCents: number | null, defaultCurrency = 'USD') =>
			rateEntries({
				ids: [free.id, none.id],
				entries: [free, none],
				deal: without,
				organization: { defaultCurrency, hourlyRateCents },
			})
		const named = [expect.objectContaining({ pointer: '/timeEntryIds/1' })]
		expect(() => ask(null)).toThrow(expect.objectContaining({ code: 'rate_missing', errors: named }))
		expect(() => ask(0, 'EUR')).toThrow(expect.objectContaining({ code: 'currency_mismatch', errors: named }))
		expect(ask(0).map(({ rateCents }) => rateCents)).toEqual([0, 0])
	})
})
