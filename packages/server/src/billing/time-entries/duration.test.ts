import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { TimeEntryUpdate } from '../../generated/contract.ts'
import { lastInstant } from '../../platform/base/dates.ts'
import { ApiError } from '../../platform/base/errors.ts'
import { defaultStart, type Span, writeSpan } from './duration.ts'

const nine = Date.UTC(2026, 2, 31, 9)
const minute = 60_000
const hour = 60 * minute
const year = 366 * 24 * 3600

const running: Span = { startedAt: nine, endedAt: null, durationSeconds: null }
const worked: Span = { startedAt: nine, endedAt: nine + hour, durationSeconds: 3600 }
/** Four hours, one of them a break. */
const withBreak: Span = { startedAt: nine, endedAt: nine + 4 * hour, durationSeconds: 3 * 3600 }

describe('what is written on a time entry', () => {
	it.each<[string, Span, TimeEntryUpdate, Span]>([
		['nothing leaves it running', running, {}, running],
		['nothing leaves an end and breaks', withBreak, {}, withBreak],
		['the end gives the duration', running, { endedAt: nine + hour }, worked],
		['the end may be text with an offset', running, { endedAt: '2026-03-31T12:00:00+02:00' }, worked],
		['the duration gives the end', running, { durationSeconds: 3600 }, worked],
		['the duration gives the end where one was', withBreak, { durationSeconds: 3600 }, worked],
		['both keep a duration that is shorter', running, { endedAt: nine + 4 * hour, durationSeconds: 3 * 3600 }, withBreak],
		['an end without duration is without breaks', withBreak, { endedAt: nine + hour }, worked],
		['an end with null for the duration is, too', withBreak, { endedAt: nine + hour, durationSeconds: null }, worked],
		['null for the end with a duration gives the end', withBreak, { endedAt: null, durationSeconds: 3600 }, worked],
		['null for the end lets it run again', worked, { endedAt: null }, running],
		['null for the duration does, too', worked, { durationSeconds: null }, running],
		[
			'a beginning leaves the end',
			worked,
			{ startedAt: nine - hour },
			{ ...worked, startedAt: nine - hour, durationSeconds: 7200 },
		],
		[
			'a beginning leaves the end and the breaks',
			withBreak,
			{ startedAt: nine + 5 * minute },
			{ ...withBreak, startedAt: nine + 5 * minute, durationSeconds: 3 * 3600 - 300 },
		],
		['the same beginning changes nothing', withBreak, { startedAt: nine }, withBreak],
		['a beginning leaves it running', running, { startedAt: nine + hour }, { ...running, startedAt: nine + hour }],
		['nothing may take no time', running, { endedAt: nine }, { ...running, endedAt: nine, durationSeconds: 0 }],
		['a zero is a duration', running, { durationSeconds: 0 }, { ...running, endedAt: nine, durationSeconds: 0 }],
		[
			'a second that has only begun does not count',
			running,
			{ endedAt: nine + 1999 },
			{ ...running, endedAt: nine + 1999, durationSeconds: 1 },
		],
		[
			'a leap year is not too long',
			running,
			{ endedAt: nine + year * 1000 },
			{ ...running, endedAt: nine + year * 1000, durationSeconds: year },
		],
	])('%s', (_, stored, input, expected) => {
		expect(writeSpan(stored, input)).toEqual(expected)
	})

	it.each<[string, Span, TimeEntryUpdate, string]>([
		['an end before the beginning', running, { endedAt: nine - 1 }, '/endedAt'],
		['an end before the beginning, with a duration', running, { endedAt: nine - 1, durationSeconds: 0 }, '/endedAt'],
		['a beginning after the end', worked, { startedAt: nine + 2 * hour }, '/startedAt'],
		['a beginning that leaves less than the breaks', withBreak, { startedAt: nine + 3 * hour + 1 }, '/startedAt'],
		['a duration that does not fit', running, { endedAt: nine + hour, durationSeconds: 3601 }, '/durationSeconds'],
		['more than a year by its end', running, { endedAt: nine + year * 1000 + 1000 }, '/endedAt'],
		['more than a year by its beginning', worked, { startedAt: nine - year * 1000 }, '/startedAt'],
		['a duration that ends after 2200', { ...running, startedAt: lastInstant - 999 }, { durationSeconds: 1 }, '/durationSeconds'],
	])('is refused: %s', (_, stored, input, pointer) => {
		expect(outcomeOf(stored, input)).toMatchObject({ code: 'invalid_time_entry', errors: [{ pointer }] })
	})

	it('is the span alone: the rest of an entry is not part of it', () => {
		const entry = { ...worked, description: 'Old' }
		for (const input of [{}, { startedAt: nine }, { durationSeconds: 3600 }]) expect(writeSpan(entry, input)).toEqual(worked)
	})

	it('ignores that clocks are changed: two hours by the wall clock in that night are three, or one', () => {
		const span = { startedAt: Date.parse('2026-03-29T01:30:00+01:00'), endedAt: null, durationSeconds: null }
		expect(writeSpan(span, { endedAt: '2026-03-29T03:30:00+02:00' }).durationSeconds).toBe(3600)
		const autumn = { ...span, startedAt: Date.parse('2026-10-25T01:30:00+02:00') }
		expect(writeSpan(autumn, { endedAt: '2026-10-25T03:30:00+01:00' }).durationSeconds).toBe(3 * 3600)
	})
})

const near = fc.integer({ min: -2 * year, max: 2 * year }).map((offset) => nine + offset * 1000 + 17)
const seconds = fc.integer({ min: 0, max: year })
const write = fc.record({ endedAt: fc.option(near), durationSeconds: fc.option(seconds), startedAt: near }, { requiredKeys: [] })

describe('a span, whatever was written on it,', () => {
	it('is running, or ends after it began and took no longer than that, nor than a year', () => {
		fc.assert(
			fc.property(near, fc.array(write, { maxLength: 5 }), (startedAt, writes) => {
				let span: Span = { startedAt, endedAt: null, durationSeconds: null }
				for (const input of writes) span = accepted(span, input)
				const { endedAt, durationSeconds } = span
				expect(endedAt === null).toBe(durationSeconds === null)
				if (endedAt === null || durationSeconds === null) return
				expect(durationSeconds * 1000).toBeLessThanOrEqual(endedAt - span.startedAt)
				expect(durationSeconds).toBeLessThanOrEqual(year)
				expect(durationSeconds).toBeGreaterThanOrEqual(0)
				expect(endedAt).toBeLessThanOrEqual(lastInstant)
			}),
		)
	})

	it('is the same when what it says is written on it again', () => {
		fc.assert(
			fc.property(near, write, (startedAt, input) => {
				const span = accepted({ startedAt, endedAt: null, durationSeconds: null }, input)
				expect(writeSpan(span, span)).toEqual(span)
			}),
		)
	})
})

function outcomeOf(stored: Span, input: TimeEntryUpdate): unknown {
	try {
		return writeSpan(stored, input)
	} catch (error) {
		return error
	}
}

/** The span after the input; the unchanged span when the input is rejected. */
function accepted(stored: Span, input: TimeEntryUpdate): Span {
	const result = outcomeOf(stored, input)
	if (result instanceof ApiError) return stored
	return result as Span
}

describe('the start of a new entry that names none', () => {
	it.each<[string, TimeEntryUpdate, number]>([
		['is now', {}, nine],
		['is now when only its end is known', { endedAt: nine + hour }, nine],
		['lies its duration before now', { durationSeconds: 3600 }, nine - hour],
		['lies its duration before its end', { endedAt: nine - hour, durationSeconds: 1800 }, nine - hour - 30 * minute],
	])('%s', (_, input, expected) => {
		expect(defaultStart(input, nine)).toBe(expected)
	})

	it('is not before 1970', () => {
		const input = { endedAt: '1970-01-01T00:00:00Z', durationSeconds: 1 }
		const span = () => writeSpan({ ...running, startedAt: defaultStart(input, nine) }, input)
		expect(span).toThrow('The work began before the year 1970.')
	})
})
