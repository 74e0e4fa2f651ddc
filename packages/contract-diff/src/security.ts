// Compares who may call an operation: the alternatives of `security`, and the scopes of `x-required-scopes`.
import { say, type Walk } from './change.ts'
import { child, entries, expanded, follow, isObject, type Obj, type Place, same, stable, strings } from './document.ts'

/** What one alternative requires: each scheme and each of its scopes. An empty one lets anyone call. */
type Demand = Set<string>

/** Identifies a scheme by its definition, not by its name: renaming it is no change, another header name is one. */
function identity(doc: Obj, name: string): string {
	const scheme = follow(doc, child({ node: doc, pointer: '#' }, 'components', 'securitySchemes', name)).node
	if (!isObject(scheme)) return name
	const { bearerFormat: _, ...wire } = scheme
	return stable(expanded(doc, wire))
}

function demands(doc: Obj, operation: Place): Demand[] {
	const own = child(operation, 'security')
	const security = own.node === undefined ? child({ node: doc, pointer: '#' }, 'security') : own
	const listed = entries(security).map(([, alternative]) => demand(doc, alternative))
	return listed.length === 0 ? [new Set()] : listed
}

function demand(doc: Obj, alternative: Place): Demand {
	return new Set(
		entries(alternative).flatMap(([name, scopes]) => {
			const scheme = identity(doc, name)
			return [scheme, ...strings(scopes.node).map((scope) => `${scope} of ${scheme}`)]
		}),
	)
}

export function compareSecurity(walk: Walk, base: Place, head: Place): void {
	const [before, after] = [demands(walk.base, base), demands(walk.head, head)]
	// Each alternative of `some` meets at least one of `all`, so every caller of `some` may still call.
	const covered = (some: Demand[], all: Demand[]) =>
		some.every((one) => all.some((other) => [...other].every((need) => one.has(need))))
	const pointer = `${head.pointer}/security`
	if (!covered(before, after)) say(walk, 'breaking', 'security-tightened', pointer, outcome(before, after))
	else if (!covered(after, before)) say(walk, 'additive', 'security-loosened', pointer, outcome(before, after))
	compareScopes(walk, child(base, 'x-required-scopes'), child(head, 'x-required-scopes'))
}

function outcome(before: Demand[], after: Demand[]): string {
	const open = (all: Demand[]) => all.some((one) => one.size === 0)
	if (open(before)) return 'was open to anyone, needs credentials now'
	if (open(after)) return 'needed credentials, is open to anyone now'
	return 'other credentials are accepted now'
}

function compareScopes(walk: Walk, base: Place, head: Place): void {
	const isList = (place: Place) => place.node === undefined || Array.isArray(place.node)
	if (!isList(base) || !isList(head)) {
		if (!same(base.node, head.node))
			say(walk, 'breaking', 'scope-changed', head.pointer, '`x-required-scopes` changed, treated as breaking')
		return
	}
	const [before, after] = [strings(base.node), strings(head.node)]
	for (const scope of after.filter((each) => !before.includes(each))) {
		say(walk, 'breaking', 'scope-added', head.pointer, `needs scope \`${scope}\` now`)
	}
	for (const scope of before.filter((each) => !after.includes(each))) {
		say(walk, 'additive', 'scope-removed', base.pointer, `no longer needs scope \`${scope}\``)
	}
}
