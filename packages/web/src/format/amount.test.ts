import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decimalOf, editAmount, editDecimal, parseAmount, parseDecimal, showAmount } from './amount.ts'

const locales = (
	'en-US en-GB en-IN en-ZA en-CA de-DE de-AT de-CH fr-FR fr-CH fr-CA it-IT it-CH es-ES es-MX pt-BR pt-PT nl-NL nl-BE sv-SE ' +
	'nb-NO da-DK fi-FI is-IS pl-PL cs-CZ sk-SK hu-HU ro-RO bg-BG hr-HR sl-SI sr-RS uk-UA ru-RU el-GR tr-TR he-IL ar-EG ar-AE ' +
	'fa-IR hi-IN bn-BD th-TH vi-VN id-ID ja-JP ko-KR zh-CN zh-TW'
).split(' ')

describe('an amount that is shown', () => {
	it.each(locales)('is the same amount when it is typed again, in %s', (locale) => {
		const cases = fc.tuple(fc.integer({ min: -1e12, max: 1e12 }), fc.constantFrom('EUR', 'USD', 'JPY', 'KWD'))
		fc.assert(
			fc.property(cases, ([amount, currency]) => {
				expect(parseAmount(editAmount(amount, currency, locale), currency, locale)).toBe(amount)
			}),
		)
	})

	it.each(locales)('keeps the places of a price below a cent, in %s', (locale) => {
		expect(parseDecimal(editDecimal('1234.0625', locale), locale, 6)).toBe('1234.0625')
	})

	it('is never rounded, however large it is', () => {
		expect(decimalOf(Number.MAX_SAFE_INTEGER, 'EUR')).toBe('90071992547409.91')
		expect(showAmount(Number.MAX_SAFE_INTEGER, 'EUR', 'en-US')).toBe('€90,071,992,547,409.91')
		expect(decimalOf(-5, 'KWD')).toBe('-0.005')
		expect(decimalOf(5, 'JPY')).toBe('5')
	})
})

const comma = ['de-DE', 'de-AT', 'es-ES', 'it-IT', 'nl-NL', 'pt-BR', 'da-DK', 'tr-TR', 'id-ID', 'el-GR']
const spaced = ['fr-FR', 'sv-SE', 'pl-PL', 'cs-CZ', 'uk-UA', 'nb-NO']
const point = ['en-US', 'en-GB', 'ja-JP', 'de-CH', 'fr-CH']

describe('an amount that is typed', () => {
	it.each([...comma, ...spaced, ...point])('is understood with the marks of other countries too, in %s', (locale) => {
		for (const text of [
			'1.234,56',
			'1 234,56',
			'1\u00a0234,56',
			'1\u202f234,56',
			"1'234.56",
			'1’234.56',
			'1,234.56',
			'1234.56',
			'1234,56',
		])
			expect([text, parseAmount(text, 'EUR', locale)]).toEqual([text, 123_456])
	})

	it.each<[string, string, number | undefined]>([
		['en-US', '1,50', 150],
		['en-US', '1,500', 150_000],
		['en-US', '1.500', undefined],
		['en-US', '1.234.567', 123_456_700],
		['de-DE', '1.500', 150_000],
		['de-DE', '1.50', 150],
		['de-DE', '1,500', undefined],
		['fr-FR', '1.500', 150_000],
		['fr-CH', '1.50', 150],
		['en-IN', '12,34,567.89', 123_456_789],
		['en-US', '.5', 50],
		['en-US', '-12', -1_200],
		['de-DE', '−12,50 €', -1_250],
		['en-US', 'USD 12', 1_200],
		['ar-EG', '١٢٫٥٠', 1_250],
		['en-US', '0012', 1_200],
		['en-US', '-0', 0],
	])('in %s: %s is %s', (locale, text, amount) => {
		expect(parseAmount(text, 'EUR', locale)).toBe(amount)
	})

	it.each([
		'',
		' ',
		'-',
		'.',
		'1.',
		'1,2,3',
		'1 2',
		'12,3456',
		'1.2.3',
		'1e5',
		'0x10',
		'1..2',
		'--1',
		'twelve',
		'1,23.456,7',
		'9'.repeat(20),
	])('is refused when it is none or could be two: %s', (text) => {
		for (const locale of ['en-US', 'de-DE', 'fr-FR']) expect(parseAmount(text, 'EUR', locale)).toBeUndefined()
	})

	it('could be two amounts of a currency with three places', () => {
		expect(parseAmount('1.500', 'KWD', 'fr-FR')).toBeUndefined()
		expect(parseAmount('1,500', 'KWD', 'fr-FR')).toBe(1_500)
		expect(parseAmount('1.5', 'JPY', 'en-US')).toBeUndefined()
	})
})
