// The mutants: small bugs, each with the test that notices it. A file for each context of the server; `app` has those outside of it, too.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'

export const root = resolve(import.meta.dirname, '../..')

const kinds = 'money who-may whose statements transactions repetition syncs deliveries contract web fairness'.split(' ')
const contexts = ['platform', 'accounts', 'billing', 'integration', 'app']
const databases = ['sqlite', 'postgres', 'none']

export interface Mutant {
	/** Says the bug. */
	readonly id: string
	readonly file: string
	/** Stands once in the file. */
	readonly find: string
	readonly replace: string
	readonly kind: string
	/** Where a test that runs on both databases notices it; `none` where it does on either, or needs none. */
	readonly on: 'sqlite' | 'postgres' | 'none'
	/** Test files: one that fails is enough. */
	readonly killedBy: readonly string[]
}

type Choice = { context?: string; kind?: string; id?: string }

/** The mutants of the choice. Throws where it has an unknown word, or none. */
export function mutantsOf({ context, kind, id }: Choice = {}): Mutant[] {
	known('context', context, contexts)
	known('kind', kind, kinds)
	const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.json'))
	const chosen = files
		.filter((name) => !context || basename(name, '.json') === context)
		.flatMap((name): Mutant[] => JSON.parse(readFileSync(join(import.meta.dirname, name), 'utf8')))
		.filter((mutant) => (!kind || mutant.kind === kind) && (!id || mutant.id === id))
	if (chosen.length === 0) throw new Error('there is no such mutant')
	return chosen
}

function known(option: string, word: string | undefined, words: readonly string[]): void {
	if (word !== undefined && !words.includes(word)) throw new Error(`there is no ${option} ${word}, only ${words.join(', ')}`)
}

/** The file's text with the bug; undefined where the mutant is stale: what it replaces is not there, or more than once. */
export function mutated({ file, find, replace }: Mutant, folder = root): string | undefined {
	const path = join(folder, file)
	const [before, after, ...more] = existsSync(path) ? readFileSync(path, 'utf8').split(find) : []
	return after === undefined || more.length > 0 ? undefined : before + replace + after
}

/** What is wrong with a mutant before it is run. */
export function faultsOf(mutant: Mutant): string[] {
	const { id, find, replace, kind, on, killedBy } = mutant
	const faults = [
		mutated(mutant) === undefined && 'is stale: `find` does not occur once in its file',
		find === replace && 'changes nothing',
		!kinds.includes(kind) && `has an unknown kind, ${kind}`,
		!databases.includes(on) && `runs on an unknown database, ${on}`,
		(killedBy.length < 1 || killedBy.length > 2) && 'names no test file, or more than two',
		...killedBy.map((file) => !existsSync(join(root, file)) && `names ${file}, which does not exist`),
		...killedBy.map((file) => !/\.test\.ts$/.test(file) && `names ${file}, which is no test file`),
	]
	return faults.filter((fault) => fault !== false).map((fault) => `${id} ${fault}`)
}

/** The project of Vitest in which a test file notices the mutant. */
export function projectOf(file: string, { on }: Mutant): string {
	const only = /\.(sqlite|postgres)(?:\.e2e)?\.test\.ts$/.exec(file)?.[1]
	if (only) return only
	if (/\.(api|db)(\.e2e)?\.test\.ts$/.test(file)) return on === 'none' ? 'sqlite' : on
	if (!file.endsWith('.e2e.test.ts')) return 'rules'
	return file.startsWith('packages/web/') ? 'web' : 'e2e'
}
