import { expect, it } from 'vitest'
import { linesOf } from './paste.ts'

const short = (text: string, locale = 'en-US', currency = 'EUR') =>
	linesOf(text, locale, currency, 'none')?.map(({ description, quantity, unit, price }) => [description, quantity, unit, price])

it('Rows of a spreadsheet are lines, whatever columns they have', () => {
	expect(short('Design\t3\t1,200.50\nHosting\t12\tmonth\t9\r\nFee\t40\n')).toEqual([
		['Design', '3', null, '1200.50'],
		['Hosting', '12', 'month', '9.00'],
		['Fee', '1', null, '40.00'],
	])
})

it('The names of the columns are no line, and the sum at the end of a row is not its price', () => {
	expect(short('Item\tQty\tPrice\tSum\nDesign\t2\t50\t100')).toEqual([['Design', '2', null, '50.00']])
})

it('Numbers are read as the locale writes them, with the sign of the currency', () => {
	expect(short('Beratung\t1,5\t1.200,00 €', 'de-DE')).toEqual([['Beratung', '1.5', null, '1200.00']])
	expect(short('Rice\t2\t¥1,500', 'en-US', 'JPY')).toEqual([['Rice', '2', null, '1500']])
})

it('A cell in quotes may hold tabs, breaks and quotes', () => {
	expect(short('"Two\nlines and ""more"""\t1\t5')).toEqual([['Two\nlines and "more"', '1', null, '5.00']])
})

it('Text without columns is no rows', () => {
	expect(short('Just\nsome text')).toBeUndefined()
})
