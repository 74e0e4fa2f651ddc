import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkTypes, compileFields, type FieldSpec, lookUpsOf, mapRecord } from './engine.ts'
import { memberAt, parseTarget } from './path.ts'
import { transforms } from './transforms.ts'

const compiled = (...specs: FieldSpec[]) => {
	const { fields, mistakes } = compileFields(specs)
	expect(mistakes).toEqual([])
	return fields
}
const map = (record: unknown, ...specs: FieldSpec[]) => mapRecord(compiled(...specs), record)
/** The value of one field. */
const resultOf = (record: unknown, field: Omit<FieldSpec, 'target'>) => map(record, { target: 'x', ...field }).output?.x
const codesOf = (record: unknown, field: Omit<FieldSpec, 'target'>) =>
	map(record, { target: 'x', ...field }).errors.map(({ code }) => code)
const transformed = (value: unknown, ...steps: NonNullable<FieldSpec['transforms']>) =>
	resultOf({ v: value, currency: 'JPY', other: 'o' }, { source: 'v', transforms: steps })
const mistakesOf = (...specs: FieldSpec[]) => compileFields(specs).mistakes.map(({ pointer, code }) => `${pointer} ${code}`)

const contact = {
	name: ' Acme ',
	addresses: [
		{ type: 'STREET', city: 'Bonn' },
		{ type: 'BILLING', city: 'Köln' },
	],
	tags: ['a', 'b'],
	empty: '',
	nothing: null,
}

describe('a path', () => {
	it.each([
		['name', ' Acme '],
		['addresses[0].city', 'Bonn'],
		['addresses[type=BILLING].city', 'Köln'],
		['addresses[type=POBOX].city', undefined],
		['addresses[7].city', undefined],
		['name.city', undefined],
		['tags', ['a', 'b']],
		['nothing', null],
		['toString', undefined],
		['addresses.length', undefined],
	])('%s reads %j', (source, value) => {
		expect(resultOf(contact, { source })).toEqual(value)
	})

	it.each(
		[
			['', 'a..b', '.a', 'a.', '[0]', 'a[', 'a[-1]', 'a[x]', 'a]b', 'a[0]b', 'a[b=1][c=2]', 'a{b}'],
			['__proto__', 'a.constructor', 'a.prototype.b', 'a[__proto__=1]', 'x'.repeat(501), 'x'.repeat(10_000), 'a.'.repeat(30)],
		].flat(),
	)('%j is refused', (source) => {
		expect(mistakesOf({ target: 'x', source })).toEqual(['/0/source invalid_path'])
	})

	it('to an object, or a list of objects, is an error of the field', () => {
		expect(codesOf(contact, { source: 'addresses' })).toEqual(['type'])
		expect(codesOf({ a: {} }, { source: 'a' })).toEqual(['type'])
	})

	it('of a target makes the objects and lists around it, and fills lists without gaps', () => {
		const { output } = map(contact, { target: 'a.b[0].c', source: 'name' }, { target: 'a.b[0].d', constant: 1 })
		expect(output).toEqual({ a: { b: [{ c: ' Acme ', d: 1 }] } })
		expect(map({}, { target: 'a[1]', constant: 1 })).toMatchObject({ output: null, errors: [{ field: 'a[1]', code: 'gap' }] })
		expect(map({}, { target: 'a[0]', constant: 1 }, { target: 'a.b', constant: 1 }).errors[0]?.code).toBe('type')
		expect(mistakesOf({ target: 'a[b=1]', constant: 1 }, { target: 'c[100]', constant: 1 })).toHaveLength(2)
	})
})

describe('a target', () => {
	it.each(['hasOwnProperty.call', 'toString.name', 'valueOf[0].x'])(
		'%s is written into the output, and into nothing that all objects share',
		(target) => {
			const path = parseTarget(target)
			const { output, errors } = map({}, { target, constant: 'mine' })
			expect([errors, memberAt(path, output), memberAt(path, {})]).toEqual([[], 'mine', undefined])
		},
	)

	it('is read of what a record has itself', () => {
		expect(memberAt(parseTarget('toString'), { name: 'a' })).toBe(undefined)
		expect(memberAt(parseTarget('a[0].b'), { a: [{ b: 1 }] })).toBe(1)
		expect(memberAt(parseTarget('a.b'), { a: null })).toBe(undefined)
	})
})

describe('a template', () => {
	it.each([
		['{first} {last}', 'Ada Lovelace'],
		['{first} {middle}', 'Ada '],
		['{middle}', undefined],
		['no path', 'no path'],
		['{{{first}}}', '{Ada}'],
		['{n}%', '3%'],
	])('%s gives %j', (template, value) => {
		expect(resultOf({ first: 'Ada', last: 'Lovelace', n: 3 }, { template })).toBe(value)
	})

	it.each(['{', '}', '{}', '{a', 'a}', '{a{b}}', '{__proto__}', 'x'.repeat(501)])('%j is refused', (template) => {
		expect(mistakesOf({ target: 'x', template })).toEqual(['/0/template invalid_path'])
	})
})

describe('transforms', () => {
	it.each([
		[' a ', [{ name: 'trim' }, { name: 'upper' }], 'A'],
		['ÄB', [{ name: 'lower' }], 'äb'],
		[12.5, [{ name: 'toString' }], '12.5'],
		['42', [{ name: 'toInteger' }], 42],
		['-4.50', [{ name: 'toNumber' }], -4.5],
		['Yes', [{ name: 'toBoolean' }], true],
		[0, [{ name: 'toBoolean' }], false],
		['/Date(1774915200000+0000)/', [{ name: 'parseDate', format: 'xero' }], 1_774_915_200_000],
		['2026-03-31T00:00:00', [{ name: 'parseDate', format: 'iso' }], 1_774_915_200_000],
		['31/03/2026', [{ name: 'parseDate', format: 'dmy' }], 1_774_915_200_000],
		['3/31/2026', [{ name: 'parseDate', format: 'mdy' }], 1_774_915_200_000],
		['31.3.2026', [{ name: 'parseDate', format: 'dmy_dots' }], 1_774_915_200_000],
		[1_774_915_200, [{ name: 'parseDate', format: 'unix_seconds' }], 1_774_915_200_000],
		[1_774_915_200_000, [{ name: 'formatDate', format: 'xero' }], '/Date(1774915200000+0000)/'],
		[1_774_915_200_000, [{ name: 'formatDate', format: 'day' }], '2026-03-31'],
		[1_774_915_200_000, [{ name: 'formatDate', format: 'unix_seconds' }], 1_774_915_200],
		['12.34', [{ name: 'toCents', currency: 'USD' }], 1_234],
		[0.07, [{ name: 'toCents', currency: 'USD' }], 7],
		['-1.2340', [{ name: 'toCents', currency: 'KWD' }], -1_234],
		['1234', [{ name: 'toCents', currencyPath: 'currency' }], 1_234],
		[1_234, [{ name: 'fromCents', currency: 'USD' }], '12.34'],
		[-7, [{ name: 'fromCents', currency: 'KWD' }], '-0.007'],
		[7, [{ name: 'fromCents', currencyPath: 'currency' }], '7'],
		['b', [{ name: 'enumMap', values: { a: 'A', b: 'B' } }], 'B'],
		['c', [{ name: 'enumMap', values: { a: 'A' }, otherwise: 'Z' }], 'Z'],
		['a', [{ name: 'concat', paths: ['none', 'other'], separator: '-' }], 'a-o'],
		[['a', 'b'], [{ name: 'concat', paths: [], separator: ', ' }], 'a, b'],
		['a,b', [{ name: 'split', separator: ',' }], ['a', 'b']],
		['a,b', [{ name: 'split', separator: ',', index: 1 }], 'b'],
		['', [{ name: 'coalesce', paths: ['none', 'other'] }], 'o'],
		[undefined, [{ name: 'coalesce', paths: ['other'] }], 'o'],
		['https://www.Acme.example/about', [{ name: 'domainFromUrl' }], 'acme.example'],
		['info@acme.example', [{ name: 'domainFromUrl' }], 'acme.example'],
		['Deutschland', [{ name: 'countryCode' }], 'DE'],
		['usa', [{ name: 'countryCode' }], 'US'],
		['uk', [{ name: 'countryCode' }], 'GB'],
		['abcdef', [{ name: 'truncate', length: 3 }], 'abc'],
		['ab😀', [{ name: 'truncate', length: 3 }], 'ab'],
		[null, [{ name: 'trim' }], null],
	])('of %j by %j gives %j', (value, steps, result) => {
		expect(transformed(value, ...(steps as NonNullable<FieldSpec['transforms']>))).toEqual(result)
	})

	it.each([
		['1.005', { name: 'toCents', currency: 'USD' }, 'too_precise'],
		['1,5', { name: 'toCents', currency: 'USD' }, 'not_decimal'],
		['1e3', { name: 'toCents', currency: 'USD' }, 'not_decimal'],
		['1', { name: 'toCents', currencyPath: 'other' }, 'unknown_currency'],
		['999999999999999', { name: 'toCents', currency: 'KWD' }, 'out_of_range'],
		['1.5', { name: 'toInteger' }, 'not_integer'],
		['9007199254740993', { name: 'toInteger' }, 'not_integer'],
		['x', { name: 'toNumber' }, 'not_number'],
		['maybe', { name: 'toBoolean' }, 'not_boolean'],
		['toString', { name: 'toBoolean' }, 'not_boolean'],
		['31/02/2026', { name: 'parseDate', format: 'dmy' }, 'invalid_date'],
		['constructor', { name: 'enumMap', values: { a: 'b' } }, 'unmapped_value'],
		['Atlantis', { name: 'countryCode' }, 'no_country'],
		['EU', { name: 'countryCode' }, 'no_country'],
		['http://[::1]/', { name: 'domainFromUrl' }, 'no_domain'],
		[7, { name: 'trim' }, 'type'],
	])('of %j by %j is the error %s', (v, transform, code) => {
		expect(codesOf({ v, other: 'o' }, { source: 'v', transforms: [transform as never] })).toEqual([code])
	})

	it('of cents are exact both ways, whatever the currency', () => {
		const currency = fc.constantFrom('USD', 'JPY', 'KWD', 'CLF')
		fc.assert(
			fc.property(fc.integer({ min: -999_999_999_999, max: 999_999_999_999 }), currency, (cents, currency) => {
				const text = transformed(cents, { name: 'fromCents', currency })
				expect(transformed(text, { name: 'toCents', currency })).toBe(cents)
			}),
		)
	})

	it('without a parameter that they need, or with a foreign one, are refused at their place', () => {
		const field = (...steps: NonNullable<FieldSpec['transforms']>): FieldSpec => ({ target: 'x', source: 'y', transforms: steps })
		expect(mistakesOf(field({ name: 'trim' }, { name: 'toCents' }))).toEqual(['/0/transforms/1 invalid_transform'])
		expect(mistakesOf(field({ name: 'trim', length: 3 }))).toEqual(['/0/transforms/0/length invalid_transform'])
		expect(mistakesOf(field({ name: 'toString' }, { name: 'constructor' }))).toEqual(['/0/transforms/1/name invalid_transform'])
		expect(mistakesOf(field({ name: 'coalesce', paths: ['a', 'b['] }))).toEqual(['/0/transforms/0/paths/1 invalid_path'])
	})

	it('that do not fit each other, or the target, are found before any record', () => {
		const check = (from: 'text' | 'any' | 'integer', to: 'text' | 'integer' | 'number', ...names: string[]) =>
			compiled({ target: 'x', source: 'y', transforms: names.map((name) => ({ name })) })
				.flatMap((field) => checkTypes(field, from, to))
				.map(({ pointer }) => pointer)
		expect(check('text', 'text', 'trim', 'lower')).toEqual([])
		expect(check('any', 'number', 'toInteger')).toEqual([])
		expect(check('integer', 'text', 'trim')).toEqual(['/transforms/0'])
		expect(check('any', 'integer', 'toInteger', 'toString')).toEqual(['/target'])
	})
})

describe('a field', () => {
	it('has exactly one origin, and a target of its own', () => {
		expect(mistakesOf({ target: 'a' }, { target: 'b', source: 'x', constant: 1 })).toEqual([
			'/0 invalid_field',
			'/1 invalid_field',
		])
		const twice = ['/0/target duplicate_target', '/1/target duplicate_target']
		expect(mistakesOf({ target: 'a', constant: 1 }, { target: 'a', constant: 2 })).toEqual(twice)
		const within = mistakesOf({ target: 'a.b', constant: 1 }, { target: 'a', constant: 2 })
		expect(within).toEqual(['/1/target duplicate_target'])
	})

	it('takes its default without a value, and is left out without one', () => {
		expect(map({}, { target: 'a', source: 'a', default: 'd' }, { target: 'b', source: 'b' })).toEqual({
			output: { a: 'd' },
			errors: [],
		})
	})

	it('that is required, or fails, fails its record unless `onError` says otherwise', () => {
		const bad = { source: 'v', transforms: [{ name: 'toInteger' }], default: 7 }
		const record = { v: 'x' }
		expect(map({}, { target: 'a', source: 'a', required: true }).errors).toMatchObject([{ field: 'a', code: 'required' }])
		expect(map(record, { target: 'a', ...bad }).output).toBeNull()
		expect(map(record, { target: 'a', ...bad, onError: 'use_default' })).toMatchObject({
			output: { a: 7 },
			errors: [{ field: 'a', code: 'not_integer' }],
		})
		expect(map(record, { target: 'a', ...bad, onError: 'skip_field' }).output).toEqual({})
		expect(map(record, { target: 'a', ...bad, onError: 'skip_field', required: true }).output).toBeNull()
	})
})

const paths = fc.constantFrom('a', 'a.b', 'a[0]', 'a[b=c].d', 'toString', 'valueOf', 'length', 'hasOwnProperty')
const transformsOf = fc.constantFrom<NonNullable<FieldSpec['transforms']>[number]>(
	...Object.keys(transforms).flatMap((name) => {
		const { needs = [] } = transforms[name] as (typeof transforms)[string]
		const parameters = {
			...{ format: 'iso' as const, currency: 'USD', currencyPath: 'a', values: { a: 'b' }, paths: ['a', 'a.b'] },
			...{ separator: ',', index: 0, length: 2, object: 'things' },
		}
		const chosen = needs.map((need) => (typeof need === 'string' ? need : (need[0] as keyof typeof parameters)))
		return [{ name, ...Object.fromEntries(chosen.map((one) => [one, parameters[one as keyof typeof parameters]])) }]
	}),
)

const looksUpOnce = (specs: readonly { name: string }[]) => specs.filter(({ name }) => name === 'lookupLink').length < 2

describe('lookupLink', () => {
	const field: FieldSpec = {
		target: 'companyId',
		source: 'Contact.ContactID',
		transforms: [{ name: 'trim' }, { name: 'lookupLink', object: 'contacts' }],
	}
	const record = { Contact: { ContactID: ' a ' } }

	it('takes what it finds from a look-up that is handed in, by the value before it', () => {
		const links = (object: string, id: string) => (object === 'contacts' && id === 'a' ? 'cmp_1' : undefined)
		expect(mapRecord(compiled(field), record, links)).toEqual({ output: { companyId: 'cmp_1' }, errors: [] })
		expect(mapRecord(compiled(field), {}, links)).toEqual({ output: {}, errors: [] })
	})

	it('without a link is an error, with which onError deals', () => {
		expect(map(record, field)).toMatchObject({ output: null, errors: [{ field: 'companyId', code: 'not_linked' }] })
		expect(map(record, { ...field, onError: 'skip_field' })).toMatchObject({ output: {}, errors: [{ code: 'not_linked' }] })
	})

	it('says before what it will look up, and is in a field once', () => {
		const other: FieldSpec = { target: 'notes', source: 'note' }
		const records = [record, { Contact: { ContactID: 'b' } }, { Contact: { ContactID: 'a' } }, { Contact: {} }]
		expect(lookUpsOf(compiled(field, other), records)).toEqual(new Map([['contacts', new Set(['a', 'b'])]]))
		expect(lookUpsOf(compiled(other), records)).toEqual(new Map())
		const [, look] = field.transforms as [object, { name: string; object: string }]
		expect(mistakesOf({ ...field, transforms: [look, look] })).toEqual(['/0/transforms invalid_transform'])
		expect(mistakesOf({ ...field, transforms: [{ name: 'lookupLink' }] })).toEqual(['/0/transforms/0 invalid_transform'])
	})
})

describe('whatever the record', () => {
	const fields = fc.record({ source: paths, transforms: fc.array(transformsOf, { maxLength: 4 }).filter(looksUpOnce) })
	const records = fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'constructor'), fc.jsonValue()))

	it('mapping never throws, makes plain data only, and touches no prototype', () => {
		const before = Object.getOwnPropertyNames(Object.prototype)
		fc.assert(
			fc.property(fc.array(fields, { maxLength: 5 }), records, (list, record) => {
				const frozen = JSON.stringify(record)
				const { output, errors } = map(record, ...list.map((field, index) => ({ target: `t${index}`, ...field })))
				expect(JSON.parse(JSON.stringify({ output, errors }))).toEqual({ output, errors })
				expect(JSON.stringify(record)).toBe(frozen)
			}),
			{ numRuns: 500 },
		)
		expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before)
	})

	it('any text is a path or is refused, and so is any template', () => {
		fc.assert(
			fc.property(fc.string({ maxLength: 600 }), (text) => {
				compileFields([{ target: text, source: text, transforms: [{ name: 'coalesce', paths: [text] }] }])
				compileFields([{ target: 'x', template: text }])
			}),
		)
	})

	it('one that is deep, or has a huge text or list, is cut off by its budget', () => {
		let deep: unknown = 'end'
		for (let level = 0; level < 100_000; level++) deep = { a: deep }
		expect(codesOf(deep, { source: 'a.a.a' })).toEqual(['type'])
		const items = Array.from({ length: 100_000 }, () => ({ b: 'x' }))
		const many = Array.from({ length: 100 }, (_, index) => ({ target: `t${index}`, source: 'a[b=c].d' }))
		const begun = performance.now()
		expect(map({ a: items }, ...many).errors).toEqual([])
		const huge = { a: 'x'.repeat(600_000), b: 'y'.repeat(100_000) }
		expect(codesOf(huge, { source: 'a', onError: 'skip_field' })).toEqual(['too_large'])
		const often = Array.from({ length: 100 }, (_, index) => ({ target: `t${index}`, source: 'b' }))
		expect(map(huge, ...often).errors.map(({ code }) => code)).toEqual(['too_large'])
		expect(performance.now() - begun).toBeLessThan(2_000)
	})
})
