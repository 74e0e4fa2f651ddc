// anyOf and oneOf as sets: members are paired by name, then by structure; what has no pair was added or removed.
import { type Finding, judge, say, type Walk } from './change.ts'
import type { View } from './view.ts'

export interface Sides {
	readonly base: View[]
	readonly head: View[]
	/** Marked `x-open-enum`: readers were told to expect members they do not know. */
	readonly open: boolean
	readonly pointer: string
}

type Pair = [View, View]
type Compare = (walk: Walk, base: View, head: View, path: string) => void

export function compareUnions(walk: Walk, sides: Sides, compare: Compare, path: string): void {
	const { pairs, gone, come } = pair(sides, (before, after) => isAlike(walk, compare, before, after))
	for (const [before, after] of pairs) compare(walk, before, after, path)
	if (gone.length > 0 && come.length > 0) {
		const message = `union changed, treated as breaking: ${names(gone)} → ${names(come)}`
		say(walk, 'breaking', 'union-changed', sides.pointer, message, path)
	} else if (gone.length > 0) {
		say(walk, judge(walk.direction, 'narrowed'), 'union-narrowed', sides.pointer, `no longer allowed: ${names(gone)}`, path)
	} else if (come.length > 0) {
		const level = sides.open ? 'additive' : judge(walk.direction, 'widened')
		say(walk, level, 'union-widened', sides.pointer, `also allowed now: ${names(come)}`, path)
	}
}

function names(views: View[]): string {
	return views.map((view) => `\`${nameOf(view) ?? view.types?.join(' or ') ?? 'any'}\``).join(', ')
}

/** The component's name; an inline schema has none. */
function nameOf(view: View): string | undefined {
	return /^#\/components\/schemas\/([^/]+)$/.exec(view.pointer)?.[1]
}

function pair(sides: Sides, alike: (before: View, after: View) => boolean): { pairs: Pair[]; gone: View[]; come: View[] } {
	const pairs: Pair[] = []
	let [gone, come] = [sides.base, sides.head]
	const match = (fits: (before: View, after: View) => boolean) => {
		for (const before of gone) {
			const after = come.find((candidate) => fits(before, candidate))
			if (after === undefined) continue
			pairs.push([before, after])
			gone = gone.filter((view) => view !== before)
			come = come.filter((view) => view !== after)
		}
	}
	match((before, after) => nameOf(before) !== undefined && nameOf(before) === nameOf(after))
	match(alike)
	// The one member left on either side is the same member, changed: say what changed in it.
	const [before, after] = [gone[0], come[0]]
	if (before && after && gone.length === 1 && come.length === 1) match(() => true)
	return { pairs, gone, come }
}

/** Compares for a try: nothing is reported, and nothing counts as seen. */
function isAlike(walk: Walk, compare: Compare, before: View, after: View): boolean {
	const findings: Finding[] = []
	const report = (finding: Finding) => void findings.push(finding)
	compare({ ...walk, seen: new Set(walk.seen), report }, before, after, '')
	return findings.every((finding) => finding.level === 'docs')
}
