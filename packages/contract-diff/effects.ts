// Keywords that bound a value: which of two is the tighter, and what a change of one does to the values allowed.
import type { Effect } from './change.ts'
import { type Json, same } from './document.ts'

/** A lower bound and what its absence means. */
const LOWER: ReadonlyMap<string, number> = new Map([
	['minimum', -Infinity],
	['exclusiveMinimum', -Infinity],
	['minLength', 0],
	['minItems', 0],
	['minProperties', 0],
])
const UPPER: readonly string[] = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties']
/** Pairs of formats of which the first allows a part of what the second does. */
const WIDER_FORMATS: readonly string[] = ['int32 int64', 'float double', 'uri uri-reference', 'email idn-email', 'uri iri']

export function familyOf(keyword: string): string {
	if (keyword === 'format' || keyword === 'pattern') return keyword
	return LOWER.has(keyword) || UPPER.includes(keyword) || keyword === 'multipleOf' || keyword === 'uniqueItems'
		? 'bound'
		: 'keyword'
}

/** The value that holds when both must; a schema that says both where no value does. */
export function tighter(keyword: string, left: Json | undefined, right: Json | undefined): Json {
	if (typeof left === 'number' && typeof right === 'number') {
		if (LOWER.has(keyword)) return Math.max(left, right)
		if (UPPER.includes(keyword)) return Math.min(left, right)
	}
	if (left === undefined || same(left, right)) return right ?? null
	return { allOf: [left, right ?? null] }
}

function order(base: number, head: number, up: Effect, down: Effect): Effect | undefined {
	if (base === head) return undefined
	return head > base ? up : down
}

/** `undefined` for a change that allows exactly the same values. */
export function effectOf(keyword: string, base: Json | undefined, head: Json | undefined): Effect | undefined {
	const lowest = LOWER.get(keyword)
	if (lowest !== undefined) return order(number(base, lowest), number(head, lowest), 'narrowed', 'widened')
	if (UPPER.includes(keyword)) return order(number(base, Infinity), number(head, Infinity), 'widened', 'narrowed')
	if (keyword === 'uniqueItems') return order(Number(base === true), Number(head === true), 'narrowed', 'widened')
	if (same(base, head)) return undefined
	if (familyOf(keyword) === 'keyword') return 'changed'
	if (base === undefined) return 'narrowed'
	if (head === undefined) return 'widened'
	if (keyword === 'multipleOf') return multiples(number(base, 1), number(head, 1))
	if (WIDER_FORMATS.includes(`${String(base)} ${String(head)}`)) return 'widened'
	return WIDER_FORMATS.includes(`${String(head)} ${String(base)}`) ? 'narrowed' : 'changed'
}

function number(value: Json | undefined, otherwise: number): number {
	return typeof value === 'number' ? value : otherwise
}

/** Remainders of decimals are not exact: 0.3 over 0.1 comes out as changed, the safe side. */
function multiples(base: number, head: number): Effect {
	if (head % base === 0) return 'narrowed'
	return base % head === 0 ? 'widened' : 'changed'
}
