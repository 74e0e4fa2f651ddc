// Rows of a spreadsheet, as the clipboard has them, become lines.
import { parseDecimal } from '../../format/amount.ts'
import { spellPrice } from '../../format/price.ts'
import { digitsOf } from '../../generated/currencies.ts'
import { blankLine, type LineValues } from './values.ts'

interface Spreadsheet {
	readonly locale: string
	readonly currency: string
	/** How the currency is written in letters, such as `kr`. */
	readonly symbol: string
}

/** A cell that is a number. */
interface Amount {
	readonly decimal: string
	readonly text: string
}

/** Undefined when the text is no rows: then it is pasted as any text. */
export function linesOf(text: string, locale: string, currency: string, tax: string): LineValues[] | undefined {
	if (!text.includes('\t')) return undefined
	const sheet = { locale, currency, symbol: symbolOf(currency, locale) }
	const rows = cellsOf(text).filter((cells) => cells.some((cell) => cell !== ''))
	const lines = rows.map((cells) => lineOf(cells, sheet, tax))
	// The names of the columns are no line.
	const isHead = (cells: readonly string[]) => cells.every((cell) => numberOf(cell, sheet) === undefined)
	return rows.length > 1 && isHead(rows[0] as string[]) && !isHead(rows[1] as string[]) ? lines.slice(1) : lines
}

/** The first text is the description, a later one the unit, but for a percentage. */
function lineOf(cells: readonly string[], sheet: Spreadsheet, tax: string): LineValues {
	const numbers = cells.flatMap((cell) => numberOf(cell, sheet) ?? [])
	const texts = cells.filter((cell) => cell !== '' && numberOf(cell, sheet) === undefined)
	const [quantity, price] = quantityAndPrice(numbers, sheet.currency)
	return {
		...blankLine(tax),
		description: texts[0] ?? '',
		unit: texts.slice(1).find((text) => !text.endsWith('%')) ?? null,
		quantity: quantity?.decimal ?? '1',
		price: price === undefined ? '0' : spellPrice(price.decimal, sheet.currency),
	}
}

/** The two numbers whose product a later column has; without such a column the first two, or the only one as the price. */
function quantityAndPrice(numbers: readonly Amount[], currency: string): [quantity?: Amount, price?: Amount] {
	const [first, second, sum] = proven(numbers, currency) ?? numbers.slice(0, 2)
	if (!first || !second) return [undefined, first]
	const isPriceFirst = sum ? isLike(first, sum) && !isLike(second, sum) : hasSign(first) && !hasSign(second)
	return isPriceFirst ? [second, first] : [first, second]
}

/** Of the columns from the right: a sum, and the nearest two before it that are its factors, to half of the smallest unit. */
function proven(numbers: readonly Amount[], currency: string): [Amount, Amount, Amount] | undefined {
	const half = 0.5 / 10 ** digitsOf(currency) + 1e-9
	const value = ({ decimal }: Amount) => Number(decimal)
	for (let sum = numbers.length - 1; sum > 1; sum--)
		for (let second = sum - 1; second > 0; second--)
			for (let first = second - 1; first >= 0; first--) {
				const found = [numbers[first], numbers[second], numbers[sum]] as [Amount, Amount, Amount]
				if (Math.abs(value(found[0]) * value(found[1]) - value(found[2])) <= half) return found
			}
	return undefined
}

const hasSign = ({ text }: Amount) => /\p{Sc}|\p{L}/u.test(text)

/** A price and its sum stand in columns of one format. */
const isLike = (one: Amount, sum: Amount) =>
	hasSign(one) === hasSign(sum) && one.decimal.split('.')[1]?.length === sum.decimal.split('.')[1]?.length

function numberOf(text: string, { locale, symbol }: Spreadsheet): Amount | undefined {
	const decimal = parseDecimal(text, locale, 6) ?? parseDecimal(text.replace(symbol, ''), locale, 6)
	return decimal === undefined ? undefined : { decimal, text }
}

const symbolOf = (currency: string, locale: string): string =>
	new Intl.NumberFormat(locale, { style: 'currency', currency, currencyDisplay: 'narrowSymbol' })
		.formatToParts(0)
		.find(({ type }) => type === 'currency')?.value ?? currency

/** Tabs between cells, breaks between rows; a cell in quotes may have both. */
function cellsOf(text: string): string[][] {
	const rows: string[][] = [[]]
	for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^\t\r\n]*))(\t|\r?\n|$)/g)) {
		rows.at(-1)?.push((quoted?.replaceAll('""', '"') ?? plain ?? '').trim())
		if (end === '') break
		if (end !== '\t') rows.push([])
	}
	return rows
}
