import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { diffContracts } from './contract-diff.ts'
import { isObject, type Json, type Obj } from './document.ts'
import { CREATE, example, INPUT, LIST, put, STATUS } from './example.ts'
import { changelog } from './report.ts'

const TOOL = join(import.meta.dirname, 'contract-diff.ts')

function changed(version: string, pointer: string, value: Json | undefined): Obj {
	const document = example(version)
	put(document, pointer, value)
	return document
}
const withBreak = (version: string) => changed(version, LIST, undefined)
const withAddition = (version: string) => changed(version, `${INPUT}/properties/memo`, {})

describe('the verdict', () => {
	test('identical documents have no difference', () => {
		expect(diffContracts(example(), example())).toMatchObject({ verdict: 'none', bump: 'none', changes: [] })
	})
	test('a change of prose needs no bump, an addition a minor version, a breaking change a major one', () => {
		expect(diffContracts(example(), changed('1.2.3', '/info/title', 'Big'))).toMatchObject({ verdict: 'none', bump: 'none' })
		expect(diffContracts(example(), withAddition('1.2.3'))).toMatchObject({ verdict: 'additive', bump: 'minor' })
		expect(diffContracts(example(), withBreak('1.2.3'))).toMatchObject({ verdict: 'breaking', bump: 'major' })
	})
	test('before 1.0.0 an addition needs a patch, a breaking change a minor version', () => {
		expect(diffContracts(example('0.3.0'), withAddition('0.3.0'))).toMatchObject({ bump: 'patch' })
		expect(diffContracts(example('0.3.0'), withBreak('0.3.0'))).toMatchObject({ bump: 'minor' })
	})
	test('each change names its operation, and its pointer in the document that has it', () => {
		const { changes } = diffContracts(example(), changed('1.2.3', `${INPUT}/properties/note/maxLength`, 5))
		expect(changes).toEqual([
			{
				level: 'breaking',
				rule: 'bound-narrowed',
				direction: 'request',
				operation: 'POST /invoices',
				operationId: 'invoices.create',
				where: 'request body `note`',
				pointer: '#/components/schemas/InvoiceCreate/properties/note/maxLength',
				message: 'maxLength `100` → `5`',
			},
		])
	})
})

describe('the changelog', () => {
	test('groups by operation and puts breaking changes first', () => {
		const head = changed('1.3.0', `${INPUT}/properties/memo`, {})
		put(head, `${CREATE}/operationId`, 'invoices.make')
		put(head, `${LIST}/summary`, 'All of them')
		expect(changelog(diffContracts(example(), head))).toBe(`# Contract changes: 1.2.3 → 1.3.0

**Breaking**: 1 breaking, 1 additive, 1 of documentation only. Version bump: major, to 2.0.0 at least.

## \`GET /invoices\` (invoices.list)

- **docs** operation: summary changed (docs, \`#/paths/~1invoices/get\`)

## \`POST /invoices\` (invoices.make)

- **breaking** operation: operationId \`invoices.create\` → \`invoices.make\` (operation-id, \`#/paths/~1invoices/post\`)
- **additive** request body \`memo\`: optional property added (property-added, \`#/components/schemas/InvoiceCreate/properties/memo\`)
`)
	})
	test('lists a change of a component that many operations share once, with their names', () => {
		const [base, head] = [example(), example()]
		for (const document of [base, head]) {
			for (const name of ['a', 'b', 'c'])
				put(document, `/webhooks/${name}`, {
					post: { operationId: name, requestBody: { content: { 'a/b': { schema: { $ref: '#/components/schemas/Invoice' } } } } },
				})
		}
		put(head, '/components/schemas/Invoice/properties/memo', {})
		const written = changelog(diffContracts(base, head))
		expect(written.match(/memo/g)).toHaveLength(2)
		expect(written).toContain('## Shared schemas')
		expect(written).toContain('In 6 operations: `invoices.list`, `invoices.create`, `paid`, `a`, `b`, `c`')
	})
})

describe('any document', () => {
	const name = fc.constantFrom('A', 'B', 'C', 'constructor')
	const link = name.map((each): Obj => ({ $ref: `#/components/schemas/${each}` }))
	const plain = fc.record<Obj>(
		{
			type: fc.constantFrom<Json>('string', 'integer', ['number', 'null'], 'object', 'array'),
			enum: fc.array(fc.constantFrom<Json>('x', 1, null, true), { minLength: 1 }),
			maxLength: fc.nat(9),
			pattern: fc.constantFrom('^a', '`'),
			description: fc.string(),
			default: fc.constantFrom<Json>(null, 'x'),
			'x-open-enum': fc.boolean(),
			readOnly: fc.boolean(),
		},
		{ requiredKeys: [] },
	)
	const { schema } = fc.letrec<{ schema: Json }>((tie) => ({
		schema: fc.oneof(
			{ depthSize: 'small', withCrossShrink: true },
			plain,
			link,
			fc.boolean(),
			fc.record({ anyOf: fc.array(tie('schema'), { maxLength: 3 }) }),
			fc.record({ allOf: fc.array(tie('schema'), { maxLength: 2 }), properties: fc.dictionary(name, tie('schema')) }),
			fc.record({
				type: fc.constant('object'),
				properties: fc.dictionary(name, tie('schema')),
				required: fc.array(name),
				additionalProperties: tie('schema'),
			}),
			fc.record({ $ref: link.map((each) => each.$ref ?? null), items: tie('schema'), not: tie('schema') }),
		),
	}))
	const component = schema.map((inner): Json => ({ type: ['object', 'string'], properties: { inner }, oneOf: [inner] }))
	const document = fc
		.record({ A: component, B: component, C: component, constructor: component, body: schema })
		.map(({ body, ...schemas }): Obj => {
			const content = { 'application/json': { schema: body } }
			return {
				openapi: '3.1.0',
				info: { version: '1.0.0' },
				paths: { '/x': { post: { requestBody: { content }, responses: { 200: { content } } } } },
				components: { schemas },
			}
		})
	const turned = (value: Json): Json =>
		Array.isArray(value)
			? value.map(turned)
			: isObject(value)
				? Object.fromEntries(
						Object.entries(value)
							.reverse()
							.map(([key, inner]) => [key, turned(inner)]),
					)
				: value

	test('does not differ from itself, nor from itself with its keys in another order', () => {
		fc.assert(
			fc.property(document, (each) => {
				expect(diffContracts(each, structuredClone(each)).changes).toEqual([])
				const other = turned(each)
				expect(isObject(other) && diffContracts(each, other).changes).toEqual([])
			}),
			{ numRuns: 150 },
		)
	})
	test('differs from another one as that one differs from it', () => {
		fc.assert(
			fc.property(document, document, (one, other) => {
				const [there, back] = [diffContracts(one, other), diffContracts(other, one)]
				expect(there.changes.length === 0).toBe(back.changes.length === 0)
			}),
			{ numRuns: 150 },
		)
	})
})

describe('the command', () => {
	let folder = ''
	const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => !key.startsWith('GIT_')))
	const run = (...args: string[]) => {
		const { status, stdout, stderr } = spawnSync(process.execPath, [TOOL, ...args], { cwd: folder, encoding: 'utf8', env })
		return { status, stdout, stderr }
	}
	const git = (...args: string[]) =>
		execFileSync(
			'git',
			['-c', 'user.name=T', '-c', 'user.email=t@example.org', '-c', 'commit.gpgsign=false', '-c', 'tag.gpgsign=false', ...args],
			{ cwd: folder, env, stdio: 'pipe' },
		)
	const write = (path: string, content: Json) =>
		writeFileSync(join(folder, path), typeof content === 'string' ? content : JSON.stringify(content))
	const check = (base: Obj, head: Obj) => {
		write('base.json', base)
		write('head.json', head)
		return run('--base', 'base.json', '--head', 'head.json', '--check')
	}

	beforeAll(() => {
		folder = mkdtempSync(join(tmpdir(), 'contract-diff-'))
		mkdirSync(join(folder, 'spec'))
	})
	afterAll(() => rmSync(folder, { recursive: true, force: true }))

	test('--check passes when the version is high enough, and otherwise names the least version', () => {
		expect(check(example(), withBreak('1.3.0'))).toMatchObject({
			status: 1,
			stderr: 'the changes are breaking: info.version must go from 1.2.3 to 2.0.0 at least, it is 1.3.0\n',
		})
		const status = (base: string, head: Obj) => check(example(base), head).status
		expect([status('1.2.3', withBreak('2.0.0')), status('1.2.3', withBreak('2.0.0-rc.1'))]).toEqual([0, 0])
		expect([status('1.2.3', withAddition('1.2.4')), status('1.2.3', withAddition('1.3.0'))]).toEqual([1, 0])
		expect([status('0.2.3', withBreak('0.2.4')), status('0.2.3', withBreak('0.3.0'))]).toEqual([1, 0])
		expect([status('0.2.3', withAddition('0.2.3')), status('0.2.3', withAddition('0.2.4'))]).toEqual([1, 0])
		expect([status('2.0.0-rc.1', withBreak('2.0.0-rc.1')), status('2.0.0-rc.1', withBreak('2.0.0-rc.2'))]).toEqual([1, 0])
		expect(status('1.2.3', example('1.2.3'))).toBe(0)
	})
	test('without --check a breaking change is reported and does not fail; --json prints it for programs', () => {
		check(example(), withBreak('1.2.3'))
		const { status, stdout } = run('--base', 'base.json', '--head', 'head.json', '--json')
		expect(status).toBe(0)
		expect(JSON.parse(stdout)).toMatchObject({
			base: 'base.json',
			head: 'head.json',
			verdict: 'breaking',
			bump: 'major',
			changes: [{ rule: 'operation-removed' }],
		})
	})
	test('input that it cannot read gives one line of error and exit code 2', () => {
		write('broken.yaml', 'openapi: [')
		write('old.yaml', 'openapi: 3.0.3')
		write('dangling.json', changed('1.2.3', STATUS, { $ref: '#/nowhere' }))
		write('base.json', example())
		for (const args of [
			['--wrong'],
			['extra'],
			['--head', 'base.json', '--base', 'missing.yaml'],
			['--base', 'base.json', '--head', 'missing.yaml'],
			['--base', 'broken.yaml'],
			['--base', 'old.yaml'],
			['--base', 'base.json', '--head', 'dangling.json'],
			[],
		]) {
			const { status, stdout, stderr } = run(...args)
			expect({ args, status, stdout }).toEqual({ args, status: 2, stdout: '' })
			expect(stderr).toMatch(/^contract-diff: .+\n$/)
		}
	})
	test('in a repository it compares with the newest release, and passes before the first', () => {
		git('init', '-q')
		expect(run('--check')).toEqual({ status: 0, stdout: 'no release yet: nothing to compare with\n', stderr: '' })
		for (const [tag, document] of [
			['v1.9.0', withBreak('1.9.0')],
			['v1.10.0-rc.1', withBreak('1.10.0-rc.1')],
			['v1.10.0', example('1.10.0')],
		] as const) {
			write('spec/openapi.yaml', document)
			git('add', 'spec')
			git('commit', '-qm', tag)
			git('tag', tag)
		}
		expect(run('--check')).toMatchObject({ status: 0, stdout: '# Contract changes: 1.10.0 → 1.10.0\n\nNo changes.\n' })
		write('spec/openapi.yaml', withBreak('1.11.0'))
		expect(run('--check')).toMatchObject({ status: 1, stdout: expect.stringContaining('# Contract changes: 1.10.0 → 1.11.0') })
		expect(run('--check', '--base', 'v1.9.0')).toMatchObject({
			status: 0,
			stdout: expect.stringContaining('# Contract changes: 1.9.0 → 1.11.0'),
		})
		expect(run('--base', 'v7')).toMatchObject({
			status: 2,
			stderr: 'contract-diff: --base v7: no such file, and git has no v7:spec/openapi.yaml\n',
		})
	})
})
