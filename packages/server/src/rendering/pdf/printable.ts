// Replaces the characters of an invoice that no font can show: Typst fails on a PDF/A with a character outside its fonts.
import type { InvoiceDocument } from '../../generated/contract.ts'

const lineBreak = /\r\n|[\r\v\f\u0085\u2028\u2029]/gu
const control = /(?!\n)\p{Cc}/gu
const graphemes = new Intl.Segmenter()

/** The document as JSON, with U+FFFD in place of each grapheme that contains one of `missing`. */
export function printable(document: InvoiceDocument, missing: ReadonlySet<string>): string {
	const show = (text: string) => replaceMissing(text.toWellFormed().replace(lineBreak, '\n').replace(control, ' '), missing)
	return JSON.stringify(document, (_, value) => (typeof value === 'string' ? show(value) : value))
}

function replaceMissing(text: string, missing: ReadonlySet<string>): string {
	const searched = [...missing].filter((glyph) => text.includes(glyph))
	if (searched.length === 0) return text
	const show = (grapheme: string) => (searched.some((glyph) => grapheme.includes(glyph)) ? '\ufffd' : grapheme)
	return Array.from(graphemes.segment(text), ({ segment }) => show(segment)).join('')
}
