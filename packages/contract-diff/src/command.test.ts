import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import type { Json, Obj } from './document.ts'
import { CREATE, changed, example, INPUT, OUTPUT, put, STATUS, withAddition, withBreak } from './example.ts'

const TOOL = join(import.meta.dirname, 'cli.ts')

let folder = ''
const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => !key.startsWith('GIT_')))
async function run(args: string[], input = '') {
	const tool = spawn(process.execPath, [TOOL, ...args], { cwd: folder, env })
	tool.stdin.end(input)
	const ended = new Promise((resolve) => tool.once('close', resolve))
	const [stdout, stderr, status] = await Promise.all([text(tool.stdout), text(tool.stderr), ended])
	return { status, stdout, stderr }
}
const write = (path: string, content: Json) =>
	writeFileSync(join(folder, path), typeof content === 'string' ? content : JSON.stringify(content))
function compare(base: Obj, head: Obj, ...args: string[]) {
	write('old.json', base)
	write('new.json', head)
	return run(['old.json', 'new.json', ...args])
}

beforeAll(() => {
	folder = mkdtempSync(join(tmpdir(), 'contract-diff-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the exit code', () => {
	test('is 0 for any change, unless --fail-on names its level or a lower one', async () => {
		expect(await compare(example(), withBreak('1.2.3'))).toMatchObject({ status: 0, stderr: '' })
		expect(await compare(example(), withBreak('1.2.3'), '--fail-on', 'breaking')).toMatchObject({
			status: 1,
			stderr: 'contract-diff: 1 change is breaking\n',
		})
		expect(await compare(example(), withAddition('1.2.3'), '--fail-on', 'breaking')).toMatchObject({ status: 0 })
		expect(await compare(example(), withAddition('1.2.3'), '-o', 'additive')).toMatchObject({
			status: 1,
			stderr: 'contract-diff: 1 change is additive or more\n',
		})
	})
	test('is 1 with --check when the version is too low, and the error names the least version', async () => {
		expect(await compare(example(), withBreak('1.3.0'), '--check')).toMatchObject({
			status: 1,
			stderr: 'contract-diff: the changes are breaking: info.version must go from 1.2.3 to 2.0.0 at least, it is 1.3.0\n',
		})
		const status = async (base: string, head: Obj) => (await compare(example(base), head, '--check')).status
		expect([await status('1.2.3', withBreak('2.0.0')), await status('1.2.3', withBreak('2.0.0-rc.1'))]).toEqual([0, 0])
		expect([await status('1.2.3', withAddition('1.2.4')), await status('1.2.3', withAddition('1.3.0'))]).toEqual([1, 0])
		expect([await status('0.2.3', withBreak('0.2.4')), await status('0.2.3', withBreak('0.3.0'))]).toEqual([1, 0])
		expect([await status('0.2.3', withAddition('0.2.3')), await status('0.2.3', withAddition('0.2.4'))]).toEqual([1, 0])
		expect(await status('2.0.0-rc.1', withBreak('2.0.0-rc.1'))).toBe(1)
		expect(await status('2.0.0-rc.1', withBreak('2.0.0-rc.2'))).toBe(0)
		expect(await status('1.2.3', example('1.2.3'))).toBe(0)
	})
	test('is 2 with one line of error for input that it cannot read', async () => {
		write('broken.yaml', 'openapi: [')
		write('early.yaml', 'openapi: 3.0.3')
		write('dangling.json', changed('1.2.3', STATUS, { $ref: '#/nowhere' }))
		write('a.json', example())
		for (const [args, error] of [
			[['--wrong'], /^contract-diff: Unknown option '--wrong'/],
			[['a.json'], /needs two documents, OLD and NEW/],
			[['a.json', 'a.json', 'a.json'], /needs two documents/],
			[['a.json', 'missing.yaml'], /cannot read missing.yaml \(ENOENT\)/],
			[['main:missing.yaml', 'a.json'], /cannot read main:missing.yaml: no such file, and git has no such/],
			[['broken.yaml', 'a.json'], /broken.yaml is not YAML or JSON/],
			[['early.yaml', 'a.json'], /early.yaml is not OpenAPI 3.1 \(openapi: "3.0.3"\)/],
			[['a.json', 'dangling.json'], /\$ref #\/nowhere points at nothing/],
			[['a.json', 'a.json', '--format', 'html'], /--format html: must be one of text, markdown, json, github/],
			[['a.json', 'a.json', '--fail-on', 'ERR'], /--fail-on ERR: must be one of docs, additive, breaking/],
			[['http://127.0.0.1:1/openapi.yaml', 'a.json'], /cannot read http:\/\/127.0.0.1:1\/openapi.yaml: /],
		] as const) {
			const { status, stdout, stderr } = await run([...args])
			expect({ args, status, stdout }).toEqual({ args, status: 2, stdout: '' })
			expect(stderr).toMatch(/^contract-diff: .+\n$/)
			expect(stderr).toMatch(error)
		}
	})
})

describe('the output', () => {
	const edited = () => {
		const head = changed('1.3.0', `${INPUT}/properties/memo`, {})
		put(head, `${OUTPUT}/properties/note`, undefined)
		put(head, `${CREATE}/summary`, 'Make one')
		return head
	}
	test('has a line for each change with its place, the breaking ones first, and a line that counts', async () => {
		write('old.yaml', stringify(example()))
		write('new.yaml', stringify(edited()))
		const { stdout } = await run(['old.yaml', 'new.yaml'])
		const lines = stdout.trimEnd().split('\n')
		expect(lines[0]).toMatch(
			/^old.yaml:\d+:\d+: breaking: GET \/invoices: response 200 `\[\].note`: property removed \[property-removed\]$/,
		)
		expect(lines.slice(-3)).toEqual([
			expect.stringMatching(
				/^new.yaml:\d+:\d+: additive: POST \/invoices: request body `memo`: optional property added \[property-added\]$/,
			),
			expect.stringMatching(/^new.yaml:\d+:\d+: docs: POST \/invoices: operation: summary changed \[docs\]$/),
			'breaking: 3 breaking, 1 additive, 1 of documentation only; major version: 2.0.0 at least',
		])
		const [, line = 0, column = 0] = /^old.yaml:(\d+):(\d+)/.exec(lines[0] ?? '') ?? []
		const written = readFileSync(join(folder, 'old.yaml'), 'utf8').split('\n')[Number(line) - 1]
		expect(written?.slice(Number(column) - 1)).toBe('note:')
	})
	test('finds the place of a status that is written as a number', async () => {
		const old = stringify(example()).replace('"404"', '404')
		write('old.yaml', old)
		write('new.yaml', old.replace('404', '410'))
		const at = old.split('\n').findIndex((line) => line.includes('404')) + 1
		expect((await run(['old.yaml', 'new.yaml'])).stdout).toContain(`old.yaml:${at}:9: additive: GET /invoices: response 404: `)
	})
	test('can be JSON, for programs', async () => {
		const { stdout } = await compare(example(), withBreak('1.2.3'), '--format', 'json')
		expect(JSON.parse(stdout)).toMatchObject({
			base: 'old.json',
			head: 'new.json',
			verdict: 'breaking',
			bump: 'major',
			changes: [{ rule: 'operation-removed' }],
		})
	})
	test('can be annotations of a workflow, without changes of documentation', async () => {
		const { stdout } = await compare(example(), edited(), '--format', 'github')
		expect(stdout.trimEnd().split('\n').at(-1)).toMatch(
			/^::notice file=new.json,line=1,col=\d+,title=additive%3A property-added::POST \/invoices: request body `memo`: optional property added$/,
		)
		expect(stdout).toContain('::error file=old.json,line=1')
		expect(stdout).not.toContain('summary')
	})
})

describe('a document', () => {
	test('can come from a URL or from standard input', async () => {
		const server = createServer((request, response) =>
			request.url === '/openapi.json' ? response.end(JSON.stringify(example())) : response.writeHead(404).end(),
		).listen(0, '127.0.0.1')
		await new Promise((listening) => server.once('listening', listening))
		const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
		expect(await run([`${url}/openapi.json`, '-'], JSON.stringify(withBreak('2.0.0')))).toMatchObject({
			status: 0,
			stdout: expect.stringContaining('openapi.json:1:'),
		})
		expect(await run([`${url}/other`, '-'], '{}')).toMatchObject({ status: 2, stderr: expect.stringContaining('answers 404') })
		server.close()
	})
	test('can come from a revision of git', async () => {
		const options = ['user.name=T', 'user.email=t@example.org', 'commit.gpgsign=false'].flatMap((option) => ['-c', option])
		const git = (...args: string[]) => execFileSync('git', [...options, ...args], { cwd: folder, env, stdio: 'pipe' })
		write('api.json', example())
		git('init', '-q')
		git('add', 'api.json')
		git('commit', '-qm', 'One')
		write('api.json', withBreak('1.2.3'))
		const { status, stdout } = await run(['HEAD:api.json', 'api.json'])
		expect({ status, first: stdout.split('\n')[0] }).toEqual({
			status: 0,
			first: expect.stringMatching(/^HEAD:api.json:1:\d+: breaking: GET \/invoices: operation: removed/),
		})
	})
})

describe('the changelog', () => {
	const changes = () => readFileSync(join(folder, 'CHANGES.md'), 'utf8')
	test('gets the section of the new version at its head, and keeps the others as they are', async () => {
		write('CHANGES.md', '# Ours\n\nText.\n\n## 1.2.3 (2026-11-01)\n\nBy hand.\n')
		await compare(example(), withAddition('1.3.0'), '--changelog', 'CHANGES.md')
		const expected = `# Ours

Text.

## 1.3.0

Additive.

### \`POST /invoices\` (invoices.create)

- **additive** request body \`memo\`: optional property added (property-added, \`#/components/schemas/InvoiceCreate/properties/memo\`)

## 1.2.3 (2026-11-01)

By hand.
`
		expect(changes()).toBe(expected)
		await compare(example(), withAddition('1.3.0'), '--changelog', 'CHANGES.md')
		expect(changes()).toBe(expected)
	})
	test('with --check it is not written, and the exit code is 1 when it would be another', async () => {
		write('CHANGES.md', '')
		expect(await compare(example(), withAddition('1.3.0'), '--changelog', 'CHANGES.md', '--check')).toMatchObject({
			status: 1,
			stderr: 'contract-diff: CHANGES.md does not say what changed in 1.3.0: run it without --check to write it\n',
		})
		expect(changes()).toBe('')
		await compare(example(), withAddition('1.3.0'), '--changelog', 'CHANGES.md')
		expect(await compare(example(), withAddition('1.3.0'), '--changelog', 'CHANGES.md', '--check')).toMatchObject({ status: 0 })
	})
	test('has no section for a version that is released already, and says so', async () => {
		write('CHANGES.md', '# Ours\n')
		expect(await compare(example(), changed('1.2.3', '/info/title', 'Big'), '--changelog', 'CHANGES.md')).toMatchObject({
			status: 0,
			stderr: 'contract-diff: CHANGES.md gets no section: info.version is 1.2.3 in both documents\n',
		})
		expect(changes()).toBe('# Ours\n')
	})
})
