// Reads an OpenAPI document: JSON values with their pointers, `$ref`s, and a text form that ignores the order of keys.

export type Json = null | boolean | number | string | Json[] | Obj
export type Obj = { [key: string]: Json }

/** A value and its pointer; `node` is undefined when the document has no value there. */
export interface Place {
	readonly node: Json | undefined
	readonly pointer: string
}

/** An error in a document or in the arguments. The command prints its first line, without a stack. */
export class ContractError extends Error {}

export function isObject(value: Json | undefined): value is Obj {
	return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Own keys only: a schema may have a property called `constructor`. */
export function get(node: Json | undefined, key: string): Json | undefined {
	if (Array.isArray(node)) return /^\d+$/.test(key) ? node[Number(key)] : undefined
	return isObject(node) && Object.hasOwn(node, key) ? node[key] : undefined
}

export function child(place: Place, ...keys: string[]): Place {
	let { node, pointer } = place
	for (const key of keys) {
		node = get(node, key)
		pointer += `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
	}
	return { node, pointer }
}

export function entries(place: Place): [string, Place][] {
	const { node } = place
	const keys = Array.isArray(node) ? node.map((_, index) => String(index)) : isObject(node) ? Object.keys(node) : []
	return keys.map((key) => [key, child(place, key)])
}

export function text(node: Json | undefined): string | undefined {
	return typeof node === 'string' ? node : undefined
}

export function strings(node: Json | undefined): string[] {
	return Array.isArray(node) ? node.filter((value) => typeof value === 'string') : []
}

function decode(part: string, ref: string): string {
	try {
		return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
	} catch {
		throw new ContractError(`$ref ${ref} is not a valid reference`)
	}
}

export function lookup(doc: Obj, ref: string): Place {
	if (ref !== '#' && !ref.startsWith('#/')) {
		throw new ContractError(`$ref ${ref} leaves the document: only #/… is understood`)
	}
	const keys = ref
		.split('/')
		.slice(1)
		.map((part) => decode(part, ref))
	const place = child({ node: doc, pointer: '#' }, ...keys)
	if (place.node === undefined) throw new ContractError(`$ref ${ref} points at nothing`)
	return place
}

function chase(doc: Obj, place: Place, goesOn: (node: Obj) => boolean): Place {
	const passed = new Set<string>()
	let at = place
	for (;;) {
		const ref = text(get(at.node, '$ref'))
		if (ref === undefined || !isObject(at.node) || !goesOn(at.node)) return at
		if (passed.has(ref)) throw new ContractError(`$ref ${ref} refers to itself`)
		passed.add(ref)
		at = lookup(doc, ref)
	}
}

/** For a parameter, response, header, body or path item: OpenAPI 3.1 ignores keywords beside their `$ref`. */
export function follow(doc: Obj, place: Place): Place {
	return chase(doc, place, () => true)
}

/** For a schema: keywords beside its `$ref` count (JSON Schema 2020-12), so this follows only a `$ref` that stands alone. */
export function followSchema(doc: Obj, place: Place): Place {
	return chase(doc, place, (node) => Object.keys(node).length === 1)
}

/** The value as text with sorted keys: equal values have equal texts. */
export function stable(value: Json | undefined): string {
	if (Array.isArray(value)) return `[${value.map(stable).join(',')}]`
	if (!isObject(value)) return value === undefined ? 'absent' : JSON.stringify(value)
	const keys = Object.keys(value).sort()
	return `{${keys.map((key) => `${JSON.stringify(key)}:${stable(value[key])}`).join(',')}}`
}

export function same(left: Json | undefined, right: Json | undefined): boolean {
	return stable(left) === stable(right)
}

/** The value with its `$ref`s written out and without prose; a cycle keeps its `$ref`. */
export function expanded(doc: Obj, value: Json | undefined, open: readonly string[] = []): Json {
	if (Array.isArray(value)) return value.map((item) => expanded(doc, item, open))
	if (!isObject(value)) return value ?? null
	const ref = text(get(value, '$ref'))
	if (ref !== undefined && !open.includes(ref)) {
		const target = expanded(doc, lookup(doc, ref).node, [...open, ref])
		if (Object.keys(value).length === 1) return target
		return { allOf: [target, withoutProse(doc, { ...value, $ref: '' }, open)] }
	}
	return withoutProse(doc, value, open)
}

function withoutProse(doc: Obj, value: Obj, open: readonly string[]): Obj {
	const kept = Object.entries(value).filter(
		// A property called `description` is a schema, not a string, and stays.
		([key, inner]) => !((key === 'description' || key === 'title') && typeof inner === 'string') && !key.startsWith('x-'),
	)
	return Object.fromEntries(kept.map(([key, inner]) => [key, expanded(doc, inner, open)]))
}
