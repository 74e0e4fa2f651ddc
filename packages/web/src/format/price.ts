// Prices, which may lie below the smallest unit of their currency: minor units are an integer, or decimal text for such a price.
import { digitsOf } from '../generated/currencies.ts'
import { decimalOf, editDecimal, showAmount } from './amount.ts'

/** Decimal text of the unit from minor units, such as `0.125` of `12.5`, by shifting digits. */
export function majorOf(minor: string, currency: string): string {
	const [, sign = '', whole = '0', fraction = ''] = /^(-?)(\d+)\.?(\d*)$/.exec(minor) ?? []
	const major = decimalOf(Number(whole), currency)
	return `${sign}${major}${fraction && (digitsOf(currency) === 0 ? `.${fraction}` : fraction)}`
}

/** Minor units of decimal text of the unit: an integer, or text for a price below the smallest one. */
export function minorOf(major: string, currency: string): number | string {
	const places = digitsOf(currency)
	const [, sign = '', whole = '0', fraction = ''] = /^(-?)(\d+)\.?(\d*)$/.exec(major) ?? []
	const digits = fraction.padEnd(places, '0')
	const minor = `${whole}${digits.slice(0, places)}`.replace(/^0+(?=\d)/, '')
	const rest = digits.slice(places).replace(/0+$/, '')
	return rest === '' ? Number(sign + minor) : `${sign}${minor}.${rest}`
}

/** One spelling of a price: with the places of the currency at least. */
export const spellPrice = (major: string, currency: string): string => majorOf(String(minorOf(major, currency)), currency)

/** As it is read; below the smallest unit it keeps its places. */
export function showPrice(minor: number | string, currency: string, locale: string): string {
	const text = String(minor)
	if (/^-?\d+$/.test(text)) return showAmount(Number(text), currency, locale)
	return `${editDecimal(majorOf(text, currency), locale)} ${currency}`
}
