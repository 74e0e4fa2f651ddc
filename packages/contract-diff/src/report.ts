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

export function changelog(diff: Diff): string {
	const title = `# Contract changes: ${diff.baseVersion} → ${diff.headVersion}`
	if (diff.changes.length === 0) return `${title}\n\nNo changes.\n`
	const [shared, single] = split(diff.changes)
	const groups = Map.groupBy(single, (change) => change.operation)
	const sections = [...groups].map(([operation, changes]) => section(heading(operation, changes), changes.map(line), changes))
	const common = shared.map(
		(changes) => `${changes.slice(0, 1).map(line).join('')}\n  In ${changes.length} operations: ${namesOf(changes)}`,
	)
	if (common.length > 0)
		sections.unshift(
			section(
				'## Shared schemas',
				common,
				shared.flatMap((changes) => changes.slice(0, 1)),
			),
		)
	return `${[title, headline(diff), ...sections].join('\n\n')}\n`
}

function headline(diff: Diff): string {
	const count = (level: Level) => diff.changes.filter((change) => change.level === level).length
	const counts = `${count('breaking')} breaking, ${count('additive')} additive, ${count('docs')} of documentation only`
	const verdict =
		diff.verdict === 'none' ? 'Nothing that callers can notice' : diff.verdict === 'breaking' ? 'Breaking' : 'Additive'
	const bump =
		diff.bump === 'none'
			? 'No version bump needed.'
			: `Version bump: ${diff.bump}, to ${nextVersion(diff.baseVersion, diff.bump)} at least.`
	return `**${verdict}**: ${counts}. ${bump}`
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
	if (operation === '') return '## The document'
	const id = changes[0]?.operationId ?? ''
	return `## ${code(operation)}${id === '' ? '' : ` (${id})`}`
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
