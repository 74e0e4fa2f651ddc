// Finds JSON text that would cost much to parse, without parsing it: half a megabyte of brackets takes 45 ms, and as much of names
// that all differ takes 80. This takes one.
import { randomInt } from 'node:crypto'

export interface ShapeLimits {
	readonly depth: number
	/** Different field names. */
	readonly names: number
	/** Objects and lists. */
	readonly parts: number
}

const [quote, colon, backslash] = [0x22, 0x3a, 0x5c]
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d]

/** Drawn for each process, so that nobody can make up names that count as one. */
const multiplier = randomInt(2 ** 30) * 2 + 1

/** Takes text in pieces, and returns what it has too much of; undefined while it can be parsed. */
export function shapeReader(most: ShapeLimits): (json: Uint8Array) => string | undefined {
	const names = new Set<number>()
	let [hash, depth, parts] = [0, 0, 0]
	let [isText, isEscaped] = [false, false]
	return (json) => {
		for (let at = 0; at < json.length; at++) {
			if (isText) {
				for (; at < json.length && (isEscaped || json[at] !== quote); at++) {
					isEscaped = !isEscaped && json[at] === backslash
					hash = Math.imul(hash ^ (json[at] as number), multiplier)
				}
				isText = at === json.length
				continue
			}
			const byte = json[at]
			if (byte === quote) [isText, hash] = [true, 0]
			else if (byte === openArray || byte === openObject) {
				if (++depth > most.depth) return `is nested deeper than ${most.depth} levels`
				if (++parts > most.parts) return `has more than ${most.parts} objects and lists`
			} else if (byte === closeArray || byte === closeObject) depth--
			else if (byte === colon && names.add(hash).size > most.names) return `has more than ${most.names} different field names`
		}
		return undefined
	}
}
