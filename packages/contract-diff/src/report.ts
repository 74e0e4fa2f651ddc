// Turns the differences into a verdict, a version bump and a changelog.
import { type Change, code, type Level } from './change.ts'
import { type Bump, bumpFor, nextVersion, type Verdict } from './versions.ts'

export interface Diff {
	readonly baseVersion: string
	readonly headVersion: string
	readonly verdict: Verdict
	/** The least version bump that the changes require. */
	readonly bump: Bump
	readonly changes: Change[]
}

export function summarize(baseVersion: string, headVersion: string, changes: Change[]): Diff {
	const has = (level: Level) => changes.some((change) => change.level === level)
	const verdict = has('breaking') ? 'breaking' : has('additive') ? 'additive' : 'none'
	return { baseVersion, headVersion, verdict, bump: bumpFor(verdict, baseVersion), changes }
}

/** The changelog lists a change that more operations than this share once, with their names. */
const SHARED_ABOVE = 3
const ORDER: Level[] = ['breaking', 'additive', 'docs']

/** The differences by operation, in Markdown. */
export function markdown(diff: Diff): string {
	const title = `# Contract changes: ${diff.baseVersion} → ${diff.headVersion}`
	if (diff.changes.length === 0) return `${title}\n\nNo changes.\n`
	return `${[title, headline(diff), ...sections(diff, '##')].join('\n\n')}\n`
}

/** A section for each operation, and before them one for what many share; each begins with a heading of this level. */
export function sections(diff: Diff, level: string): string[] {
	const [shared, single] = split(diff.changes)
	const groups = Map.groupBy(single, (change) => change.operation)
	const own = [...groups].map(([operation, changes]) =>
		section(`${level} ${heading(operation, changes)}`, changes.map(line), changes),
	)
	if (shared.length === 0) return own
	const first = shared.flatMap((changes) => changes.slice(0, 1))
	const common = shared.map((changes, at) => {
		return `${first
			.slice(at, at + 1)
			.map(line)
			.join('')}\n  In ${changes.length} operations: ${namesOf(changes)}`
	})
	return [section(`${level} Shared schemas`, common, first), ...own]
}

/** How many changes there are of each level. */
export function count({ changes }: Diff): string {
	const of = (level: Level) => changes.filter((change) => change.level === level).length
	return `${of('breaking')} breaking, ${of('additive')} additive, ${of('docs')} of documentation only`
}

function headline(diff: Diff): string {
	const verdict =
		diff.verdict === 'none' ? 'Nothing that callers can notice' : diff.verdict === 'breaking' ? 'Breaking' : 'Additive'
	const bump =
		diff.bump === 'none'
			? 'No version bump needed.'
			: `Version bump: ${diff.bump}, to ${nextVersion(diff.baseVersion, diff.bump)} at least.`
	return `**${verdict}**: ${count(diff)}. ${bump}`
}

/** Splits the changes into those of a component that many operations share, and all others. */
function split(changes: Change[]): [Change[][], Change[]] {
	const alike = Map.groupBy(changes, (change) =>
		[change.level, change.direction, change.rule, change.pointer, change.message].join('\n'),
	)
	const groups = [...alike.values()]
	const shared = groups.filter((group) => group.length > SHARED_ABOVE)
	return [shared, changes.filter((change) => !shared.some((group) => group.includes(change)))]
}

function heading(operation: string, changes: Change[]): string {
	if (operation === '') return 'The document'
	const id = changes[0]?.operationId ?? ''
	return `${code(operation)}${id === '' ? '' : ` (${id})`}`
}

function section(title: string, lines: string[], changes: Change[]): string {
	const rank = (index: number) => ORDER.indexOf(changes[index]?.level ?? 'docs')
	const sorted = lines.map((_, index) => index).sort((left, right) => rank(left) - rank(right) || left - right)
	return [title, '', ...sorted.map((index) => lines[index])].join('\n')
}

function line(change: Change): string {
	return `- **${change.level}** ${change.where}: ${change.message} (${change.rule}, ${code(change.pointer)})`
}

function namesOf(changes: Change[]): string {
	return changes.map((change) => code(change.operationId === '' ? change.operation : change.operationId)).join(', ')
}
