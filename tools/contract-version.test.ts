// Whether the version of the contract follows from its changes, in a repository of its own.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const tool = join(import.meta.dirname, 'contract-version.ts')
let folder = ''
beforeAll(() => {
	folder = mkdtempSync(join(tmpdir(), 'contract-version-'))
	mkdirSync(join(folder, 'spec'))
	git('init', '-q')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => !key.startsWith('GIT_')))
function git(...args: string[]) {
	const options = ['user.name=T', 'user.email=t@example.org', 'commit.gpgsign=false', 'tag.gpgsign=false']
	execFileSync('git', [...options.flatMap((option) => ['-c', option]), ...args], { cwd: folder, env, stdio: 'pipe' })
}
function run(...args: string[]) {
	const options = { cwd: folder, env, encoding: 'utf8' } as const
	const { status, stderr } = spawnSync(process.execPath, ['--conditions=remit-source', tool, ...args], options)
	return { status, stderr }
}
function write(version: string, ...paths: string[]) {
	const operation = { get: { responses: { 200: { description: 'Yes.' } } } }
	const document = {
		openapi: '3.1.0',
		info: { title: 'Small', version },
		paths: Object.fromEntries(paths.map((path) => [path, operation])),
	}
	writeFileSync(join(folder, 'spec/openapi.yaml'), JSON.stringify(document))
}
function release(tag: string) {
	git('add', '.')
	git('commit', '-qm', tag, '--allow-empty')
	git('tag', tag)
}
function changelog() {
	const text = readFileSync(join(folder, 'CHANGELOG.md'), 'utf8')
	return text.slice(text.indexOf('## '))
}

test('a version that is too low for the changes since the newest release fails, and the changelog says what they are', () => {
	write('0.1.0', '/a', '/b')
	expect(run('--check')).toEqual({
		status: 1,
		stderr: 'contract-version: CHANGELOG.md does not tell of 0.1.0: run node tools/contract-version.ts\n',
	})
	expect(run()).toMatchObject({ status: 0 })
	expect(run('--check')).toMatchObject({ status: 0 })
	expect(changelog()).toBe('## 0.1.0\n\nThe first version.\n')

	release('v0.1.0')
	write('0.1.1', '/a')
	expect(run('--check')).toEqual({
		status: 1,
		stderr: [
			'contract-version: the changes are breaking: info.version must go from 0.1.0 to 0.2.0 at least, it is 0.1.1\n',
			'contract-version: CHANGELOG.md does not say what changed in 0.1.1: run it without --check to write it\n',
		].join(''),
	})
	write('0.2.0', '/a')
	expect(run()).toMatchObject({ status: 0 })
	expect(run('--check')).toMatchObject({ status: 0 })
	expect(changelog()).toContain('## 0.2.0\n\nBreaking.\n\n### `GET /b`\n\n- **breaking** operation: removed')

	release('v0.2.0')
	write('0.10.0', '/a', '/c')
	expect(run()).toMatchObject({ status: 0 })
	release('v0.10.0')
	git('tag', 'v0.9.0', 'v0.1.0')
	git('tag', 'v0.10.0-rc.1', 'v0.1.0')
	expect(run('--check')).toMatchObject({ status: 0 })
})

test('a clone without the tags of the releases that the changelog tells of fails', () => {
	git('tag', '-d', 'v0.1.0', 'v0.2.0', 'v0.9.0', 'v0.10.0-rc.1', 'v0.10.0')
	expect(run('--check')).toEqual({
		status: 1,
		stderr: 'contract-version: CHANGELOG.md tells of releases, and this clone has no tag v*: git fetch --tags\n',
	})
})
