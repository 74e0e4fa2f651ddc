// Which characters the fonts of a PDF have. The others are U+FFFD in it; whoever writes them is told before (billing/invoices/snapshot.ts).
import { closeSync, openSync, readSync } from 'node:fs'
import { thirdPartyFile } from '../third-party/files.ts'
import { fontFiles } from '../third-party/fonts.ts'

/** One bit for each character. Bold fonts have the same characters as regular ones. */
let known: Uint8Array | undefined

function knownCharacters(): Uint8Array {
	if (known) return known
	const bits = new Uint8Array(0x110000 / 8)
	for (const file of fontFiles.filter((name) => name.includes('Regular')))
		for (const [first, last] of rangesOf(characterMap(thirdPartyFile(file))))
			for (let code = first; code <= last; code++) bits[code >> 3] = (bits[code >> 3] as number) | (1 << (code & 7))
	known = bits
	return bits
}

/** The table `cmap` of a font (OpenType), without the rest of the file. */
function characterMap(path: string): Buffer {
	const file = openSync(path, 'r')
	try {
		const read = (length: number, position: number) => {
			const bytes = Buffer.alloc(length)
			readSync(file, bytes, { position })
			return bytes
		}
		const tables = read(read(12, 0).readUInt16BE(4) * 16, 12)
		for (let at = 0; at < tables.length; at += 16)
			if (tables.toString('latin1', at, at + 4) === 'cmap') return read(tables.readUInt32BE(at + 12), tables.readUInt32BE(at + 8))
	} finally {
		closeSync(file)
	}
	throw new Error(`${path} has no table cmap`)
}

/** The ranges of characters in a subtable of format 12, which has all that the font has. */
function* rangesOf(table: Buffer): Generator<[first: number, last: number]> {
	const subtables = Array.from({ length: table.readUInt16BE(2) }, (_, index) => table.readUInt32BE(8 + index * 8))
	const start = subtables.find((at) => table.readUInt16BE(at) === 12)
	if (start === undefined) throw new Error('A font has no character map of format 12')
	for (let group = 0; group < table.readUInt32BE(start + 12); group++) {
		const at = start + 16 + group * 12
		yield [table.readUInt32BE(at), table.readUInt32BE(at + 4)]
	}
}

/** What has no glyph, and needs none: controls become blanks. */
const invisible = /[\p{Cc}\p{Default_Ignorable_Code_Point}]/u

const isKnown = (character: string) => {
	const code = character.codePointAt(0) as number
	return (((knownCharacters()[code >> 3] as number) >> (code & 7)) & 1) === 1
}

/** A character may be drawn by those that it is made of, such as a compatibility ideograph. */
const isCharacterPrintable = (character: string) =>
	isKnown(character) || invisible.test(character) || [...character.normalize('NFD')].every(isKnown)

export const isPrintable = (text: string): boolean => Array.from(text).every(isCharacterPrintable)

const graphemes = new Intl.Segmenter()

/** What a reader takes for the characters of a text. */
export const graphemesOf = (text: string): string[] => Array.from(graphemes.segment(text), ({ segment }) => segment)

export interface UnprintableText {
	/** The names and indexes that lead to the text. */
	readonly path: readonly string[]
	/** Each once. */
	readonly characters: readonly string[]
}

/** The texts of a record that a PDF cannot show whole. Metadata is in none. */
export function unprintableTexts(value: unknown, path: readonly string[] = []): UnprintableText[] {
	if (typeof value === 'string') {
		if (isPrintable(value)) return []
		return [{ path, characters: [...new Set(graphemesOf(value).filter((grapheme) => !isPrintable(grapheme)))] }]
	}
	if (typeof value !== 'object' || value === null) return []
	return Object.entries(value).flatMap(([name, member]) => (name === 'metadata' ? [] : unprintableTexts(member, [...path, name])))
}
