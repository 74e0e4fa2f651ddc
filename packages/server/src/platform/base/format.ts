// Formats money, numbers and dates for a locale. Intl gets amounts as exact decimal text, never as a float, and with the minor
// units of ISO 4217: Intl's own come from CLDR, which has none for HUF, IDR, COP, IQD and others.
import { minorDigits } from './currencies.ts'
import { dayMs } from './dates.ts'
import { formatDecimal, parseDecimal } from './decimal.ts'

/** The most decimal places of a quantity, and of a price in minor units. */
const places = 6

/** Formats minor units (an integer or decimal text) with the currency's places, and more for a fraction of a minor unit. */
export function formatMoney(cents: number | string, currency: string, locale: string): string {
	const { exponent, format } = moneyFormat(currency, locale)
	const amount = formatDecimal(parseDecimal(String(cents), places), places + exponent)
	return withMinus(format.format(amount as `${number}`))
}

/** With the sign for minus in place of the hyphen, after which lines break: it would stand on a line without its amount. */
const withMinus = (text: string) => text.replace('-', '\u2212')

/** Formats decimal text without rounding it. */
export const formatDecimalText = (text: string, locale: string): string =>
	withMinus(decimalFormat(locale).format(text as `${number}`))

/** Formats a percentage: `19` is 19 %. */
export const formatPercent = (text: string, locale: string): string =>
	withMinus(percentFormat(locale).format(text as `${number}`))

/**
 * Formats seconds as decimal hours, which can be multiplied by a rate. Quarters and tenths are exact in two places; four tell
 * any two seconds apart. A float is exact enough: no whole second is halfway between two numbers of four places.
 */
export const formatHours = (seconds: number, locale: string): string => hoursFormat(locale).format(seconds / 3600)

/** A date without a time (00:00 UTC, see dates.ts) is that day in every time zone; an instant gets its day in `timeZone`. */
export const formatDate = (ms: number, locale: string, timeZone: string): string =>
	formatInstant(ms, locale, ms % dayMs === 0 ? 'UTC' : timeZone)

/** The day of an instant in `timeZone`, even when the instant is midnight UTC. */
export const formatInstant = (ms: number, locale: string, timeZone: string): string => dateFormat(locale, timeZone).format(ms)

/** The locale, or English for an unknown one: Intl would throw, or use the language of the machine. */
export const supportedLocale = cached((locale: string): string => {
	try {
		return Intl.NumberFormat.supportedLocalesOf(locale)[0] ?? 'en'
	} catch {
		return 'en'
	}
})

const moneyFormat = cached((currency: string, locale: string) => {
	const exponent = minorDigits(currency) ?? 2
	const digits = { minimumFractionDigits: exponent, maximumFractionDigits: exponent + places }
	return { exponent, format: new Intl.NumberFormat(supportedLocale(locale), { style: 'currency', currency, ...digits }) }
})

const numberFormat = (options: Intl.NumberFormatOptions) =>
	cached((locale: string) => new Intl.NumberFormat(supportedLocale(locale), options))

const decimalFormat = numberFormat({ maximumFractionDigits: places })
// A unit, since the style `percent` would multiply by a hundred.
const percentFormat = numberFormat({ style: 'unit', unit: 'percent', maximumFractionDigits: 4 })
const hoursFormat = numberFormat({ minimumFractionDigits: 2, maximumFractionDigits: 4 })

const dateFormat = cached(
	(locale: string, timeZone: string) => new Intl.DateTimeFormat(supportedLocale(locale), { dateStyle: 'medium', timeZone }),
)

/**
 * Caches what Intl makes: an object costs as much as using it thirty times. Callers choose the locales, in any number of
 * spellings, so a full cache of 500 is emptied.
 */
function cached<Key extends string[], T>(make: (...key: Key) => T): (...key: Key) => T {
	const made = new Map<string, T>()
	return (...key) => {
		const name = key.join(' ')
		const known = made.get(name)
		if (known !== undefined) return known
		const fresh = make(...key)
		if (made.size >= 500) made.clear()
		made.set(name, fresh)
		return fresh
	}
}
