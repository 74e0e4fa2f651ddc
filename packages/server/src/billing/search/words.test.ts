import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fold, otherSpellings, searchedWords, words } from '../../platform/base/search-words.ts'
import { searchTexts } from './texts.ts'

const text = fc.string({ unit: 'grapheme', maxLength: 40 })

describe('folding', () => {
	it.each([
		['Émile ZOLA', 'emile zola'],
		['Ærø Østerbro', 'aero osterbro'],
		['Straße', 'strasse'],
		['STRAẞE', 'strasse'],
		['Łódź', 'lodz'],
		['Đặng Œuvre', 'dang oeuvre'],
		['ﬁne ﬂour', 'fine flour'],
		['ＡＣＭＥ１', 'acme1'],
		['No² Ⅳ', 'no2 iv'],
		['İstanbul', 'istanbul'],
		['Noe\u0308l', 'noel'],
		['', ''],
	])('makes %j into %j', (from, to) => {
		expect(fold(from)).toBe(to)
	})

	it('changes nothing the second time', () => {
		fc.assert(
			fc.property(text, (value) => {
				expect(fold(fold(value))).toBe(fold(value))
			}),
		)
	})

	it('does not see how accents are written, nor case', () => {
		fc.assert(
			fc.property(text, (value) => {
				expect(fold(value.normalize('NFD'))).toBe(fold(value.normalize('NFC')))
				expect(fold(fold(value).toUpperCase())).toBe(fold(fold(value).toUpperCase().toLowerCase()))
			}),
		)
	})

	// A caller searches while typing: a prefix of a word must fold to a prefix of the folded word.
	it.each(['ΟΔΟΣΜΟΣ', 'οδοσμος', 'IŞIK', 'ışık', 'STRASSE', 'straße', 'ΣΙΣΥΦΟΣ'])(
		'of %s begins with the folding of its beginning',
		(word) => {
			for (let end = 1; end <= word.length; end++) expect(fold(word).startsWith(fold(word.slice(0, end)))).toBe(true)
		},
	)

	it.each([
		['IŞIK', 'ışık'],
		['ΟΔΟΣ', 'οδοσ'],
		['ΟΔΟΣ', 'οδος'],
	])('makes %s and %s the same', (one, other) => {
		expect(fold(one)).toBe(fold(other))
	})
})

describe('words', () => {
	it.each([
		['O’Reilly & Co. KG', ['o', 'reilly', 'co', 'kg']],
		['shop.acme-tools.example', ['shop', 'acme', 'tools', 'example']],
		['https://acme.example:8080/path?x=1', ['acme', 'example', '8080', 'path', 'x', '1']],
		['Acme, www.acme.example', ['acme', 'acme', 'example']],
		['www.', ['www']],
		['C++ and C#, F#/G', ['c++', 'and', 'c#', 'f#', 'g']],
		['C++Builder a+b #7', ['c++', 'builder', 'a', 'b', '7']],
		['a_b', ['a', 'b']],
		['東京電力 (株)', ['東京', '京電', '電力', '力', '株']],
		['𠮷野家', ['𠮷野', '野家', '家']],
		['ドコモABC', ['トコ', 'コモ', 'モ', 'abc']],
		['한국', ['한국', '국'].map((part) => part.normalize('NFKD'))],
		['  ', []],
		['%_*"\\&|!<->:^()', []],
		['🦊', []],
	])('of %j are %j', (value, expected) => {
		expect(words(value)).toEqual(expected)
	})

	it('are letters and digits and never empty, whatever the text', () => {
		fc.assert(
			fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (value) => {
				for (const word of words(value)) expect(word).toMatch(/^[\p{L}\p{N}]+[+#]*$/u)
			}),
		)
	})
})

describe('other spellings', () => {
	it.each([
		["O'Brien & Sons", ['obrien']],
		['O’Brien', ['obrien']],
		['OʼBrien', ['obrien']],
		["'Acme' rock'n'roll", ['rocknroll']],
		['Müller Mu\u0308ller', ['mueller']],
		['Mueller', ['muller']],
		['Muller', []],
		['Ærø', ['aeroe', 'aro']],
		['Århus Aarhus', []],
		['Århus', ['aarhus']],
		['Aarhus', ['arhus']],
		['Bauer, neue Quelle, blue', []],
		["d'Überfluss", ['ueberfluss', 'duberfluss', 'dueberfluss']],
		['Straße', []],
		['Acme 42 (株)', []],
	])('of %j are %j', (value, expected) => {
		expect(otherSpellings(value)).toEqual(expected)
	})
})

describe('the words that a search looks for', () => {
	it.each([
		['https://www.acme.example/about?x=1', ['acme', 'example']],
		['www.acme.example/about', ['acme', 'example']],
		['http://ada@acme.example:80', ['acme', 'example']],
		['acme acme', ['acme']],
		['電', ['電']],
		['東京電', ['東京', '京電']],
		['한구', ['한구'.normalize('NFKD')]],
		['\u0001\u0002 %🦊', []],
		['a b c d e f g h i j k l m n', ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l']],
	])('of %j are %j', (value, expected) => {
		expect(searchedWords(value)).toEqual(expected)
	})

	it('each begin a word of the text itself', () => {
		fc.assert(
			fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (value) => {
				if (/:|www/i.test(value)) return
				const found = words(value)
				for (const word of searchedWords(value)) expect(found.some((other) => other.startsWith(word))).toBe(true)
			}),
		)
	})
})

describe('what a record is found by', () => {
	it('is each word of its name, and behind a slash those that only its other fields have', () => {
		expect(searchTexts.companies({ name: 'Acme ACME Tools', domain: 'https://www.acme.example' })).toBe(
			'acme acme tools / example',
		)
		expect(searchTexts.companies({ name: 'Acme', domain: null })).toBe('acme')
		expect(searchTexts.companies({ name: '!!!', domain: '' })).toBe('')
		expect(searchTexts.time_entries({ taskName: 'Design', deliverableName: null, description: 'Logo design' })).toBe(
			'/ design logo',
		)
	})

	it('has numbers of invoices without leading zeros, and with them', () => {
		expect(searchTexts.invoices({ invoiceNumber: 'INV-0042', paymentReference: 'PO 007' })).toBe('inv 42 / po 7 0042 007')
		expect(searchTexts.invoices({ invoiceNumber: '000', paymentReference: null })).toBe('0 / 000')
	})

	it('holds every word of both, their other spellings, and no other', () => {
		fc.assert(
			fc.property(text, text, (name, domain) => {
				const found = searchTexts.companies({ name, domain }).split(' ').filter(Boolean)
				const all = [name, domain].flatMap((field) => [...words(field), ...otherSpellings(field)])
				expect(new Set(found.filter((word) => word !== '/'))).toEqual(new Set(all))
			}),
		)
	})
})
