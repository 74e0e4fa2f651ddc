// Amounts of money as a person writes and reads them. An amount is text, then decimal text, then minor units by shifting digits:
// never a float.
import { digitsOf } from '../generated/currencies.ts'

/** The marks of a locale's money, which are not always those of its numbers: fr-CH writes numbers with a comma, money with a point. */
interface Marks {
	readonly decimal: string
	readonly group: string
	/** Its digits, in order: those of ar-EG are not 0 to 9. */
	readonly digits: readonly string[]
}

const known = new Map<string, Marks>()

function marksOf(locale: string): Marks {
	const found = known.get(locale) ?? readMarks(locale)
	known.set(locale, found)
	return found
}

function readMarks(locale: string): Marks {
	const format = new Intl.NumberFormat(locale, { style: 'currency', currency: 'EUR' })
	const parts = format.formatToParts(1_234_567.5)
	const mark = (type: string, fallback: string) => parts.find((part) => part.type === type)?.value ?? fallback
	const plain = new Intl.NumberFormat(locale, { useGrouping: false })
	const digits = Array.from({ length: 10 }, (_, digit) => plain.format(digit))
	return { decimal: plainMark(mark('decimal', '.')), group: plainMark(mark('group', ',')), digits }
}

/** All spaces are one, and so are all apostrophes and the marks of Arabic. */
const plainMark = (text: string) =>
	text
		.replaceAll(/[\s\u00a0\u202f]/g, ' ')
		.replaceAll(/[’‘ʼ`´]/g, "'")
		.replaceAll('٫', ',')
		.replaceAll('٬', "'")

/**
 * Decimal text, such as `-1234.5`, of what a person typed; undefined when it is no number or could be two. The locale's own mark
 * decides; the other one is understood where only one reading is possible.
 */
export function parseDecimal(text: string, locale: string, maxFraction: number): string | undefined {
	const marks = marksOf(locale)
	const typed = plainMark(
		westernDigits(text, marks).replaceAll(/[\u200e\u200f\u061c]|\p{L}{0,2}\p{Sc}|\b[A-Z]{3}\b/gu, ''),
	).trim()
	const [, sign = '', digits = ''] = /^([-−–]?)\s*(\d[\d.,' ]*|[.,]\d+)$/.exec(typed) ?? []
	if (digits === '') return undefined
	const own = reading(digits, marks.decimal, [marks.group, ' ', "'"], maxFraction)
	const decimal = own ?? onlyReading(digits, marks.decimal, maxFraction)
	if (decimal === undefined) return undefined
	return sign !== '' && /[1-9]/.test(decimal) ? `-${decimal}` : decimal
}

const westernDigits = (text: string, { digits }: Marks) =>
	[...text].map((letter) => (digits.includes(letter) ? String(digits.indexOf(letter)) : letter)).join('')

/** The value when `decimal` is the decimal mark and one of `groups` separates thousands. */
function reading(text: string, decimal: string, groups: readonly string[], maxFraction: number): string | undefined {
	const [whole = '', fraction = '', ...more] = text.split(decimal)
	if (more.length > 0 || !/^\d*$/.test(fraction) || fraction.length > maxFraction) return undefined
	if (text.includes(decimal) && fraction === '') return undefined
	const group = /[^\d]/.exec(whole)?.[0]
	if (group !== undefined && !groups.includes(group)) return undefined
	const parts = group === undefined ? [whole] : whole.split(group)
	if (group !== undefined && !isGrouped(parts)) return undefined
	const integer = parts.join('').replace(/^0+(?=\d)/, '') || '0'
	return fraction === '' ? integer : `${integer}.${fraction}`
}

/** Groups of three, or of two before the last as India writes them. */
const isGrouped = (parts: readonly string[]) => {
	const [first = '', ...rest] = parts
	const last = rest.pop() ?? ''
	if (!/^\d{3}$/.test(last) || !/^\d{1,3}$/.test(first)) return false
	return rest.every((part) => /^\d{3}$/.test(part)) || (first.length <= 2 && rest.every((part) => /^\d{2}$/.test(part)))
}

/** The locale's decimal mark separates thousands only where it cannot be meant as one: twice, or before another mark. */
function onlyReading(text: string, own: string, maxFraction: number): string | undefined {
	const isGroup = text.split(own).length > 2 || new RegExp(`\\${own}.*[.,](?<!\\${own})`).test(text)
	const groups = ['.', ',', ' ', "'"].filter((mark) => mark !== own || isGroup)
	const values = ['.', ','].map((mark) => reading(text, mark, groups, maxFraction))
	const ungrouped = reading(text, '\u0000', groups, maxFraction)
	const distinct = new Set([...values, ungrouped].filter((value) => value !== undefined))
	return distinct.size === 1 ? [...distinct][0] : undefined
}

/** Minor units, such as cents, of what a person typed. */
export function parseAmount(text: string, currency: string, locale: string): number | undefined {
	const places = digitsOf(currency)
	const decimal = parseDecimal(text, locale, places)
	if (decimal === undefined) return undefined
	const [integer = '', fraction = ''] = decimal.split('.')
	const minor = Number(integer + fraction.padEnd(places, '0'))
	return Number.isSafeInteger(minor) ? minor : undefined
}

/** Decimal text of minor units. */
export function decimalOf(minorUnits: number, currency: string): `${number}` {
	const places = digitsOf(currency)
	const digits = String(Math.abs(minorUnits)).padStart(places + 1, '0')
	const sign = minorUnits < 0 ? '-' : ''
	const end = digits.length - places
	return `${sign}${digits.slice(0, end)}${places ? `.${digits.slice(end)}` : ''}` as `${number}`
}

/** As it is read: `1.234,50 €`. */
export const showAmount = (minorUnits: number, currency: string, locale: string): string =>
	moneyFormat(locale, currency, digitsOf(currency)).format(decimalOf(minorUnits, currency))

/** Without cents and shortened, for marks of an axis: `1.2K`. */
export const showShortAmount = (minorUnits: number, currency: string, locale: string): string =>
	format(locale, { notation: 'compact', maximumFractionDigits: 1 }).format(decimalOf(minorUnits, currency))

/** As it is typed, without the currency: `1.234,50`. */
export function editAmount(minorUnits: number, currency: string, locale: string): string {
	return editDecimal(decimalOf(minorUnits, currency), locale, digitsOf(currency))
}

/** Decimal text as it is typed, with at least so many places; it keeps those that it has, as prices below a cent do. */
export function editDecimal(decimal: string, locale: string, minFraction = 0): string {
	const places = Math.max(minFraction, decimal.split('.')[1]?.length ?? 0)
	const parts = moneyFormat(locale, 'EUR', places).formatToParts(decimal as `${number}`)
	const kept = ['minusSign', 'integer', 'group', 'decimal', 'fraction']
	const text = parts.filter(({ type }) => kept.includes(type)).map(({ type, value }) => (type === 'minusSign' ? '-' : value))
	return text.join('')
}

const formats = new Map<string, Intl.NumberFormat>()

/** To make a format takes longer than to use one. */
function format(locale: string, options: Intl.NumberFormatOptions): Intl.NumberFormat {
	const name = `${locale} ${JSON.stringify(options)}`
	const known = formats.get(name) ?? new Intl.NumberFormat(locale, options)
	formats.set(name, known)
	return known
}

const moneyFormat = (locale: string, currency: string, places: number): Intl.NumberFormat =>
	format(locale, { style: 'currency', currency, minimumFractionDigits: places, maximumFractionDigits: places })
