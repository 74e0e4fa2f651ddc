// Reads a schema into a form in which equivalent spellings are equal: `$ref` beside other keywords, `allOf`, `const`,
// `type: [x, null]` and `anyOf: [x, null]`.
import type { Direction } from './change.ts'
import { isProse } from './change.ts'
import {
	child,
	entries,
	followSchema,
	get,
	isObject,
	type Json,
	lookup,
	type Obj,
	type Place,
	same,
	strings,
	text,
} from './document.ts'
import { tighter } from './effects.ts'

export interface View {
	readonly pointer: string
	/** Without null. Undefined: any type; empty: only null. */
	readonly types: string[] | undefined
	/** Undefined: any type, which includes null. */
	readonly nullable: boolean | undefined
	/** Of `enum` or `const`, without null. */
	readonly values: Json[] | undefined
	/** Every keyword except those in STRUCTURE, with the place it was read from. */
	readonly keywords: Map<string, Place>
	readonly properties: Map<string, Place>
	readonly required: Set<string>
	/** Whether undeclared properties are allowed, or the schema of their values. */
	readonly extra: 'open' | 'sealed' | Place
	readonly unions: Union[]
}

export interface Union {
	readonly pointer: string
	readonly members: Place[]
}

const STRUCTURE = ['$ref', 'allOf', 'anyOf', 'oneOf', 'properties', 'required', 'additionalProperties', 'unevaluatedProperties']

/** The schemas that a value must all match: the target of `$ref`, the members of `allOf`, and last the schema itself. */
function parts(doc: Obj, place: Place, passed: Set<string>): Place[] {
	const at = followSchema(doc, place)
	if (passed.has(at.pointer)) return []
	passed.add(at.pointer)
	const ref = text(get(at.node, '$ref'))
	const others = [...(ref === undefined ? [] : [lookup(doc, ref)]), ...entries(child(at, 'allOf')).map(([, member]) => member)]
	return [...others.flatMap((other) => parts(doc, other, passed)), at]
}

export function read(doc: Obj, place: Place, direction: Direction): View {
	const at = followSchema(doc, place)
	const all = parts(doc, at, new Set())
	const keywords = new Map<string, Place>()
	const properties = new Map<string, Place>()
	for (const part of all) {
		for (const [key, keyword] of keywordsOf(part)) keywords.set(key, merged(key, keywords.get(key), keyword))
		for (const [name, property] of entries(child(part, 'properties'))) {
			if (!hides(doc, property, direction)) properties.set(name, both(properties.get(name), property))
		}
	}
	return {
		pointer: at.pointer,
		...valuesOf(keywords),
		keywords,
		properties,
		required: new Set(all.flatMap((part) => strings(get(part.node, 'required')))),
		extra: extraOf(all),
		unions: all.flatMap(unionsOf),
	}
}

function keywordsOf(part: Place): [string, Place][] {
	if (part.node === false) return [['not', { node: {}, pointer: part.pointer }]]
	return entries(part)
		.filter(([key]) => !STRUCTURE.includes(key))
		.map(([key, place]) => (key === 'const' ? ['enum', { ...place, node: [place.node ?? null] }] : [key, place]))
}

function merged(key: string, earlier: Place | undefined, later: Place): Place {
	if (earlier === undefined || isProse(key) || key.startsWith('x-') || key === 'default') return later
	if (key === 'type' || key === 'enum') return { ...later, node: shared(list(earlier.node), list(later.node)) }
	return { ...later, node: tighter(key, earlier.node, later.node) }
}

/** The values that both lists allow; an integer is a number. */
function shared(one: Json[], other: Json[]): Json[] {
	const within = (value: Json, all: Json[]) =>
		all.some((each) => same(value, each)) || (value === 'integer' && all.includes('number'))
	const kept = [...one.filter((value) => within(value, other)), ...other.filter((value) => within(value, one))]
	return kept.filter((value, index) => kept.findIndex((each) => same(each, value)) === index)
}

function both(earlier: Place | undefined, later: Place): Place {
	if (earlier === undefined || same(earlier.node, later.node)) return later
	return { pointer: later.pointer, node: { allOf: [earlier.node ?? true, later.node ?? true] } }
}

/** A request has no `readOnly` properties, a response no `writeOnly` ones. */
function hides(doc: Obj, property: Place, direction: Direction): boolean {
	const mark = direction === 'request' ? 'readOnly' : 'writeOnly'
	return parts(doc, property, new Set()).some((part) => get(part.node, mark) === true)
}

function list(node: Json | undefined): Json[] {
	return Array.isArray(node) ? node : node === undefined ? [] : [node]
}

function typeOf(value: Json): string {
	if (value === null) return 'null'
	if (Array.isArray(value)) return 'array'
	return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value
}

function valuesOf(keywords: Map<string, Place>): Pick<View, 'types' | 'nullable' | 'values'> {
	const type = keywords.get('type')?.node
	const listed = keywords.get('enum')?.node
	const values = Array.isArray(listed) ? listed : undefined
	const types = type !== undefined ? strings(list(type)) : values === undefined ? undefined : [...new Set(values.map(typeOf))]
	if (types === undefined) return { types, nullable: undefined, values: undefined }
	return {
		types: types.filter((name) => name !== 'null'),
		nullable: types.includes('null') && (values === undefined || values.includes(null)),
		values: values?.filter((value) => value !== null),
	}
}

const isNever = (node: Json | undefined) => node === false || (isObject(node) && same(node, { not: {} }))
const isAnything = (node: Json | undefined) => node === undefined || node === true || same(node, {})

function extraOf(all: Place[]): View['extra'] {
	const places = all.flatMap((part) => [child(part, 'additionalProperties'), child(part, 'unevaluatedProperties')])
	if (places.some((place) => isNever(place.node))) return 'sealed'
	return places.find((place) => !isAnything(place.node)) ?? 'open'
}

function unionsOf(part: Place): Union[] {
	return ['anyOf', 'oneOf']
		.map((key) => child(part, key))
		.filter((place) => Array.isArray(place.node))
		.map((place) => ({ pointer: place.pointer, members: entries(place).map(([, member]) => member) }))
}

/** Whether the schema consists of one union and nothing else. */
function isUnionOnly(view: View): boolean {
	const keywords = [...view.keywords.keys()].filter((key) => !isAnnotation(key))
	return (
		view.unions.length === 1 &&
		keywords.length === 0 &&
		view.properties.size === 0 &&
		view.required.size === 0 &&
		view.extra === 'open'
	)
}

const ASIDE = ['default', 'deprecated', 'readOnly', 'writeOnly', '$defs', '$schema', '$id', '$anchor']

/** Whether a keyword bounds no values, or is compared elsewhere. */
export function isAnnotation(keyword: string): boolean {
	return isProse(keyword) || keyword.startsWith('x-') || ASIDE.includes(keyword)
}

export interface Alternatives {
	readonly nullable: boolean | undefined
	readonly views: View[]
	/** Whether the views are members of a union, not the schema itself. */
	readonly union: boolean
}

/** The alternatives that a schema allows, with null apart: `anyOf: [x, {type: null}]` is a nullable x. */
export function alternatives(doc: Obj, view: View, direction: Direction, passed: readonly string[] = []): Alternatives {
	const union = view.unions[0]
	if (union && isUnionOnly(view) && !passed.includes(view.pointer)) {
		return membersOf(doc, union, direction, [...passed, view.pointer])
	}
	return { nullable: view.nullable, views: view.types?.length === 0 ? [] : [view], union: false }
}

export function membersOf(doc: Obj, union: Union, direction: Direction, passed: readonly string[] = []): Alternatives {
	const inner = union.members.map((member) => alternatives(doc, read(doc, member, direction), direction, passed))
	const nullable = inner.some((each) => each.nullable)
		? true
		: inner.some((each) => each.nullable === undefined)
			? undefined
			: false
	return { nullable, views: inner.flatMap((each) => each.views), union: true }
}

/** For a union of one member and null: a view with the keywords of both the member and the schema, of which the schema's win. */
export function annotated(view: View, { union, views: [only, ...others] }: Alternatives): View {
	if (!union || only === undefined || others.length > 0) return view
	return view.keywords.size === 0 ? only : { ...view, keywords: new Map([...only.keywords, ...view.keywords]) }
}
