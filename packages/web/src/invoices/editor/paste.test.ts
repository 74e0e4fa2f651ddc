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

it('The last column proves which two of the others are the quantity and the price', () => {
	const design = [['Design', '2', null, '50.00']]
	expect(short('1\tDesign\t2\t50.00\t100.00')).toEqual(design)
	expect(short('Pos\tItem\tQty\tPrice\tSum\n7\tDesign\t2\t50.00\t100.00')).toEqual(design)
	expect(short('1\tDesign\t2\t50,00\u00a0€\t100,00\u00a0€', 'de-DE')).toEqual(design)
	expect(short('3\tDesign\t$1,200.00\t2\t$2,400.00', 'en-US', 'USD')).toEqual([['Design', '2', null, '1200.00']])
	expect(short('4\tDesign\t1.5\th\t33.33\t50.00')).toEqual([['Design', '1.5', 'h', '33.33']])
	expect(short('2\tDesign\t50.00\t100.00')).toEqual(design)
	expect(short('5\tDesign\t2\t50.00\t100.00\t19\u00a0%\t119.00')).toEqual(design)
})

it('The price is the column that is written as the sum is, and else the later one', () => {
	expect(short('1\tDesign\t50.00\t2\t100.00')).toEqual([['Design', '2', null, '50.00']])
	expect(short('Design\t1.50\t80\t120')).toEqual([['Design', '1.50', null, '80.00']])
	expect(short('Design\t€50\t2')).toEqual([['Design', '2', null, '50.00']])
	expect(short('Design\t2\t50.00\t119')).toEqual([['Design', '2', null, '50.00']])
	expect(short('Design\t3\t4\t12')).toEqual([['Design', '3', null, '4.00']])
})

it('The sign of a currency may be letters', () => {
	expect(short("1\tDesign\t2\tCHF 1'200.00\tCHF 2'400.00", 'de-CH', 'CHF')).toEqual([['Design', '2', null, '1200.00']])
	expect(short('1\tDesign\t2\t1 200,00 kr\t2 400,00 kr', 'sv-SE', 'SEK')).toEqual([['Design', '2', null, '1200.00']])
	expect(short('1\tDesign\t2\tUS$50.00\tUS$100.00', 'en-AU', 'USD')).toEqual([['Design', '2', null, '50.00']])
})
