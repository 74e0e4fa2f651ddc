// Finds JSON text that would cost much to parse, without parsing it: half a megabyte of brackets takes 45 ms, and as much of names
// that all differ takes 80. This takes one.
import { randomInt } from 'node:crypto'

/** Deeper than any body of the contract. */
const deepest = 32

/** 1000 lines, each with the most metadata, have 20,000. */
const mostNames = 25_000

/** Smaller texts are cheap whatever is in them. */
const smallest = 16 * 1024

const [quote, colon, backslash] = [0x22, 0x3a, 0x5c]
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d]

/** Drawn for each process, so that nobody can make up names that count as one. */
const multiplier = randomInt(2 ** 30) * 2 + 1

/** What the text has too much of; undefined when it can be parsed. */
export function findExcess(json: Uint8Array): string | undefined {
	if (json.length < smallest) return undefined
	const names = new Set<number>()
	let depth = 0
	let hash = 0
	for (let at = 0; at < json.length; at++) {
		const byte = json[at]
		if (byte === quote) {
			hash = 0
			for (at++; at < json.length && json[at] !== quote; at++) {
				if (json[at] === backslash) at++
				hash = Math.imul(hash ^ (json[at] as number), multiplier)
			}
		} else if (byte === openArray || byte === openObject) {
			if (++depth > deepest) return `is nested deeper than ${deepest} levels`
		} else if (byte === closeArray || byte === closeObject) depth--
		else if (byte === colon && names.add(hash).size > mostNames) return `has more than ${mostNames} different field names`
	}
	return undefined
}
