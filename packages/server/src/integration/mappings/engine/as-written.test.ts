import { expect, it } from 'vitest'
import { isAsWritten } from './as-written.ts'

it.each<[unknown, unknown]>([
	// Numbers as text, and text as numbers.
	[12.5, '12.50'],
	['12.50', 12.5],
	['12.50', '12.5'],
	['12.00', '12'],
	[7, '007'],
	['007', 7],
	[0.0000001, '0.0000001'],
	[1e21, '1e21'],
	[-1, '-1.0'],
	// Nothing.
	[null, undefined],
	[null, ''],
	['', null],
	[[], null],
	[{ city: null }, null],
	[{ city: '' }, undefined],
	// Others.
	['Acme', 'Acme'],
	[true, 'true'],
	[
		['a', 1],
		['a', '1.0'],
	],
	// What the provider adds.
	[
		{ name: 'Acme', address: { city: 'Bern' } },
		{ id: '1', name: 'Acme', address: { city: 'Bern', zip: '3000' } },
	],
	[[{ type: 'x' }], [{ type: 'x', id: 4 }]],
])('%j is answered as %j', (written, found) => {
	expect(isAsWritten(written, found)).toBe(true)
})

it.each<[unknown, unknown]>([
	[12.5, '12.51'],
	['0049', '49'],
	['1.10', '1.11'],
	['9007199254740993', '9007199254740992'],
	['1e2', '100'],
	['12', ''],
	[0, ''],
	[0, null],
	[null, 0],
	[12, '12 pieces'],
	['Acme', 'acme'],
	[false, null],
	[['a'], ['a', 'b']],
	[['a', 'b'], ['a']],
	[['a'], 'a'],
	[[], 'a'],
	[{ city: null }, 'Bern'],
	[{ city: 'Bern' }, null],
	[{ city: 'Bern' }, { city: 'Basel' }],
	['[object Object]', {}],
	['', {}],
])('%j is not answered as %j', (written, found) => {
	expect(isAsWritten(written, found)).toBe(false)
})
