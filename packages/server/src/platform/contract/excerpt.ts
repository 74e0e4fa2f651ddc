// Cuts a body with violations down to what its answer names, because listing violations costs time for each: half a megabyte of
// wrong types has 100,000.
import { mostErrors } from '../base/errors.ts'
import { type JsonSchema, resolved } from './document.ts'
import { isValid } from './fast-validator.ts'

/** How many more violations are looked for. */
interface Room {
	left: number
}

/**
 * The body without the content of values that are wrong as a whole, by their type or their count, and without what comes after
 * the first violations. Its violations are the first of the body's, and at least one more than an answer names when there are
 * others.
 */
export const excerpt = (schema: JsonSchema, body: unknown): unknown => cut(schema, body, { left: mostErrors + 1 })

function cut(schema: JsonSchema, value: unknown, room: Room): unknown {
	if (typeof value !== 'object' || value === null) return value
	const isArray = Array.isArray(value)
	const member = membersOf(schema).find(({ type }) => type === (isArray ? 'array' : 'object'))
	if (isArray) return member ? cutArray(member, value, room) : []
	return member ? cutObject(member, value as Record<string, unknown>, room) : {}
}

function cutArray({ items, minItems = 0, maxItems = Infinity }: JsonSchema, values: unknown[], room: Room): unknown[] {
	// What is in an array that is too long is not named (see validation-errors.ts).
	if (values.length > Number(maxItems)) return Array(Number(maxItems) + 1).fill(null)
	const kept: unknown[] = []
	for (const value of values) {
		if (isValid(items as JsonSchema, value)) kept.push(value)
		else if (room.left <= 0 && kept.length >= Number(minItems)) break
		else kept.push(cutInvalid(items as JsonSchema, value, room))
	}
	return kept
}

function cutInvalid(schema: JsonSchema, value: unknown, room: Room): unknown {
	const left = room.left - 1
	const kept = cut(schema, value, room)
	room.left = Math.min(room.left, left)
	return kept
}

function cutObject(schema: JsonSchema, value: Record<string, unknown>, room: Room): Record<string, unknown> {
	const { additionalProperties, maxProperties = Infinity } = schema
	const known = (schema.properties ?? {}) as Record<string, JsonSchema>
	const names = Object.keys(value)
	if (names.length > Number(maxProperties)) {
		return Object.fromEntries(names.slice(0, Number(maxProperties) + 1).map((name) => [name, null]))
	}
	const kept: [string, unknown][] = []
	for (const name of names) {
		const ofField = Object.hasOwn(known, name) ? known[name] : additionalProperties
		if (ofField) kept.push([name, cut(ofField as JsonSchema, value[name], room)])
		else if (room.left-- > 0) kept.push([name, null])
	}
	return Object.fromEntries(kept)
}

/** The members of an anyOf, each with the keywords beside the anyOf or the reference; else the schema itself. */
function membersOf(schema: JsonSchema): JsonSchema[] {
	const { anyOf, ...beside } = resolved(schema)
	if (!Array.isArray(anyOf)) return [beside]
	return anyOf.flatMap(membersOf).map((member) => ({ ...member, ...beside }))
}
