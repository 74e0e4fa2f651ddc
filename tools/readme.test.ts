// Runs every example of the README against a real server: shell with bash, TypeScript with Node.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const blocks = [...readme.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = '', code = '']) => ({ language, code }))

/** CI runs these two elsewhere: `start` in tools/smoke.ts, and the tests themselves. */
const runElsewhere = ['npx -y pnpm@12.21.0 start\n', 'npx -y pnpm@12.21.0 test\n']

const folder = mkdtempSync(join(tmpdir(), 'remit-readme-'))
const cli = join(root, 'packages/server/src/cli.ts')
/** Nothing of the test runner's environment: Vitest sets a BASE_URL of its own. */
const env = {
	PATH: process.env.PATH,
	DATA_DIR: join(folder, 'data'),
	PORT: '0',
	LOG_LEVEL: 'silent',
	NODE_ENV: 'test',
	EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
}
const receiverPort = String(20_000 + (process.pid % 20_000))
let server: ChildProcess
let url: string
let key: string

beforeAll(async () => {
	symlinkSync(join(root, 'packages/server/node_modules'), join(folder, 'node_modules'))
	writeFileSync(join(folder, 'package.json'), '{"type": "module"}')
	server = spawn(process.execPath, [cli, 'serve', '--demo', '--json'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
	const lines = createInterface({ input: server.stdout as NodeJS.ReadableStream })
	const line = await new Promise<string>((done, failed) => {
		lines.once('line', done)
		server.once('exit', (code) => failed(new Error(`the server ended with ${code}`)))
	})
	;({ url, key } = JSON.parse(line))
})

afterAll(async () => {
	const exited = new Promise((done) => server.once('exit', done))
	if (server.kill()) await exited
	rmSync(folder, { recursive: true })
})

const run = (file: string, args: string[]) =>
	execFileSync(file, args, {
		cwd: folder,
		encoding: 'utf8',
		env: { ...env, REMIT_API_KEY: key, REMIT_BASE_URL: url },
		stdio: ['ignore', 'pipe', 'inherit'],
	})

describe('the README', () => {
	it('has examples for the SDK, for curl and for the command line', () => {
		expect(blocks.filter(({ language }) => language === 'ts')).toHaveLength(3)
		expect(blocks.filter(({ language }) => language === 'sh').length).toBeGreaterThanOrEqual(4)
	})

	for (const { language, code } of blocks.filter((block) => block.language !== '' && !runElsewhere.includes(block.code))) {
		it(`has a working example: ${code.trim().split('\n')[0]}`, () => {
			const here = code
				.replaceAll('http://127.0.0.1:3000', url)
				.replaceAll('4000', receiverPort)
				.replaceAll('npx -y pnpm@12.21.0 --silent remit', `${process.execPath} --conditions=remit-source ${cli}`)
			if (language === 'ts') {
				writeFileSync(join(folder, 'example.ts'), here)
				expect(run(process.execPath, ['--conditions=remit-source', 'example.ts'])).toMatch(
					/^INV-\d{4,} (160650|was paid: 5000|http:\S+\/view\/invoice\/\S+)\n/,
				)
			} else {
				const output = run('bash', [
					'-euo',
					'pipefail',
					'-c',
					here.replaceAll('curl ', 'curl --silent --show-error --fail-with-body '),
				])
				expect(output).not.toBe('')
			}
		})
	}
})
