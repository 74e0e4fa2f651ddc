import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { parseDate, todayIn } from './dates.ts'

const ms = (iso: string) => new Date(iso).getTime()
const pad = (value: number, width = 2) => String(value).padStart(width, '0')

// The oracles, which do not use parseDate: the rule of the Gregorian calendar, and Intl for a local day.
const isLeap = (year: number) => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
const daysIn = (year: number, month: number) =>
	[31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0

const formats = new Map<string, Intl.DateTimeFormat>()
function localDay(timeZone: string, instant: number): number {
	let format = formats.get(timeZone)
	if (!format) {
		format = new Intl.DateTimeFormat('en-US', { timeZone, year: 'numeric', month: 'numeric', day: 'numeric' })
		formats.set(timeZone, format)
	}
	const part = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]))
	return Date.UTC(part.year as number, (part.month as number) - 1, part.day)
}

describe('a date', () => {
	const timeZone = process.env.TZ
	afterEach(() => {
		if (timeZone === undefined) delete process.env.TZ
		else process.env.TZ = timeZone
	})

	it('alone is that day at 00:00 UTC, whatever time zone the server runs in', () => {
		for (const zone of ['UTC', 'Pacific/Auckland', 'America/Los_Angeles', 'Asia/Kathmandu']) {
			process.env.TZ = zone
			expect(parseDate('2026-03-31')).toBe(1_774_915_200_000)
			expect(parseDate('2026-03-29')).toBe(Date.UTC(2026, 2, 29))
		}
	})

	it('is valid exactly when the calendar has it and its year is 1970 to 2200', () => {
		const parts = fc.tuple(fc.integer({ min: 1965, max: 2205 }), fc.integer({ min: 0, max: 13 }), fc.integer({ min: 0, max: 32 }))
		fc.assert(
			fc.property(parts, ([year, month, day]) => {
				const exists = year >= 1970 && year <= 2200 && day >= 1 && day <= daysIn(year, month)
				const expected = exists ? Date.UTC(year, month - 1, day) : undefined
				expect(parseDate(`${year}-${pad(month)}-${pad(day)}`)).toBe(expected)
			}),
			{ numRuns: 3000 },
		)
	})

	it('knows leap years, and the first and last day', () => {
		expect(parseDate('2024-02-29')).toBe(Date.UTC(2024, 1, 29))
		expect(parseDate('2000-02-29')).toBe(Date.UTC(2000, 1, 29))
		for (const day of ['2026-02-29', '2100-02-29', '2200-02-29', '2026-02-30', '2026-04-31'])
			expect(parseDate(day)).toBeUndefined()
		expect(parseDate('1970-01-01')).toBe(0)
		expect(parseDate('2200-12-31')).toBe(Date.UTC(2200, 11, 31))
		for (const day of ['1969-12-31', '2201-01-01', '0000-01-01', '9999-12-31']) expect(parseDate(day)).toBeUndefined()
	})
})

describe('a date-time', () => {
	const lastMs = Date.UTC(2200, 11, 31, 23, 59, 59, 999)
	const localText = (instant: number, offset: number) => {
		const local = new Date(instant + offset * 60_000).toISOString().slice(0, -1)
		const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60]
		return `${local}${offset < 0 ? '-' : '+'}${pad(hours)}:${pad(minutes)}`
	}

	it('with an offset is that instant', () => {
		const instants = fc.integer({ min: Date.UTC(1970, 0, 3), max: Date.UTC(2200, 11, 29) })
		fc.assert(
			fc.property(instants, fc.integer({ min: -1439, max: 1439 }), (instant, offset) => {
				expect(parseDate(localText(instant, offset))).toBe(instant)
				expect(parseDate(new Date(instant).toISOString())).toBe(instant)
			}),
			{ numRuns: 2000 },
		)
		expect(parseDate('2026-03-31T10:00:00Z')).toBe(ms('2026-03-31T10:00:00.000Z'))
		expect(parseDate('2026-03-31t10:00:00z')).toBe(ms('2026-03-31T10:00:00.000Z'))
		expect(parseDate('2026-03-31T10:00:00.25+05:45')).toBe(ms('2026-03-31T04:15:00.250Z'))
		expect(parseDate('2026-03-31T10:00:00.123456789-00:00')).toBe(ms('2026-03-31T10:00:00.123Z'))
	})

	it('is never an instant outside 1970 to 2200, whichever side its offset puts it on', () => {
		const edges = fc.tuple(fc.constantFrom(0, lastMs), fc.integer({ min: -90_000_000, max: 90_000_000 }))
		fc.assert(
			fc.property(edges, fc.integer({ min: -1439, max: 1439 }), ([edge, shift], offset) => {
				const parsed = parseDate(localText(edge + shift, offset))
				if (parsed === undefined) return
				expect(parsed).toBeGreaterThanOrEqual(0)
				expect(parsed).toBeLessThanOrEqual(lastMs)
			}),
			{ numRuns: 2000 },
		)
	})

	it('at the end of 2200 west of Greenwich is invalid: in UTC it is 2201', () => {
		expect(parseDate('2200-12-31T23:59:59Z')).toBe(lastMs - 999)
		expect(parseDate('1970-01-01T00:00:00+01:00')).toBeUndefined()
		expect(parseDate('2200-12-31T23:59:59-01:00')).toBeUndefined()
	})

	it.each([
		['without an offset', ['2026-03-31T10:00', '2026-03-31T10:00:00', '2026-03-31 10:00:00', '2026-03-31T10:00:00.000']],
		['with half an offset', ['2026-03-31T10:00:00+01', '2026-03-31T10:00:00+0100', '2026-03-31T10:00:00+', '2026-03-31Z']],
		['with a wrong offset', ['2026-03-31T10:00:00+24:00', '2026-03-31T10:00:00+01:60', '2026-03-31T10:00:00 UTC']],
		[
			'with a wrong time',
			['2026-03-31T24:00:00Z', '2026-03-31T10:60:00Z', '2026-03-31T10:00Z', '2026-03-31TZ', '2026-03-31T1:00:00Z'],
		],
		['on a day that the calendar lacks', ['2026-02-30T10:00:00Z', '2026-13-01T00:00:00Z', '2025-02-29T00:00:00+01:00']],
		[
			'in another notation',
			['2026-3-31', '20260331', '2026-W14-2', '2026-090', '31.03.2026', '+002026-03-31', 'Mar 31 2026', '1774915200000'],
		],
		[
			'with something around it',
			['', ' ', ' 2026-03-31', '2026-03-31 ', '2026-03-31\n', '２０２６-03-31', '2026-03-31T10:00:00Z\n', 'tomorrow'],
		],
	])('%s is refused', (_, texts) => {
		for (const text of texts) expect([text, parseDate(text)]).toEqual([text, undefined])
	})
})

describe('today', () => {
	const zones = Intl.supportedValuesOf('timeZone')

	it('is the local calendar day, from its first instant on, in every time zone', () => {
		const instants = fc.integer({ min: Date.UTC(2012, 0, 1), max: Date.UTC(2200, 11, 30) })
		fc.assert(
			fc.property(fc.constantFrom(...zones), instants, (zone, now) => {
				const today = todayIn(zone, now)
				expect(today.date).toBe(localDay(zone, now))
				expect(today.instant).toBeLessThanOrEqual(now)
				expect(localDay(zone, today.instant)).toBe(today.date)
				expect(localDay(zone, today.instant - 1)).toBeLessThan(today.date)
			}),
			{ numRuns: 1000 },
		)
	})

	it('does not depend on earlier calls', () => {
		const instants = fc.array(fc.integer({ min: Date.UTC(2026, 2, 25), max: Date.UTC(2026, 3, 8) }), { maxLength: 20 })
		fc.assert(
			fc.property(fc.constantFrom('Europe/Berlin', 'Pacific/Auckland', 'America/Los_Angeles'), instants, (zone, times) => {
				for (const now of times) expect(todayIn(zone, now).date).toBe(localDay(zone, now))
			}),
			{ numRuns: 50 },
		)
	})

	it.each([
		['UTC', '2026-06-15T23:59:59.999Z', '2026-06-15', '2026-06-15T00:00:00Z'],
		['UTC', '2026-06-16T00:00:00Z', '2026-06-16', '2026-06-16T00:00:00Z'],
		['Pacific/Auckland', '2026-06-15T12:00:00Z', '2026-06-16', '2026-06-15T12:00:00Z'],
		['Pacific/Auckland', '2026-06-15T11:59:59Z', '2026-06-15', '2026-06-14T12:00:00Z'],
		['America/Los_Angeles', '2026-06-15T06:59:59Z', '2026-06-14', '2026-06-14T07:00:00Z'],
		['Asia/Kathmandu', '2026-06-15T18:15:00Z', '2026-06-16', '2026-06-15T18:15:00Z'],
		['Pacific/Kiritimati', '2026-06-15T10:00:00Z', '2026-06-16', '2026-06-15T10:00:00Z'],
		['Etc/GMT+12', '2026-06-15T11:59:59Z', '2026-06-14', '2026-06-14T12:00:00Z'],
		// The clocks go forward or back on these days: they have 23 or 25 hours.
		['America/Los_Angeles', '2026-03-08T20:00:00Z', '2026-03-08', '2026-03-08T08:00:00Z'],
		['America/Los_Angeles', '2026-03-09T07:00:00Z', '2026-03-09', '2026-03-09T07:00:00Z'],
		['America/Los_Angeles', '2026-11-02T07:59:59Z', '2026-11-01', '2026-11-01T07:00:00Z'],
		['Pacific/Auckland', '2026-04-05T11:59:59Z', '2026-04-05', '2026-04-04T11:00:00Z'],
		['Australia/Lord_Howe', '2026-04-05T13:29:59Z', '2026-04-05', '2026-04-04T13:00:00Z'],
		// The clocks go forward at midnight, so the day begins at 01:00; and Samoa left a whole day out.
		['America/Sao_Paulo', '2018-11-04T03:00:00Z', '2018-11-04', '2018-11-04T03:00:00Z'],
		['Africa/Cairo', '2026-04-23T22:00:00Z', '2026-04-24', '2026-04-23T22:00:00Z'],
		['Pacific/Apia', '2011-12-30T10:00:00Z', '2011-12-31', '2011-12-30T10:00:00Z'],
	])('in %s at %s is %s, since %s', (zone, now, day, since) => {
		expect(todayIn(zone, ms(now))).toMatchObject({ date: ms(`${day}T00:00:00Z`), instant: ms(since) })
	})
})
