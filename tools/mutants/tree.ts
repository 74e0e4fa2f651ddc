// A work tree of its own, in which files can be changed while this one is worked on.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { root } from './mutants.ts'

const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean)

export interface Tree {
	readonly folder: string
	/** Of which state of the sources it is. */
	readonly of: string
	remove(): void
}

/** Has what is not committed, too. */
export function newTree(): Tree {
	const folder = mkdtempSync(join(realpathSync(tmpdir()), 'remit-mutants-'))
	const remove = () => {
		rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
		git('worktree', 'prune')
	}
	try {
		git('worktree', 'add', '--quiet', '--detach', folder, 'HEAD')
		const changed = copyChanges(folder)
		for (const path of git('ls-files', '*package.json')) linkPackages(dirname(path), folder)
		const [commit] = git('rev-parse', '--short', 'HEAD')
		return { folder, of: changed === 0 ? `${commit}` : `${commit} with ${changed} changed files`, remove }
	} catch (error) {
		remove()
		throw error
	}
}

function copyChanges(folder: string): number {
	const changed = [...git('diff', '--name-only', 'HEAD'), ...git('ls-files', '--others', '--exclude-standard')]
	for (const path of changed)
		if (existsSync(join(root, path))) cpSync(join(root, path), join(folder, path))
		else rmSync(join(folder, path), { force: true })
	return changed.length
}

/** The packages of the workspace are those of the tree, all others the installed ones. Caches stay behind: they would be shared. */
function linkPackages(path: string, folder: string): void {
	const from = join(root, path, 'node_modules')
	const to = join(folder, path, 'node_modules')
	if (!existsSync(from)) return
	mkdirSync(to)
	for (const name of readdirSync(from)) {
		if (name === '.bin' || name === '@remit')
			cpSync(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true })
		else if (name === '.pnpm' || !name.startsWith('.')) symlinkSync(join(from, name), join(to, name))
	}
}
