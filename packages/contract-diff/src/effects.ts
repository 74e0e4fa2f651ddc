// Keywords that bound a value: the tighter of two bounds, and the effect of a change on the allowed values.
import type { Effect } from './change.ts'
import { type Json, same } from './document.ts'

/** The lower bounds, and the value that a missing one stands for. */
const LOWER: ReadonlyMap<string, number> = new Map([
	['minimum', -Infinity],
	['exclusiveMinimum', -Infinity],
	['minLength', 0],
	['minItems', 0],
	['minProperties', 0],
])
const UPPER: readonly string[] = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties']
/** Pairs of formats, of which the first allows a subset of the second. */
const WIDER_FORMATS: readonly string[] = ['int32 int64', 'float double', 'uri uri-reference', 'email idn-email', 'uri iri']

export function familyOf(keyword: string): string {
	if (keyword === 'format' || keyword === 'pattern') return keyword
	return LOWER.has(keyword) || UPPER.includes(keyword) || keyword === 'multipleOf' || keyword === 'uniqueItems'
		? 'bound'
		: 'keyword'
}

/** The tighter of two values of a keyword; for a keyword without an order, both values in an `allOf`. */
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

/** Undefined when the same values are allowed as before. */
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

/** Remainders of decimals are inexact: 0.3 and 0.1 count as `changed`, which is the safe verdict. */
function multiples(base: number, head: number): Effect {
	if (head % base === 0) return 'narrowed'
	return base % head === 0 ? 'widened' : 'changed'
}
