// Compares request bodies, responses by status, headers and content types.
import { code, compareNotes, judge, say, show, type Walk } from './change.ts'
import { child, entries, follow, get, type Obj, type Place, same } from './document.ts'
import { compareSchemas } from './schemas.ts'

/** An element, found by its name in either document or in both. */
export interface Pair {
	readonly base: Place | undefined
	readonly head: Place | undefined
}

export function pairs(base: Map<string, Place>, head: Map<string, Place>): [string, Pair][] {
	const names = new Set([...base.keys(), ...head.keys()])
	return [...names].map((name) => [name, { base: base.get(name), head: head.get(name) }])
}

/** The members of an object with their `$ref`s followed, by name without case and spaces, as headers and media types compare. */
function members(doc: Obj, place: Place): Map<string, Place> {
	return new Map(entries(place).map(([name, member]) => [name.toLowerCase().replaceAll(' ', ''), follow(doc, member)]))
}

export function compareRequestBody(walk: Walk, base: Place, head: Place): void {
	const before = follow(walk.base, base)
	const after = follow(walk.head, head)
	const needed = get(after.node, 'required') === true
	if (before.node === undefined && after.node === undefined) return
	if (after.node === undefined) say(walk, 'breaking', 'body-removed', before.pointer, 'request body removed')
	else if (before.node === undefined) {
		const message = `${needed ? 'required' : 'optional'} request body added`
		say(walk, needed && walk.direction === 'request' ? 'breaking' : 'additive', 'body-added', after.pointer, message)
	} else compareBodies(walk, before, after)
}

function compareBodies(walk: Walk, before: Place, after: Place): void {
	const needed = get(after.node, 'required') === true
	if (needed !== (get(before.node, 'required') === true)) {
		const level = judge(walk.direction, needed ? 'narrowed' : 'widened')
		say(walk, level, 'body-required', after.pointer, `request body is ${needed ? 'required' : 'optional'} now`)
	}
	compareNotes(walk, before, after)
	compareContent(walk, before, after)
}

/** Compares the content types, and the schemas of those that both documents have. */
export function compareContent(walk: Walk, base: Place, head: Place): void {
	for (const [type, { base: before, head: after }] of pairs(
		members(walk.base, child(base, 'content')),
		members(walk.head, child(head, 'content')),
	)) {
		if (before && !after) say(walk, 'breaking', 'content-type-removed', before.pointer, `content type ${code(type)} removed`)
		if (after && !before) say(walk, 'additive', 'content-type-added', after.pointer, `content type ${code(type)} added`)
		if (!before || !after) continue
		compareNotes(walk, before, after)
		if (!same(get(before.node, 'encoding'), get(after.node, 'encoding'))) {
			say(walk, 'breaking', 'encoding', `${after.pointer}/encoding`, 'encoding changed, treated as breaking')
		}
		compareSchemas(walk, child(before, 'schema'), child(after, 'schema'), '')
	}
}

const isError = (status: string) => status === 'default' || /^[45]/.test(status)

export function compareResponses(walk: Walk, base: Place, head: Place): void {
	for (const [status, { base: before, head: after }] of pairs(members(walk.base, base), members(walk.head, head))) {
		if (status.startsWith('x-')) continue
		const here = { ...walk, where: `response ${status}` }
		if (before && after) compareResponse(here, before, after)
		else compareStatus(here, isError(status), before, after)
	}
}

function compareStatus(walk: Walk, error: boolean, before: Place | undefined, after: Place | undefined): void {
	const kind = error ? 'error' : 'success'
	const level = error ? 'additive' : 'breaking'
	if (before) say(walk, level, `${kind}-status-removed`, before.pointer, `${kind} status removed`)
	if (after) say(walk, level, `${kind}-status-added`, after.pointer, `${kind} status added`)
}

function compareResponse(walk: Walk, before: Place, after: Place): void {
	compareNotes(walk, before, after)
	compareHeaders(walk, members(walk.base, child(before, 'headers')), members(walk.head, child(after, 'headers')))
	compareContent(walk, before, after)
}

/** Compares the headers that the server sends. */
export function compareHeaders(walk: Walk, base: Map<string, Place>, head: Map<string, Place>): void {
	for (const [name, { base: before, head: after }] of pairs(base, head)) {
		const here = { ...walk, where: `${walk.where} header ${code(name)}` }
		if (before && !after) say(here, 'breaking', 'header-removed', before.pointer, 'header removed')
		if (after && !before) say(here, 'additive', 'header-added', after.pointer, 'header added')
		if (!before || !after) continue
		const [was, is] = [get(before.node, 'required') === true, get(after.node, 'required') === true]
		if (was !== is) {
			const level = judge(walk.direction, is ? 'narrowed' : 'widened')
			say(here, level, 'header-required', after.pointer, is ? 'always sent now' : 'not always sent any more')
		}
		compareNotes(here, before, after)
		compareSerialization(here, before, after, 'header')
		compareSchemas(here, child(before, 'schema'), child(after, 'schema'), '')
	}
}

/** Compares how a parameter or header is serialized, with the defaults of OpenAPI 3.1 (§4.8.12) written out. */
export function compareSerialization(walk: Walk, before: Place, after: Place, location: string): void {
	const serialization = (place: Place): Obj => {
		const style = get(place.node, 'style') ?? (location === 'query' || location === 'cookie' ? 'form' : 'simple')
		return { style, explode: get(place.node, 'explode') ?? style === 'form' }
	}
	const [old, now] = [serialization(before), serialization(after)]
	const changed = Object.keys(now).filter((key) => !same(old[key], now[key]))
	if (changed.length === 0) return
	const message = changed.map((key) => `${key} ${show(old[key])} → ${show(now[key])}`).join(', ')
	say(walk, 'breaking', 'serialization', after.pointer, `written differently: ${message}`)
}
