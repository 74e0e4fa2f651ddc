import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
	addDays,
	clockIn,
	dayIn,
	instantIn,
	mondayOf,
	parseHours,
	showAgo,
	showDay,
	showDays,
	showHours,
	showTime,
} from './dates.ts'

const noon = Date.UTC(2026, 2, 31, 22, 30)

it('A day is the same day wherever the browser is', () => {
	expect(showDay('2026-03-31', 'en-GB')).toBe('31 Mar 2026')
	expect(showDay('2026-03-31', 'de-DE')).toBe('31.03.2026')
})

it('What the days of a range share stands once', () => {
	const plain = (text: string) => text.replaceAll(/\s/g, ' ')
	expect(plain(showDays('2026-11-23', '2026-11-29', 'en-GB'))).toBe('23 – 29 Nov 2026')
	expect(plain(showDays('2026-12-28', '2027-01-03', 'en-US'))).toBe('Dec 28, 2026 – Jan 3, 2027')
})

it('It is tomorrow already where the organization is', () => {
	expect([dayIn('UTC', noon), dayIn('Europe/Berlin', noon), dayIn('America/New_York', noon)]).toEqual([
		'2026-03-31',
		'2026-04-01',
		'2026-03-31',
	])
	expect(showTime(noon, 'de-DE', 'Europe/Berlin')).toBe('01.04.2026, 00:30')
})

it('Days that are added and taken away again are the same day', () => {
	const days = fc.date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
	fc.assert(
		fc.property(days, fc.integer({ min: -9_999, max: 9_999 }), (date, count) => {
			const day = date.toISOString().slice(0, 10)
			expect(addDays(addDays(day, count), -count)).toBe(day)
		}),
	)
	expect(addDays('2024-02-28', 1)).toBe('2024-02-29')
})

it('How long ago something was is told in the largest unit', () => {
	const ago = (ms: number) => showAgo(noon - ms, noon)
	expect([ago(5_000), ago(120_000), ago(3 * 86_400_000), ago(-7_200_000)]).toEqual([
		'now',
		'2 minutes ago',
		'3 days ago',
		'in 2 hours',
	])
	// What has just been given seven days, or 90, has them.
	expect([ago(1_000 - 7 * 86_400_000), ago(60_000 - 90 * 86_400_000)]).toEqual(['in 7 days', 'in 3 months'])
	expect(ago(1_000 - 3_600_000)).toBe('in 1 hour')
	expect(ago(-6.4 * 86_400_000)).toBe('in 6 days')
})

it('A time of day in a zone is an instant, also on the days when the clocks change', () => {
	expect(instantIn('Europe/Berlin', '2026-07-01', '08:30')).toBe(Date.UTC(2026, 6, 1, 6, 30))
	expect(instantIn('America/New_York', '2026-11-01', '00:30')).toBe(Date.UTC(2026, 10, 1, 4, 30))
	// The clocks skip 02:30 of these days.
	for (const [zone, day] of [
		['Europe/Berlin', '2026-03-29'],
		['America/New_York', '2026-03-08'],
	] as const) {
		const skipped = instantIn(zone, day, '02:30')
		expect([dayIn(zone, skipped), clockIn(zone, skipped)]).toEqual([day, '03:30'])
	}
	const times = fc.date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
	const zones = fc.constantFrom(
		'UTC',
		'Europe/Berlin',
		'America/St_Johns',
		'Asia/Kathmandu',
		'Pacific/Auckland',
		'America/Sao_Paulo',
	)
	fc.assert(
		fc.property(times, zones, (date, zone) => {
			const [day, clock] = [dayIn(zone, date.getTime()), clockIn(zone, date.getTime())]
			const again = instantIn(zone, day, clock)
			expect([dayIn(zone, again), clockIn(zone, again)]).toEqual([day, clock])
		}),
	)
})

it('A week begins on Monday', () => {
	expect([mondayOf('2026-03-29'), mondayOf('2026-03-30'), mondayOf('2026-04-01')]).toEqual([
		'2026-03-23',
		'2026-03-30',
		'2026-03-30',
	])
})

it('A duration is read in the ways that people write it', () => {
	expect(['1:30', '1.5', '1,5', '1,5 h', '90m', '90 min', ',5', '0:05'].map(parseHours)).toEqual([
		5_400, 5_400, 5_400, 5_400, 5_400, 5_400, 1_800, 300,
	])
	expect(['', 'soon', '1:75', '1.5.5', '-1', '1:5'].map(parseHours)).toEqual(Array.from({ length: 6 }))
	fc.assert(
		fc.property(fc.integer({ min: 0, max: 500_000 }), (minutes) => {
			expect(parseHours(showHours(minutes * 60))).toBe(minutes * 60)
		}),
	)
})
