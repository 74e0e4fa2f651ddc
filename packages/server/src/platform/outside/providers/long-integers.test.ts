import { expect, it } from 'vitest'
import { keepLongIntegers } from './long-integers.ts'

it.each([
	['[9007199254740993]', ['9007199254740993']],
	['{"id":-9007199254740993,"n":1}', { id: '-9007199254740993', n: 1 }],
	['[ 12345678901234567890123 ,2]', ['12345678901234567890123', 2]],
	// A double has these, or they are no integers.
	['[9007199254740991,1234567890123456,0.12345678901234567,1234567890123456.5,1.5e300]', undefined],
	['{"9007199254740993":true,"text":"a, 9007199254740993 \\" 9007199254740993 ,"}', undefined],
	['[9007199254740993,"\\\\",9007199254740995]', ['9007199254740993', '\\', '9007199254740995']],
	['9007199254740993', '9007199254740993'],
])('%s keeps its digits', (json, kept) => {
	expect(JSON.parse(keepLongIntegers(json))).toEqual(kept ?? JSON.parse(json))
})

it.each(['[01234567890123456789]', '[9007199254740993', '"9007199254740993', '[--9007199254740993]', '[9007199254740993-1]', ''])(
	'%s stays no JSON',
	(text) => {
		expect(() => JSON.parse(keepLongIntegers(text))).toThrow(SyntaxError)
	},
)
