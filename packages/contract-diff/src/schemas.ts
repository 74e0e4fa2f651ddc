// Compares two schemas of the same place: which values the newer one no longer allows, and which it also allows.
import { code, compareNotes, type Effect, judge, say, show, type Walk } from './change.ts'
import { expanded, followSchema, type Json, type Place, same } from './document.ts'
import { effectOf, familyOf } from './effects.ts'
import { compareUnions } from './unions.ts'
import { type Alternatives, alternatives, annotated, isAnnotation, membersOf, read, type View } from './view.ts'

/** `path` is the way from the body to the schema, such as `data.lines[].quantity`. */
export function compareSchemas(walk: Walk, base: Place, head: Place, path: string): void {
	const from = followSchema(walk.base, base)
	const to = followSchema(walk.head, head)
	if (alreadySeen(walk, 'schema', from.pointer, to.pointer)) return
	const left = read(walk.base, from, walk.direction)
	const right = read(walk.head, to, walk.direction)
	const before = alternatives(walk.base, left, walk.direction)
	const after = alternatives(walk.head, right, walk.direction)
	const [older, newer] = [annotated(left, before), annotated(right, after)]
	compareAsides(walk, older, newer, path)
	compareAlternatives(walk, before, after, { open: isOpen(older), pointer: right.pointer }, path)
}

function compareAlternatives(
	walk: Walk,
	base: Alternatives,
	head: Alternatives,
	at: { open: boolean; pointer: string },
	path: string,
): void {
	compareNull(walk, base.nullable, head.nullable, at.pointer, path)
	const [one, other] = [base.views[0], head.views[0]]
	if (one && other && base.views.length === 1 && head.views.length === 1) compareShapes(walk, one, other, path)
	else compareUnions(walk, { base: base.views, head: head.views, ...at }, compareMember, path)
}

function compareMember(walk: Walk, base: View, head: View, path: string): void {
	compareAsides(walk, base, head, path)
	compareShapes(walk, base, head, path)
}

function alreadySeen(walk: Walk, kind: string, base: string, head: string): boolean {
	const key = [kind, walk.direction, base, head].join(' ')
	if (walk.seen.has(key)) return true
	walk.seen.add(key)
	return false
}

function sayEffect(walk: Walk, family: string, effect: Effect, pointer: string, message: string, path: string): void {
	say(walk, judge(walk.direction, effect), `${family}-${effect}`, pointer, message, path)
}

function compareNull(walk: Walk, base: boolean | undefined, head: boolean | undefined, pointer: string, path: string): void {
	if (base === undefined || head === undefined || base === head) return
	sayEffect(walk, 'null', head ? 'widened' : 'narrowed', pointer, head ? 'may be null now' : 'may no longer be null', path)
}

/** Compares keywords that do not bound values: prose, deprecation, defaults and `x-open-enum`. */
function compareAsides(walk: Walk, base: View, head: View, path: string): void {
	const flat = (view: View) => Object.fromEntries([...view.keywords].map(([key, place]) => [key, place.node ?? null]))
	compareNotes(walk, { node: flat(base), pointer: base.pointer }, { node: flat(head), pointer: head.pointer }, path)
	const before = base.keywords.get('default')?.node
	const after = head.keywords.get('default')?.node
	if (!same(before, after)) {
		const level = walk.direction === 'request' ? 'breaking' : 'docs'
		say(walk, level, 'default', head.pointer, `default ${show(before)} → ${show(after)}`, path)
	}
	if (isOpen(base) !== isOpen(head) && walk.direction === 'response') {
		const message = isOpen(head) ? 'readers must expect unknown values now' : 'no unknown values will come any more'
		sayEffect(walk, 'open-enum', isOpen(head) ? 'widened' : 'narrowed', head.pointer, `${message} (\`x-open-enum\`)`, path)
	}
}

function isOpen(view: View): boolean {
	return view.keywords.get('x-open-enum')?.node === true
}

function compareShapes(walk: Walk, base: View, head: View, path: string): void {
	if (alreadySeen(walk, 'shape', base.pointer, head.pointer)) return
	if (!compareTypes(walk, base, head, path)) return
	compareValues(walk, base, head, path)
	compareKeywords(walk, base, head, path)
	compareItems(walk, base, head, path)
	compareProperties(walk, base, head, path)
	compareExtra(walk, base, head, path)
	compareSideUnions(walk, base, head, path)
}

function isWithin(some: string[] | undefined, all: string[] | undefined): boolean {
	if (all === undefined) return true
	return some?.every((type) => all.includes(type) || (type === 'integer' && all.includes('number'))) ?? false
}

/** Returns false when the types have nothing in common: further findings would only repeat that. */
function compareTypes(walk: Walk, base: View, head: View, path: string): boolean {
	if (base.values && head.values) return true
	const [narrower, wider] = [isWithin(head.types, base.types), isWithin(base.types, head.types)]
	if (narrower && wider) return true
	const effect = narrower ? 'narrowed' : wider ? 'widened' : 'changed'
	const name = (view: View) => (view.types === undefined ? 'any' : view.types.join(' or '))
	const pointer = head.keywords.get('type')?.pointer ?? head.pointer
	sayEffect(walk, 'type', effect, pointer, `type ${code(name(base))} → ${code(name(head))}`, path)
	return effect !== 'changed'
}

function compareValues(walk: Walk, base: View, head: View, path: string): void {
	const pointer = head.keywords.get('enum')?.pointer ?? head.pointer
	const names = (values: Json[]) => values.map(show).join(', ')
	if (base.values === undefined || head.values === undefined) {
		if (head.values) sayEffect(walk, 'enum', 'narrowed', pointer, `only these values now: ${names(head.values)}`, path)
		if (base.values) sayEffect(walk, 'enum', 'widened', pointer, `no longer limited to ${names(base.values)}`, path)
		return
	}
	const missing = (from: Json[], all: Json[]) => from.filter((value) => !all.some((other) => same(value, other)))
	const removed = missing(base.values, head.values)
	const added = missing(head.values, base.values)
	if (removed.length > 0) sayEffect(walk, 'enum', 'narrowed', pointer, `values removed: ${names(removed)}`, path)
	if (added.length === 0) return
	// Readers know only the older document, so that one must have said that values may be added.
	const level = isOpen(base) ? 'additive' : judge(walk.direction, 'widened')
	say(walk, level, 'enum-widened', pointer, `values added: ${names(added)}`, path)
}

function compareKeywords(walk: Walk, base: View, head: View, path: string): void {
	for (const key of new Set([...base.keywords.keys(), ...head.keywords.keys()])) {
		if (isAnnotation(key) || key === 'type' || key === 'enum' || key === 'items') continue
		const [before, after] = [base.keywords.get(key), head.keywords.get(key)]
		const known = familyOf(key) !== 'keyword'
		const effect = effectOf(
			key,
			known || !before ? before?.node : expanded(walk.base, before.node),
			known || !after ? after?.node : expanded(walk.head, after.node),
		)
		if (effect === undefined) continue
		const what = known ? `${key} ${show(before?.node)} → ${show(after?.node)}` : `${code(key)} changed, treated as breaking`
		sayEffect(walk, familyOf(key), effect, after?.pointer ?? before?.pointer ?? head.pointer, what, path)
	}
}

function compareItems(walk: Walk, base: View, head: View, path: string): void {
	const [before, after] = [base.keywords.get('items'), head.keywords.get('items')]
	if (before && after) compareSchemas(walk, before, after, `${path}[]`)
	else if (after) sayEffect(walk, 'items', 'narrowed', after.pointer, 'items have a schema now', path)
	else if (before) sayEffect(walk, 'items', 'widened', before.pointer, 'items may be anything now', path)
}

function compareProperties(walk: Walk, base: View, head: View, path: string): void {
	const names = [base.properties.keys(), head.properties.keys(), base.required, head.required].flatMap((each) => [...each])
	for (const name of new Set(names)) {
		const [before, after] = [base.properties.get(name), head.properties.get(name)]
		const inner = path === '' ? name : `${path}.${name}`
		if (before && !after) sayRemoved(walk, before, head.extra === 'sealed', inner)
		else if (after && !before) sayAdded(walk, after, head.required.has(name), inner)
		else {
			comparePresence(walk, base.required.has(name), head.required.has(name), after?.pointer ?? head.pointer, inner)
			if (before && after) compareSchemas(walk, before, after, inner)
		}
	}
}

function sayRemoved(walk: Walk, before: Place, sealed: boolean, path: string): void {
	const outcome = sealed ? 'sending it is refused' : 'sending it has no effect'
	say(
		walk,
		'breaking',
		'property-removed',
		before.pointer,
		walk.direction === 'request' ? `property removed: ${outcome}` : 'property removed',
		path,
	)
}

function sayAdded(walk: Walk, after: Place, required: boolean, path: string): void {
	const breaks = required && walk.direction === 'request'
	const message = breaks ? 'required property added' : walk.direction === 'request' ? 'optional property added' : 'property added'
	say(walk, breaks ? 'breaking' : 'additive', 'property-added', after.pointer, message, path)
}

function comparePresence(walk: Walk, before: boolean, after: boolean, pointer: string, path: string): void {
	if (before === after) return
	sayEffect(walk, 'required', after ? 'narrowed' : 'widened', pointer, after ? 'is required now' : 'is optional now', path)
}

/** Compares undeclared properties. A reader skips properties that it does not know, so a response may begin to allow them. */
function compareExtra(walk: Walk, base: View, head: View, path: string): void {
	const [before, after] = [base.extra, head.extra]
	if (before === after) return
	if (typeof before === 'object' && typeof after === 'object') {
		compareSchemas(walk, before, after, `${path}{}`)
		return
	}
	const rank = (extra: View['extra']) => (extra === 'sealed' ? 0 : extra === 'open' ? 2 : 1)
	const effect = rank(after) < rank(before) ? 'narrowed' : 'widened'
	const lostMap = typeof before === 'object'
	const level = walk.direction === 'request' ? judge('request', effect) : lostMap ? 'breaking' : 'additive'
	const name = (extra: View['extra']) => (extra === 'sealed' ? 'refused' : extra === 'open' ? 'anything' : 'values of a schema')
	say(walk, level, `undeclared-${effect}`, head.pointer, `undeclared properties: ${name(before)} → ${name(after)}`, path)
}

/** Compares `anyOf` and `oneOf` that stand beside other keywords. */
function compareSideUnions(walk: Walk, base: View, head: View, path: string): void {
	const most = Math.max(base.unions.length, head.unions.length)
	for (let index = 0; index < most; index += 1) {
		const [before, after] = [base.unions[index], head.unions[index]]
		if (before && after) {
			const [older, newer] = [membersOf(walk.base, before, walk.direction), membersOf(walk.head, after, walk.direction)]
			compareAlternatives(walk, older, newer, { open: false, pointer: after.pointer }, path)
		} else {
			const pointer = after?.pointer ?? before?.pointer ?? head.pointer
			const message = after ? 'must match one of several schemas now' : 'need not match one of several schemas any more'
			sayEffect(walk, 'union', after ? 'narrowed' : 'widened', pointer, message, path)
		}
	}
}
