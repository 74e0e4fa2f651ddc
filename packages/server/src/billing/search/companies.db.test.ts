import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { names, search, tenantWith } from '../../../test/companies.ts'
import { startTestServer, type TestServer } from '../../../test/harness.ts'

let server: TestServer
beforeAll(async () => {
	server = await startTestServer()
})
afterAll(() => server.close())

describe('search', () => {
	const acme = { name: 'Ácme Söhne O’Reilly & Co. KG', domain: 'shop.acme-tools.example' }

	it.each([
		['a word', 'acme'],
		['other case', 'ACME sÖHNE'],
		['no accents', 'sohne'],
		['accents where there are none', 'shöp'],
		['prefixes', 'ac so'],
		['one letter', 'a'],
		['any order', 'kg acme co'],
		['words of name and domain', 'tools söhne'],
		['the domain', 'acme-tools.example'],
		['the domain with its host', 'SHOP.acme-tools.example'],
		['the beginning of a domain', 'shop.acme-t'],
		['an apostrophe', "O'Reilly"],
		['a curly apostrophe', 'o’rei'],
		['a word twice', 'acme acme ac'],
		['punctuation around it', ' "acme" (kg)! '],
		['full-width letters', 'ａｃｍｅ'],
		['decomposed accents', 'So\u0308hne'],
	])('finds by %s', async (_name, text) => {
		expect(await search(await tenantWith(server, acme, 'Zenith'), text)).toEqual([acme.name])
	})

	it.each(['cme', 'acme zenith', 'acmee', 'acme%', 'ac%me', '_cme', 'tool s x', 'acme-t ools', 'org', 'o r g', 'cmp'])(
		'finds nothing by %s: every word must begin one of the company',
		async (text) => {
			const found = await search(await tenantWith(server, acme, 'Zenith'), text)
			expect(found).toEqual(text === 'acme%' ? [acme.name] : [])
		},
	)

	it('does not take an organization’s own id for a word of its companies', async () => {
		const tenant = await tenantWith(server, 'Zenith')
		for (const text of ['o', 'or', 'org', 'org_', tenant.organizationId]) expect(await search(tenant, text)).toEqual([])
	})

	it.each(['%', '_', '*', '"', "'", '\\', '&', '|', '!', '<->', ':', ':*', '^', '(', ')', '--', ';', '.', '-', '🦊', '\u00a0.'])(
		'takes %s for text without a word, which finds nothing by itself',
		async (text) => {
			const tenant = await tenantWith(server, 'Acme % _ " \' \\ & | ! <-> * ^ :')
			expect(await search(tenant, text)).toEqual([])
			expect(await search(tenant, `acme ${text}`)).toHaveLength(1)
			expect(await search(tenant, `acme${text}`)).toHaveLength(1)
			expect(await search(tenant, `${text}acme`)).toHaveLength(1)
		},
	)

	it.each([
		["O'Brien", ['OBrien', "O'Brien", 'O’Brien', 'obr', 'o brien', 'brien']],
		['O’Brien', ['OBrien', "O'Brien", 'O´Brien', 'OʼBrien']],
		['OʼBrien', ['OBrien', "O'Brien"]],
		['Müller', ['Müller', 'Mueller', 'Muller', 'MUELL', 'Mu\u0308ller', 'ｍｕｅｌｌｅｒ', 'm', 'mu', 'mue', 'muel']],
		['Mueller', ['Müller', 'Mueller', 'Muller', 'mü', 'mül']],
		['Muller', ['Müller', 'Muller']],
		['Grössenwahn Straße', ['Größenwahn', 'Groessenwahn', 'grossen strasse', 'STRASSE']],
		['Øster Ærø', ['Oester', 'Oster', 'ØSTER', 'Aeroe', 'Aero']],
		['Oester', ['Øster', 'Öster']],
		['Århus', ['Aarhus', 'Arhus', 'A\u030arhus']],
		['Aarhus', ['Århus', 'Arhus']],
		['Überführung', ['Ueberfuehrung', 'Uberfuhrung']],
	])('finds %s however its letters are written', async (name, texts) => {
		const tenant = await tenantWith(server, name, 'Zenith')
		for (const text of texts) expect({ text, found: await search(tenant, text) }).toEqual({ text, found: [name] })
	})

	it('does not take blue for blu, nor a word for another that only begins like it', async () => {
		const tenant = await tenantWith(server, 'Blume', 'Bauer', 'Museum', 'Muller')
		for (const text of ['blue', 'baur', 'mue', 'mueller']) expect(await search(tenant, text)).toEqual([])
	})

	it.each(['AND', 'OR', 'NOT', 'NEAR', 'near(a b)', 'a AND', 'OR OR', 'NOT acme', 'name:acme', 'searchText : acme'])(
		'takes %s for words like any other',
		async (text) => {
			const tenant = await tenantWith(server, 'Acme', `And Or Not Near A B name searchText acme`)
			expect(await search(tenant, text)).toEqual(['And Or Not Near A B name searchText acme'])
		},
	)

	it.each([
		['東京電力', '東京'],
		['株式会社 𠮷野家', '𠮷野'],
		['한국전력', '한국'],
		['ООО «Ромашка»', 'ромаш'],
		['ΟΔΟΣΜΟΣ', 'ΟΔΟΣ'],
		['Οδός', 'ΟΔΟΣ'],
		['IŞIK Elektrik', 'ışık'],
		['भारतीय स्टेट', 'भारतीय'],
		['บริษัท ไทย', 'ไทย'],
		['שלום', 'שלו'],
	])('finds %s by %s', async (name, text) => {
		const tenant = await tenantWith(server, name, 'Zenith')
		expect(await search(tenant, text)).toEqual([name])
	})

	it('for nothing is no search', async () => {
		const tenant = await tenantWith(server, 'Acme', 'Zenith')
		for (const query of ['search=', 'search', 'search=+', 'search=%20']) {
			expect((await tenant.ask('GET', `/api/companies?${query}`)).body.data).toHaveLength(2)
		}
	})

	it('reads + and %20 as a space, and %2B as a plus', async () => {
		const tenant = await tenantWith(server, 'Acme Tools', 'Acme', "L'Oréal")
		for (const [query, count] of [
			['acme+tools', 1],
			['acme%20tools', 1],
			['acme%2Btools', 1],
			["l'or%C3%A9al", 1],
		]) {
			expect((await tenant.ask('GET', `/api/companies?search=${query}`)).body.data).toHaveLength(count as number)
		}
	})

	it('follows a new name, a new domain and a deletion at once', async () => {
		const tenant = await tenantWith(server, { name: 'Before', domain: 'before.example' })
		const path = `/api/companies/${tenant.ids[0]}`
		await tenant.ask('PATCH', path, { body: { name: 'After' } })
		expect([await search(tenant, 'after'), await search(tenant, 'before')]).toEqual([['After'], ['After']])
		await tenant.ask('PATCH', path, { body: { domain: null } })
		expect([await search(tenant, 'after'), await search(tenant, 'before')]).toEqual([['After'], []])
		await tenant.ask('PATCH', path, { body: { phone: '1' } })
		expect(await search(tenant, 'after')).toEqual(['After'])
		await tenant.ask('DELETE', path)
		expect(await search(tenant, 'after')).toEqual([])
	})

	it('goes by name or creation, in pages', async () => {
		const tenant = await tenantWith(server, 'Acme C', 'Acme A', 'Zenith', 'Acme B')
		expect(await search(tenant, 'acme')).toEqual(['Acme A', 'Acme B', 'Acme C'])
		expect(await names(tenant, { search: 'acme', sortOrder: 'desc' })).toEqual(['Acme C', 'Acme B', 'Acme A'])
		const { body } = await tenant.ask('GET', '/api/companies?search=acme&limit=1&offset=1')
		expect(body).toMatchObject({ data: [{ name: 'Acme B' }], meta: { total: 3, limit: 1, offset: 1 } })
	})

	it('never fails on text that is allowed', async () => {
		const tenant = await tenantWith(server, 'Acme')
		for (const text of ['㌀'.repeat(200), 'ﷺ'.repeat(200), 'x'.repeat(200), 'x '.repeat(100)])
			expect(await search(tenant, text)).toEqual([])
		for (const text of ['🦊'.repeat(100), '\u0301'.repeat(200), '\u0001'.repeat(200)])
			expect(await search(tenant, text)).toEqual([])
	})

	it('does not take the signs at the end of a name for nothing', async () => {
		const tenant = await tenantWith(server, 'C Works', 'C++ Works', 'C# Works', 'Crate')
		expect(await search(tenant, 'c++')).toEqual(['C++ Works'])
		expect(await search(tenant, 'C# works')).toEqual(['C# Works'])
		expect((await search(tenant, 'c')).sort()).toEqual(['C Works', 'C# Works', 'C++ Works', 'Crate'])
	})

	it.each([
		'https://www.acme.com',
		'http://acme.com/about?x=1',
		'www.acme.com',
		'WWW.ACME.COM/',
		'acme.com',
		'https://ada@acme.com:443',
	])('finds a domain by the web address %s', async (text) => {
		for (const domain of ['acme.com', 'www.acme.com', 'https://www.acme.com/'])
			expect(await search(await tenantWith(server, { name: 'Zenith', domain }, 'Other'), text)).toEqual(['Zenith'])
	})

	it('finds the middle of a name that has no spaces, by one character and by more', async () => {
		const tenant = await tenantWith(server, '東京電力', '電気東京', '한국전력공사')
		expect(await search(tenant, '京電')).toEqual(['東京電力'])
		expect(await search(tenant, '力')).toEqual(['東京電力'])
		expect((await search(tenant, '電')).sort()).toEqual(['東京電力', '電気東京'])
		expect(await search(tenant, '東京電力')).toEqual(['東京電力'])
		expect(await search(tenant, '전력')).toEqual(['한국전력공사'])
		expect(await search(tenant, '한구')).toEqual(['한국전력공사'])
		expect(await search(tenant, '力東')).toEqual([])
	})
})
