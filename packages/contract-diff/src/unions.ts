// Compares anyOf and oneOf as sets: pairs the members by name, then by structure. A member without a pair was added or removed.
import { type Finding, judge, say, type Walk } from './change.ts'
import type { View } from './view.ts'

export interface Sides {
	readonly base: View[]
	readonly head: View[]
	/** Marked `x-open-enum`: readers expect members that they do not know. */
	readonly open: boolean
	readonly pointer: string
}

type Pair = [View, View]
type Compare = (walk: Walk, base: View, head: View, path: string) => void

export function compareUnions(walk: Walk, sides: Sides, compare: Compare, path: string): void {
	const { pairs, removed, added } = pair(sides, (before, after) => isAlike(walk, compare, before, after))
	for (const [before, after] of pairs) compare(walk, before, after, path)
	if (removed.length > 0 && added.length > 0) {
		const message = `union changed, treated as breaking: ${names(removed)} → ${names(added)}`
		say(walk, 'breaking', 'union-changed', sides.pointer, message, path)
	} else if (removed.length > 0) {
		say(walk, judge(walk.direction, 'narrowed'), 'union-narrowed', sides.pointer, `no longer allowed: ${names(removed)}`, path)
	} else if (added.length > 0) {
		const level = sides.open ? 'additive' : judge(walk.direction, 'widened')
		say(walk, level, 'union-widened', sides.pointer, `also allowed now: ${names(added)}`, path)
	}
}

function names(views: View[]): string {
	return views.map((view) => `\`${nameOf(view) ?? view.types?.join(' or ') ?? 'any'}\``).join(', ')
}

/** The component's name; an inline schema has none. */
function nameOf(view: View): string | undefined {
	return /^#\/components\/schemas\/([^/]+)$/.exec(view.pointer)?.[1]
}

function pair(sides: Sides, alike: (before: View, after: View) => boolean): { pairs: Pair[]; removed: View[]; added: View[] } {
	const pairs: Pair[] = []
	let [removed, added] = [sides.base, sides.head]
	const match = (fits: (before: View, after: View) => boolean) => {
		for (const before of removed) {
			const after = added.find((candidate) => fits(before, candidate))
			if (after === undefined) continue
			pairs.push([before, after])
			removed = removed.filter((view) => view !== before)
			added = added.filter((view) => view !== after)
		}
	}
	match((before, after) => nameOf(before) !== undefined && nameOf(before) === nameOf(after))
	match(alike)
	// One member left on each side is taken for the same one, so that the findings name what changed in it.
	const [before, after] = [removed[0], added[0]]
	if (before && after && removed.length === 1 && added.length === 1) match(() => true)
	return { pairs, removed, added }
}

/** Compares without effect: reports nothing and marks nothing as seen. */
function isAlike(walk: Walk, compare: Compare, before: View, after: View): boolean {
	const findings: Finding[] = []
	const report = (finding: Finding) => void findings.push(finding)
	compare({ ...walk, seen: new Set(walk.seen), report }, before, after, '')
	return findings.every((finding) => finding.level === 'docs')
}
