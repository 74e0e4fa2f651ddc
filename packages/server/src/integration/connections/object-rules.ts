// What the objects of an API that a connection describes may be, beyond what the contract says.

import type { ConnectionConfig, ConnectionObject } from '../../generated/contract.ts'
import { fieldError } from '../../platform/base/errors.ts'

/** What is wrong with a path that leads out. */
export const outside = 'The path leads out of the base URL: it has . or .. between slashes.'

const refused = ['__proto__', 'constructor', 'prototype']

/**
 * Whether a path stays below the base URL that it is added to. A URL knows `%2e` and `\\` as a dot and a slash, and some servers read `%2f` and `%5c` as
 * slashes.
 */
export function staysBelow(path: string): boolean {
	const [plain = ''] = path.replaceAll(/%2e/gi, '.').split(/[?#]/)
	return !plain.split(/[/\\]|%2f|%5c/i).some((part) => part === '.' || part === '..')
}

/** Throws for the first of the objects that cannot be read or written as it says. */
export function requireObjects({ objects = [] }: ConnectionConfig): void {
	const names = objects.map(({ name }) => name)
	for (const [at, object] of objects.entries()) {
		const [field, detail] = mistakeIn(object) ?? (names.indexOf(object.name) < at ? ['name', 'Two objects have this name.'] : [])
		if (field) throw fieldError('invalid_connection', `/config/objects/${at}/${field}`, detail ?? '')
	}
}

function mistakeIn(object: ConnectionObject): [field: string, detail: string] | undefined {
	const { pagination, sinceParameter, changedField } = object
	for (const [field, path] of fieldPathsOf(object))
		if (path?.split('.').some((name) => refused.includes(name))) return [field, 'A field cannot have this name.']
	for (const [field, path] of pathsOf(object)) {
		if (path?.includes('#')) return [field, 'A path has no #.']
		if (path !== undefined && !staysBelow(path)) return [field, outside]
	}
	if (['cursor', 'page', 'offset'].includes(pagination.style) && pagination.parameter === undefined)
		return ['pagination/parameter', `${pagination.style} needs parameter.`]
	if (pagination.style === 'cursor' && pagination.next === undefined) return ['pagination/next', 'cursor needs next.']
	if (sinceParameter !== undefined && changedField === undefined) return ['changedField', 'sinceParameter needs changedField.']
	return undefined
}

const fieldPathsOf = (object: ConnectionObject): [string, string | undefined][] => [
	...(['records', 'idField', 'changedField', 'deletedField', 'wrap'] as const).map((name): [string, string | undefined] => [
		name,
		object[name],
	]),
	['pagination/next', object.pagination.next],
	...(object.fields ?? []).map(({ path }, at): [string, string] => [`fields/${at}/path`, path]),
	...(object.lookUpFields ?? []).map((path, at): [string, string] => [`lookUpFields/${at}`, path]),
]

const pathsOf = (object: ConnectionObject): [string, string | undefined][] => [
	['path', object.path],
	['readPath', object.readPath],
	...(['create', 'update', 'remove'] as const).map((name): [string, string | undefined] => [`${name}/path`, object[name]?.path]),
]
