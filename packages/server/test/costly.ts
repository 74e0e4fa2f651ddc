// Makes requests that cost a server much, from the contract's schemas and bounds: bodies of 512 KiB with mistakes of many shapes.
import type { ContractParameter, JsonSchema } from '../src/platform/contract/document.ts'
import { members } from './arbitrary.ts'

/** The largest body that a server reads. */
export const mostBytes = 512 * 1024

const made = new Map<string, [name: string, body: string][]>()

/** Bodies with as many mistakes as fit into them, each with a name. */
export function badBodies(schema: JsonSchema): readonly [name: string, body: string][] {
	const text = JSON.stringify(schema)
	const bodies = made.get(text) ?? [...newBadBodies(schema)]
	made.set(text, bodies)
	return bodies
}

function* newBadBodies(schema: JsonSchema): Generator<[name: string, body: string]> {
	const everywhere = (leaf: (size: number) => string) => fit((size) => filled(schema, size, leaf))
	yield ['wrong types', everywhere(() => 'true')]
	yield ['wrong text', everywhere(() => '""')]
	yield ['long text', everywhere((size) => `"${'7'.repeat(size - 2)}"`)]
	yield ['long numbers', everywhere((size) => '1'.repeat(size))]
	yield ['too many items', everywhere((size) => listOf(() => '0', size))]
	yield ['too many objects that differ', everywhere((size) => listOf((at) => `{"${at}":0}`, size))]
	yield ['deep nesting', everywhere((size) => nested('{"a":[', ']}', size))]
	yield ['brackets', nested('[', ']', mostBytes)]
	yield ['unknown fields', objectOf((at) => `"${at}"`, 19_000)]
	yield ['as many unknown fields as fit', objectOf((at) => `"${at.toString(36)}"`)]
	yield ['unknown fields everywhere', fit((size) => filled(schema, size, () => '0').replaceAll(/\{(?=")/g, '{"x":0,"y":0,'))]
	yield ['one field again and again', objectOf(() => '"name"')]
	yield ['a long name', `{"${'/~'.repeat(mostBytes / 2 - 3)}":1}`]
	yield ['cut off', everywhere((size) => `"${'7'.repeat(size - 2)}"`).slice(0, -1)]
}

/** What `make` makes for the largest size at which it fits. */
function fit(make: (size: number) => string): string {
	for (let size = mostBytes; ; size *= 0.9) {
		const body = make(size)
		if (body.length <= mostBytes) return body
	}
}

const repeatToFit = (piece: (at: number) => string, size: number): string[] => {
	const pieces: string[] = []
	for (let length = 2; ; ) {
		const next = piece(pieces.length)
		length += next.length + 1
		if (length > size) return pieces
		pieces.push(next)
	}
}

const listOf = (item: (at: number) => string, size: number) => `[${repeatToFit(item, size).join(',')}]`

const objectOf = (name: (at: number) => string, most = Number.POSITIVE_INFINITY) =>
	`{${repeatToFit((at) => `${name(at)}:0`, mostBytes)
		.slice(0, most)
		.join(',')}}`

const nested = (open: string, close: string, size: number) => {
	const depth = Math.floor((size - 1) / (open.length + close.length))
	return `${open.repeat(depth)}1${close.repeat(depth)}`
}

/**
 * A value as the schema wants it down to its leaves, which are `leaf`. Arrays get as many items as the size and the schema let
 * them; `leaf` is told how much of the size is its share.
 */
function filled(schema: JsonSchema, size: number, leaf: (size: number) => string): string {
	const member = members(schema).find(({ type }) => type === 'object' || type === 'array')
	// The names of fields alone may take more than an object's share.
	if (!member || size < 100) return leaf(Math.max(2, Math.floor(size)))
	if (member.type === 'array') {
		const smallest = filled(member.items as JsonSchema, 1_000, () => '0').length + 1
		const count = Math.max(1, Math.min(Number(member.maxItems ?? 1_000), Math.floor(size / smallest)))
		return `[${Array(count)
			.fill(filled(member.items as JsonSchema, size / count - 2, leaf))
			.join(',')}]`
	}
	const fields = Object.entries((member.properties ?? {}) as Record<string, JsonSchema>)
	return `{${sharedOut(fields, size, leaf).join(',')}}`
}

/** The fields of an object. One that holds a list of objects gets nearly all of the size, else all get the same. */
function sharedOut(fields: [string, JsonSchema][], size: number, leaf: (size: number) => string): string[] {
	const isList = ([, schema]: [string, JsonSchema]) => members(schema).some(({ type }) => type === 'array')
	const names = fields.reduce((sum, [name]) => sum + name.length + 4, 2)
	const lists = fields.filter(isList).length
	const small = lists > 0 ? 6 : (size - names) / fields.length
	const large = lists > 0 ? (size - names - small * (fields.length - lists)) / lists : small
	return fields.map((field) => `"${field[0]}":${filled(field[1], isList(field) ? large : small, leaf)}`)
}

/** A record's id, a query and headers, of about 15 KB together, that no operation takes. */
export function badParameters(
	parameters: readonly ContractParameter[],
): [shape: string, id: string, query: string, headers: Record<string, string>][] {
	const name = parameters.find((parameter) => parameter.in === 'query')?.name ?? 'limit'
	const queryOf = (piece: (at: number) => string) => `?${repeatToFit(piece, 15_000).join('&')}`
	return [
		['unknown parameters', 'x', queryOf((at) => `${at}=1`), {}],
		['one parameter again and again', 'x', queryOf(() => `${name}=1`), {}],
		['brackets', 'x', queryOf((at) => `${name}[${at}]=1`), {}],
		['deep brackets', 'x', `?a${'[b]'.repeat(5_000)}=1`, {}],
		['a long value', 'x', `?${name}=${'7'.repeat(15_000)}`, {}],
		['an escaped value', 'x', `?${name}=${'%00'.repeat(5_000)}`, {}],
		['a long name', 'x', `?${'/'.repeat(15_000)}=1`, {}],
		['a long id', '7'.repeat(15_000), '?unknown=1', {}],
		['long headers', 'x', '?unknown=1', { 'idempotency-key': '7'.repeat(7_000), 'if-match': '"'.repeat(7_000) }],
	]
}
