import { expect, it } from 'vitest'
import { shapeReader } from './json-shape.ts'

const most = { depth: 3, names: 2, parts: 4 }
const read = (pieces: readonly string[]) => {
	const reader = shapeReader(most)
	return pieces.map((piece) => reader(Buffer.from(piece))).find((excess) => excess !== undefined)
}

it.each([
	['[[[[', 'is nested deeper than 3 levels'],
	['{"a":{"b":{"a":[]}}}', 'is nested deeper than 3 levels'],
	['[{},{},[],{}]', 'has more than 4 objects and lists'],
	['{"a":1,"b":2,"c":3}', 'has more than 2 different field names'],
	['{"a":1,"a\\"":2,"a\\\\":3}', 'has more than 2 different field names'],
	['[{"a":1},{"a":"[[[[{\\"{\\\\"},{"b":"\\\\"}]', undefined],
	['["\\"[[[[","\\\\","[[[[{{:"]', undefined],
])('of %s is the same, whole and in pieces', (text, excess) => {
	expect(read([text])).toBe(excess)
	expect(read([...text])).toBe(excess)
})
