// The version before this one, from git: that of the last release, or, before there is any, of the commit before the newest migration.
import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../../..')

const parts = ['package.json', 'packages/server', 'packages/sdk', 'packages/contract-diff', 'spec']

function git(...args: readonly string[]): string | undefined {
	try {
		return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim() || undefined
	} catch {
		return undefined
	}
}

/** The commit of that version; undefined in a clone without its history. */
export function findPrevious(): string | undefined {
	const release = git('describe', '--tags', '--abbrev=0', '--match', 'v*', 'HEAD^')
	if (release) return git('rev-parse', '--verify', `${release}^{commit}`)
	const newest = git('log', '-1', '--format=%H', '--diff-filter=A', '--', 'packages/server/migrations/0*.ts')
	return newest && git('rev-parse', '--verify', `${newest}^`)
}

/** Writes that version into the folder, with the packages of this one; returns the path of its command. */
export function unpack(commit: string, folder: string): string {
	const archive = execFileSync('git', ['archive', commit, ...parts], { cwd: root, maxBuffer: 2 ** 30 })
	execFileSync('tar', ['-x', '-C', folder], { input: archive })
	for (const name of ['server', 'contract-diff', 'sdk'])
		symlinkSync(join(root, `packages/${name}/node_modules`), join(folder, `packages/${name}/node_modules`))
	return join(folder, 'packages/server/src/cli.ts')
}
