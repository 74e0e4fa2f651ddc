// How money, numbers and dates are written in a locale. Amounts go to Intl as exact decimal text, never through a float, and
// with the minor units of ISO 4217: those of Intl are CLDR's, which writes HUF, IDR, COP, IQD and others without them.
import currencies from 'currency-codes'
import { dayMs } from './dates.ts'
import { formatDecimal, parseDecimal } from './decimal.ts'

/** How many places decimal text has at most: a quantity, and a price's fraction of a minor unit. */
const places = 6

/** Minor units, an integer or decimal text, as an amount of the currency: at least its own places, more for a fraction. */
export function formatMoney(cents: number | string, currency: string, locale: string): string {
	const { exponent, format } = moneyFormat(currency, locale)
	const amount = formatDecimal(parseDecimal(String(cents), places), places + exponent)
	return format.format(amount as `${number}`)
}

/** Decimal text with every digit it has. */
export const formatDecimalText = (text: string, locale: string): string => decimalFormat(locale).format(text as `${number}`)

/** Decimal text that is a percentage: `19` is 19 %. */
export const formatPercent = (text: string, locale: string): string => percentFormat(locale).format(text as `${number}`)

/**
 * Decimal hours, as they are multiplied by a rate. Quarters and tenths are exact in two places; four tell any two seconds
 * apart. A float does: no number of seconds is halfway between two such numbers.
 */
export const formatHours = (seconds: number, locale: string): string => hoursFormat(locale).format(seconds / 3600)

/** A plain date (00:00 UTC, see dates.ts) is that day everywhere; an instant lies in the day that it is in the time zone. */
export const formatDate = (ms: number, locale: string, timeZone: string): string =>
	formatInstant(ms, locale, ms % dayMs === 0 ? 'UTC' : timeZone)

/** The day of what happened at an instant, which may as well be midnight UTC. */
export const formatInstant = (ms: number, locale: string, timeZone: string): string => dateFormat(locale, timeZone).format(ms)

/** The locale, or English where there is no such locale: Intl would throw, or take the language of the machine. */
export function supportedLocale(locale: string): string {
	try {
		return Intl.NumberFormat.supportedLocalesOf(locale)[0] ?? 'en'
	} catch {
		return 'en'
	}
}

const moneyFormat = kept((currency: string, locale: string) => {
	const exponent = currencies.code(currency)?.digits ?? 2
	const digits = { minimumFractionDigits: exponent, maximumFractionDigits: exponent + places }
	return { exponent, format: new Intl.NumberFormat(supportedLocale(locale), { style: 'currency', currency, ...digits }) }
})

const numberFormat = (options: Intl.NumberFormatOptions) =>
	kept((locale: string) => new Intl.NumberFormat(supportedLocale(locale), options))

const decimalFormat = numberFormat({ maximumFractionDigits: places })
// As a unit, since the style `percent` would multiply by a hundred.
const percentFormat = numberFormat({ style: 'unit', unit: 'percent', maximumFractionDigits: 4 })
const hoursFormat = numberFormat({ minimumFractionDigits: 2, maximumFractionDigits: 4 })

const dateFormat = kept(
	(locale: string, timeZone: string) => new Intl.DateTimeFormat(supportedLocale(locale), { dateStyle: 'medium', timeZone }),
)

/**
 * Making an Intl object costs as much as using it thirty times, so what was made is kept. Locales are the caller's and
 * have countless spellings: before there are too many, all are dropped.
 */
function kept<Key extends string[], T>(make: (...key: Key) => T): (...key: Key) => T {
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
