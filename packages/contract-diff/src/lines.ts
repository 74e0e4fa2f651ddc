// The differences a line each, with the place in the file, as compilers and linters print them.
import type { Change, Level } from './change.ts'
import { count, type Diff } from './report.ts'
import type { Source } from './sources.ts'
import { nextVersion } from './versions.ts'

export interface Compared {
	readonly diff: Diff
	readonly base: Source
	readonly head: Source
}

const ORDER: Level[] = ['breaking', 'additive', 'docs']

const inOrder = (changes: readonly Change[]) => ORDER.flatMap((level) => changes.filter((change) => change.level === level))

/** Where the element stands: in the older document when it was removed. */
function placeOf({ base, head }: Compared, change: Change) {
	const source = change.rule.endsWith('-removed') ? base : head
	return { file: source.name, ...source.positionOf(change.pointer) }
}

const sentence = ({ operation, where, message }: Change) => `${operation === '' ? '' : `${operation}: `}${where}: ${message}`

export function lines(compared: Compared): string {
	const { diff } = compared
	const told = inOrder(diff.changes).map((change) => {
		const { file, line, column } = placeOf(compared, change)
		return `${file}:${line}:${column}: ${change.level}: ${sentence(change)} [${change.rule}]`
	})
	const bump = diff.bump === 'none' ? '' : `; ${diff.bump} version: ${nextVersion(diff.baseVersion, diff.bump)} at least`
	return `${[...told, `${diff.verdict}: ${count(diff)}${bump}`].join('\n')}\n`
}

/** Annotations of GitHub Actions (workflow commands). */
export function github(compared: Compared): string {
	const escaped = (text: string) => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
	const property = (text: string) => escaped(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
	return inOrder(compared.diff.changes)
		.filter(({ level }) => level !== 'docs')
		.map((change) => {
			const { file, line, column } = placeOf(compared, change)
			const kind = change.level === 'breaking' ? 'error' : 'notice'
			const title = property(`${change.level}: ${change.rule}`)
			return `::${kind} file=${property(file)},line=${line},col=${column},title=${title}::${escaped(sentence(change))}\n`
		})
		.join('')
}
