// Compares who may call an operation: the alternatives of `security`, each with its schemes and their scopes.
import { say, type Walk } from './change.ts'
import { child, entries, expanded, follow, isObject, type Obj, type Place, stable, strings } from './document.ts'

/** What one alternative requires: each scheme and each of its scopes. An empty one lets anyone call. */
type Demand = Set<string>

/** Identifies a scheme by its definition, not by its name: renaming it is no change, another header name is one. */
function identity(doc: Obj, name: string): string {
	const scheme = follow(doc, child({ node: doc, pointer: '#' }, 'components', 'securitySchemes', name)).node
	if (!isObject(scheme)) return name
	const { bearerFormat: _, ...wire } = scheme
	return stable(expanded(doc, wire))
}

/** The alternatives of an operation, of its own or of the document. */
function alternatives(doc: Obj, operation: Place): Place[] {
	const own = child(operation, 'security')
	const security = own.node === undefined ? child({ node: doc, pointer: '#' }, 'security') : own
	return entries(security).map(([, alternative]) => alternative)
}

function demands(doc: Obj, operation: Place): Demand[] {
	const listed = alternatives(doc, operation).map((alternative) => demand(doc, alternative))
	return listed.length === 0 ? [new Set()] : listed
}

const scopesOf = (doc: Obj, operation: Place): string[] =>
	alternatives(doc, operation).flatMap((alternative) => entries(alternative).flatMap(([, scopes]) => strings(scopes.node)))

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
	const [had, has] = [scopesOf(walk.base, base), scopesOf(walk.head, head)]
	const [added, removed] = [without(has, had), without(had, has)]
	if (!covered(before, after)) {
		const scope = added && `needs the scope ${added} now`
		say(walk, 'breaking', 'security-tightened', pointer, outcome(before, after, scope))
	} else if (!covered(after, before)) {
		const scope = removed && `no longer needs the scope ${removed}`
		say(walk, 'additive', 'security-loosened', pointer, outcome(before, after, scope))
	}
}

/** The names that are not among others, for people; empty when there are none. */
const without = (names: readonly string[], others: readonly string[]): string =>
	[...new Set(names)]
		.filter((name) => !others.includes(name))
		.map((name) => `\`${name}\``)
		.join(', ')

function outcome(before: Demand[], after: Demand[], scope: string): string {
	const open = (all: Demand[]) => all.some((one) => one.size === 0)
	if (open(before)) return 'was open to anyone, needs credentials now'
	if (open(after)) return 'needed credentials, is open to anyone now'
	return scope || 'other credentials are accepted now'
}
