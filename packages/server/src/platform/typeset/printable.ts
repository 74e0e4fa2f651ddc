// Replaces the characters of an invoice that no font can show: Typst fails on a PDF/A with a character outside its fonts, and its process
// ends when a line of such letters that are written from right to left is broken.
import type { InvoiceDocument } from '../../generated/contract.ts'
import { graphemesOf, isPrintable } from './glyphs.ts'

const lineBreak = /\r\n|[\r\v\f\u0085\u2028\u2029]/gu
const control = /(?!\n)\p{Cc}/gu

/** The document as JSON, with U+FFFD in place of each grapheme that no font has, or that contains one of `missing`. */
export function printable(document: InvoiceDocument, missing: ReadonlySet<string>): string {
	const show = (text: string) => replaceMissing(text.toWellFormed().replace(lineBreak, '\n').replace(control, ' '), missing)
	return JSON.stringify(document, (_, value) => (typeof value === 'string' ? show(value) : value))
}

function replaceMissing(text: string, missing: ReadonlySet<string>): string {
	const searched = [...missing].filter((glyph) => text.includes(glyph))
	if (searched.length === 0 && isPrintable(text)) return text
	const isShown = (grapheme: string) => isPrintable(grapheme) && !searched.some((glyph) => grapheme.includes(glyph))
	return graphemesOf(text)
		.map((grapheme) => (isShown(grapheme) ? grapheme : '\ufffd'))
		.join('')
}
