import currencies from 'currency-codes'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
	formatDate,
	formatDecimalText,
	formatHours,
	formatInstant,
	formatMoney,
	formatPercent,
	supportedLocale,
} from './format.ts'

/** The invisible marks that keep the sign and the symbol in their places in a right-to-left text. */
const marks = /[\u061c\u200e\u200f]/g
const max = 999_999_999_999

describe('money', () => {
	it('has the minor units of ISO 4217 in every currency, and no digit is lost at the extremes', () => {
		for (const { code, digits } of currencies.data) {
			for (const cents of [max, -max, 1, -1, 0]) {
				const printed = formatMoney(cents, code, 'en').replace(code, '')
				expect([code, printed.split('.')[1]?.length ?? 0]).toEqual([code, digits])
				expect([code, Number(printed.replace('−', '-').replace(/[^\d-]/g, ''))]).toEqual([code, cents])
			}
		}
	})

	it.each([
		['HUF', 'en', 123456, 'HUF 1,234.56'],
		['HUF', 'hu-HU', 123456, '1234,56 Ft'],
		['IDR', 'en', 123456, 'IDR 1,234.56'],
		['COP', 'en', 123456, 'COP 1,234.56'],
		['IQD', 'en', 1234567, 'IQD 1,234.567'],
		['MGA', 'en', 123456, 'MGA 1,234.56'],
		['JPY', 'en', 1234, '¥1,234'],
		['KWD', 'en', 1234, 'KWD 1.234'],
		['CLF', 'en', 12345, 'CLF 1.2345'],
		// Withdrawn, and no longer in the table.
		['DEM', 'en', 12345, 'DEM 123.45'],
	])('of %s in %s: %i is %s', (currency, locale, cents, expected) => {
		expect(formatMoney(cents, currency, locale).replace(/\u00a0/g, ' ')).toBe(expected)
	})

	it.each([
		['en-US', '$1,234,567.89', '−$1,234,567.89'],
		['de-DE', '1.234.567,89\u00a0$', '−1.234.567,89\u00a0$'],
		['fr-FR', '1\u202f234\u202f567,89\u00a0$US', '−1\u202f234\u202f567,89\u00a0$US'],
		['ja', '$1,234,567.89', '−$1,234,567.89'],
		['hi', '$12,34,567.89', '−$12,34,567.89'],
		['ar-EG', '١٬٢٣٤٬٥٦٧٫٨٩\u00a0US$', '−١٬٢٣٤٬٥٦٧٫٨٩\u00a0US$'],
	])('reads as %s writes it', (locale, positive, negative) => {
		expect(formatMoney(123_456_789, 'USD', locale).replace(marks, '')).toBe(positive)
		expect(formatMoney(-123_456_789, 'USD', locale).replace(marks, '')).toBe(negative)
	})

	it.each([
		['0.5', '$0.005'],
		['1250', '$12.50'],
		['33.333333', '$0.33333333'],
		['-0.000001', '−$0.00000001'],
		['999999999999.999999', '$9,999,999,999.99999999'],
		['10.100000', '$0.101'],
		['0', '$0.00'],
		['-0', '$0.00'],
	])('below a cent shows as many places as it needs: %s is %s', (cents, expected) => {
		expect(formatMoney(cents, 'USD', 'en-US')).toBe(expected)
	})

	it('keeps every digit of a fraction in every currency', () => {
		const scaled = fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n })
		fc.assert(
			fc.property(scaled, fc.constantFrom(...currencies.data), (value, { code, digits }) => {
				const size = String(value < 0n ? -value : value).padStart(7, '0')
				const cents = `${value < 0n ? '-' : ''}${size.slice(0, -6)}.${size.slice(-6)}`
				const [whole = '', fraction = ''] = formatMoney(cents, code, 'en').replace(code, '').split('.')
				expect(BigInt(whole.replace('−', '-').replace(/[^\d-]/g, '') + fraction.padEnd(digits + 6, '0'))).toBe(value)
			}),
		)
	})
})

describe('a number', () => {
	it.each([
		['1.5', 'en', '1.5'],
		['1.5', 'de-DE', '1,5'],
		['-999999999999.999999', 'de-DE', '−999.999.999.999,999999'],
		['999999999999.999999', 'hi', '9,99,99,99,99,999.999999'],
		['0.000001', 'fr-FR', '0,000001'],
		['10', 'ar-EG', '١٠'],
	])('keeps its digits: %s in %s is %s', (text, locale, expected) => {
		expect(formatDecimalText(text, locale).replace(marks, '')).toBe(expected)
	})

	it.each([
		['19', 'en', '19%'],
		['19', 'de-DE', '19\u00a0%'],
		['9.975', 'fr-FR', '9,975\u00a0%'],
		['-33.3333', 'en', '−33.3333%'],
		['8.1', 'tr', '%8,1'],
	])('of percent stands with its sign: %s in %s is %s', (text, locale, expected) => {
		expect(formatPercent(text, locale)).toBe(expected)
	})
})

describe('hours', () => {
	it.each([
		[27_000, 'en', '7.50'],
		[27_000, 'de-DE', '7,50'],
		[0, 'en', '0.00'],
		[1200, 'en', '0.3333'],
		[1, 'en', '0.0003'],
		[3600 * 12_345, 'en', '12,345.00'],
	])('are decimal, with two places or what they need: %i seconds in %s are %s', (seconds, locale, expected) => {
		expect(formatHours(seconds, locale)).toBe(expected)
	})

	it('tell any two durations apart', () => {
		fc.assert(
			fc.property(fc.nat(3600 * 10_000), (seconds) => {
				const printed = Number(formatHours(seconds, 'en').replaceAll(',', ''))
				expect(Math.round(printed * 3600)).toBe(seconds)
			}),
		)
	})
})

describe('a date', () => {
	const day = Date.UTC(2026, 2, 31)

	it.each([
		['en-US', 'Mar 31, 2026'],
		['en-GB', '31 Mar 2026'],
		['de-DE', '31.03.2026'],
		['fr-FR', '31 mars 2026'],
		['ja', '2026/03/31'],
		['hi', '31 मार्च 2026'],
		['ar-EG', '٣١/٠٣/٢٠٢٦'],
	])('reads as %s writes it', (locale, expected) => {
		expect(formatDate(day, locale, 'UTC').replace(marks, '')).toBe(expected)
	})

	it('without a time is that day in every time zone', () => {
		for (const timeZone of Intl.supportedValuesOf('timeZone')) expect(formatDate(day, 'en-GB', timeZone)).toBe('31 Mar 2026')
	})

	it.each([
		['2026-03-31T22:30:00Z', 'Europe/Berlin', '1 Apr 2026'],
		['2026-03-31T21:30:00Z', 'Europe/Berlin', '31 Mar 2026'],
		['2026-03-31T06:59:59Z', 'America/Los_Angeles', '30 Mar 2026'],
		['2026-03-31T07:00:00Z', 'America/Los_Angeles', '31 Mar 2026'],
		['2026-03-31T10:00:00Z', 'Pacific/Kiritimati', '1 Apr 2026'],
	])('with a time is the day that it is there: %s in %s is %s', (instant, timeZone, expected) => {
		expect(formatDate(Date.parse(instant), 'en-GB', timeZone)).toBe(expected)
	})
})

describe('an instant', () => {
	it('at midnight UTC is the local day, too', () => {
		const midnight = Date.UTC(2026, 2, 31)
		expect(formatInstant(midnight, 'en-GB', 'UTC')).toBe('31 Mar 2026')
		expect(formatInstant(midnight, 'en-GB', 'America/Los_Angeles')).toBe('30 Mar 2026')
	})
})

describe('a locale', () => {
	it.each(['', 'xx', 'zz-ZZ', 'de_DE', 'not a locale', '🙂', 'en-u-', '*'])('that is unknown becomes English: %j', (locale) => {
		expect(supportedLocale(locale)).toBe('en')
		expect(formatMoney(123_456, 'EUR', locale)).toBe('€1,234.56')
		expect(formatDate(Date.UTC(2026, 2, 31), locale, 'UTC')).toBe('Mar 31, 2026')
		expect(formatDecimalText('1234.5', locale)).toBe('1,234.5')
	})

	it('formats the same after more locales than the cache holds', () => {
		const before = formatMoney(1, 'USD', 'de-DE')
		for (const currency of currencies.codes()) for (const locale of ['en', 'fr', 'ja', 'hi']) formatMoney(1, currency, locale)
		expect(formatMoney(1, 'USD', 'de-DE')).toBe(before)
	})
})
