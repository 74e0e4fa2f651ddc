// What a record says of itself with `x-record` in its own .tsp, and what follows: its error code, its scopes and its kind join the
// lists of the contract, its prefix the server's table. So a new resource edits no central list.
import type { JsonObject, OpenApiDocument } from './openapi.ts'

/** The extension `x-record`, with the name of its schema. */
export interface RecordKind {
	readonly schema: string
	/** Its ids begin with the prefix and `_`. */
	readonly prefix: string
	/** The scopes are this name with `:read` and `:write`; absent in the integration API, whose three scopes cover all of it. */
	readonly scope?: string
	/** An organization always has exactly one, which callers read without an id. */
	readonly single?: true
}

/** Removes `x-record` from the document, and adds to ErrorCode, KeyScope and ResourceKind the members that are not hand-written. */
export function takeRecords(document: OpenApiDocument): RecordKind[] {
	const { schemas } = document.components
	const kinds = Object.entries(schemas).flatMap(([schema, definition]) => {
		const { 'x-record': record, ...rest } = definition
		if (!record) return []
		schemas[schema] = rest
		if (typeof (record as JsonObject).prefix !== 'string') throw new Error(`x-record of ${schema} has no prefix`)
		return [{ schema, ...(record as JsonObject) } as unknown as RecordKind]
	})
	rejectSharedPrefixes(kinds)
	addMembers(
		schemas.ErrorCode,
		kinds.filter(({ single }) => !single).map(({ schema }) => [`${snake(schema)}_not_found`, `404: no such ${words(schema)}.`]),
	)
	sortByStatus(schemas.ErrorCode)
	addMembers(schemas.KeyScope, scopeMembers(kinds))
	addMembers(
		schemas.ResourceKind,
		kinds.map(({ schema, single }) => [snake(schema), single ? `The ${words(schema)}.` : `${sentence(plural(schema))}.`]),
	)
	return kinds
}

function rejectSharedPrefixes(kinds: readonly RecordKind[]): void {
	for (const { schema, prefix } of kinds) {
		const other = kinds.find((kind) => kind.prefix === prefix)
		if (other?.schema !== schema) throw new Error(`${schema} and ${other?.schema} have the same prefix in x-record: ${prefix}`)
	}
}

/** One pair for each scope; its sentence names every record that shares the scope. */
function scopeMembers(kinds: readonly RecordKind[]): [member: string, sentence: string][] {
	return [...new Set(kinds.flatMap(({ scope }) => scope ?? []))].flatMap((scope) => {
		const names = kinds
			.filter((kind) => kind.scope === scope)
			.map(({ schema, single }) => (single ? `the ${words(schema)}` : plural(schema)))
		return [
			[`${scope}:read`, `Read ${names.join(' and ')}.`],
			[`${scope}:write`, `Write ${names.join(' and ')}.`],
		] as [string, string][]
	})
}

interface DescribedEnum {
	enum: string[]
	'x-enumDescriptions': Record<string, string>
}

function addMembers(schema: JsonObject | undefined, members: readonly [member: string, sentence: string][]): void {
	const list = schema as unknown as DescribedEnum
	for (const [member, sentence] of members) {
		if (list.enum.includes(member)) continue
		list.enum.push(member)
		list['x-enumDescriptions'][member] = sentence
	}
}

/** By the status with which each sentence begins. */
function sortByStatus(schema: JsonObject | undefined): void {
	const list = schema as unknown as DescribedEnum
	list.enum = list.enum.toSorted((a, b) => statusOf(list, a) - statusOf(list, b))
	list['x-enumDescriptions'] = Object.fromEntries(list.enum.map((code) => [code, list['x-enumDescriptions'][code] ?? '']))
}

const statusOf = (list: DescribedEnum, code: string) => Number.parseInt(list['x-enumDescriptions'][code] ?? '', 10)

/** `TimeEntry` → `time_entry`. */
export const snake = (name: string) => name.replace(/(?!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase()
const sentence = (text: string) => text.replace(/^./, (first) => first.toUpperCase())
const words = (name: string) => snake(name).replaceAll('_', ' ')
const plural = (name: string) => `${words(name)}s`.replace(/([^aeiou])ys$/, '$1ies')
