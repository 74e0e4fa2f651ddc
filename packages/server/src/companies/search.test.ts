import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fold, ftsQuery, searchText, tsQuery, words } from './search.ts'

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
		['https://acme.example:8080/path?x=1', ['https', 'acme', 'example', '8080', 'path', 'x', '1']],
		['a_b', ['a', 'b']],
		['東京電力 (株)', ['東京電力', '株']],
		['𠮷野家', ['𠮷野家']],
		['  ', []],
		['%_*"\\&|!<->:^()', []],
		['🦊', []],
	])('of %j are %j', (value, expected) => {
		expect(words(value)).toEqual(expected)
	})

	it('are letters and digits and never empty, whatever the text', () => {
		fc.assert(
			fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (value) => {
				for (const word of words(value)) expect(word).toMatch(/^[\p{L}\p{N}]+$/u)
			}),
		)
	})
})

describe('what a company is found by', () => {
	it('is each word of its name and domain once, a space between them', () => {
		expect(searchText('Acme ACME Tools', 'acme.example')).toBe('acme tools example')
		expect(searchText('Acme', null)).toBe('acme')
		expect(searchText('Acme', undefined)).toBe('acme')
		expect(searchText('!!!', '')).toBe('')
	})

	it('holds every word of both, and no other', () => {
		fc.assert(
			fc.property(text, text, (name, domain) => {
				const found = searchText(name, domain).split(' ').filter(Boolean)
				expect(new Set(found)).toEqual(new Set([...words(name), ...words(domain)]))
				expect(new Set(found).size).toBe(found.length)
			}),
		)
	})
})

describe('the expressions for the databases', () => {
	it('ask for every prefix among the words of the organization', () => {
		expect(ftsQuery('org_A1', ['ac', 'to'])).toBe('"org_A1_ac" * AND "org_A1_to" *')
		expect(tsQuery('org_A1', ['ac', 'to'])).toBe("'org_A1_ac':* & 'org_A1_to':*")
	})

	it('hold no quote but their own, whatever was searched', () => {
		fc.assert(
			fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (value) => {
				const prefixes = words(value)
				expect(ftsQuery('org_A1', prefixes).split('"')).toHaveLength(1 + 2 * prefixes.length)
				expect(tsQuery('org_A1', prefixes).split("'")).toHaveLength(1 + 2 * prefixes.length)
				expect(ftsQuery('org_A1', prefixes) + tsQuery('org_A1', prefixes)).not.toContain('\\')
			}),
		)
	})
})
