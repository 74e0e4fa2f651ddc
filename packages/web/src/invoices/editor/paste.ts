// Rows of a spreadsheet, as the clipboard has them, become lines.
import { parseDecimal } from '../../format/amount.ts'
import { spellPrice } from '../../format/price.ts'
import { blankLine, type LineValues } from './values.ts'

/** Undefined when the text is no rows: then it is pasted as any text. */
export function linesOf(text: string, locale: string, currency: string, tax: string): LineValues[] | undefined {
	if (!text.includes('\t')) return undefined
	const rows = cellsOf(text).filter((cells) => cells.some((cell) => cell !== ''))
	const lines = rows.map((cells) => lineOf(cells, locale, currency, tax))
	// The names of the columns are no line.
	const isHead = (cells: readonly string[]) => cells.every((cell) => numberOf(cell, locale) === undefined)
	return rows.length > 1 && isHead(rows[0] as string[]) && !isHead(rows[1] as string[]) ? lines.slice(1) : lines
}

/** The first text is the description, a later one the unit; of the numbers the first is the quantity and the next one the price, or the only one the price. */
function lineOf(cells: readonly string[], locale: string, currency: string, tax: string): LineValues {
	const numbers = cells.flatMap((cell) => numberOf(cell, locale) ?? [])
	const texts = cells.filter((cell) => cell !== '' && numberOf(cell, locale) === undefined)
	const [quantity, price] = numbers.length > 1 ? numbers : ['1', numbers[0]]
	return {
		...blankLine(tax),
		description: texts[0] ?? '',
		unit: texts[1] ?? null,
		quantity: quantity ?? '1',
		price: price === undefined ? '0' : spellPrice(price, currency),
	}
}

const numberOf = (cell: string, locale: string): string | undefined => parseDecimal(cell, locale, 6)

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
