// Completion in each shell, and profiles, as a person uses them.
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { needs } from '../../../../test/needs.ts'
import { cli, expectRefusal, Remit } from '../../../../test/remit.ts'
import { startRemit } from '../../../testing.ts'
import type { RunningRemit } from '../../../testing-types.d.ts'

const folder = mkdtempSync(join(tmpdir(), 'remit-shell-'))
const remit = new Remit({ HOME: folder, DATA_DIR: join(folder, 'data'), NODE_OPTIONS: '--conditions=remit-source' }, folder)
let server: RunningRemit
beforeAll(async () => {
	mkdirSync(join(folder, 'bin'))
	writeFileSync(join(folder, 'bin/remit'), `#!/bin/sh\nexec '${process.execPath}' --conditions=remit-source '${cli}' "$@"\n`)
	chmodSync(join(folder, 'bin/remit'), 0o755)
	server = await startRemit()
})
afterAll(async () => {
	await server.close()
	rmSync(folder, { recursive: true, force: true })
})

const complete = async (...words: string[]) => {
	const { code, stdout, stderr } = await remit.run(['complete', '--', ...words])
	expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
	return stdout.split('\n').slice(0, -1)
}
const words = (lines: readonly string[]) => lines.map((line) => line.split('\t')[0])

describe('completion', () => {
	it('knows commands, operations of the contract, options and their values', { timeout: 60_000 }, async () => {
		expect(await complete('api', 'invoices', 'client-link', 'cr')).toEqual([expect.stringMatching(/^create\tCreate a link/)])
		expect(words(await complete('api', 'invoices', 'list', '--sort'))).toEqual(['--sort-by', '--sort-order'])
		expect(words(await complete('api', 'invoices', 'list', '--status', 'p'))).toEqual(['paid'])
		expect(words(await complete('completion', ''))).toEqual(['bash', 'zsh', 'fish'])
		const first = words(await complete(''))
		expect(first).toEqual(expect.arrayContaining(['serve', 'api', 'profiles', 'completion']))
		expect(first).not.toContain('complete')
		expect(await complete('nothing', 'of', 'ours', '--zz')).toEqual([])
	})

	const shells = {
		bash: ['-c', 'source <(remit completion bash); COMP_WORDS=(remit api invo); COMP_CWORD=2; _remit; echo "$COMPREPLY"'],
		zsh: [
			'-f',
			'-c',
			`compdef() {}; _describe() { print -l "\${(@P)2}" }; source <(remit completion zsh); words=(remit api invo); CURRENT=3; _remit`,
		],
		fish: ['-c', 'remit completion fish | source; complete -C "remit api invo"'],
	}
	for (const [shell, args] of Object.entries(shells) as [keyof typeof shells, string[]][])
		needs(shell).it(`works in ${shell}`, () => {
			const env = { PATH: `${join(folder, 'bin')}${delimiter}${process.env.PATH}`, HOME: folder }
			const printed = execFileSync(shell, args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
			expect(printed).toMatch(/^invoices([\t:]Operations of invoices\.)?\n$/)
		})
})

describe('a profile', () => {
	it('stands for a server and a key, which no one else may read and no list shows', async () => {
		const saved = await remit.run(['profiles', 'save', 'local', '--url', server.url], {}, server.key)
		expect(saved).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Saved local in .*profiles\.json\.\n$/) })
		expect(statSync(join(folder, '.config/remit/profiles.json')).mode & 0o777).toBe(0o600)
		expect((await remit.run(['profiles', 'list'])).stdout).toBe(`local  ${server.url}  …${server.key.slice(-4)}\n`)
		expect(words(await complete('api', 'companies', 'list', '--profile', 'l'))).toEqual(['local'])
		const { id } = await remit.json(['api', 'companies', 'create', '--name', 'Acme', '--profile', 'local'])
		expect(await remit.json(['api', 'companies', 'get', id], { REMIT_PROFILE: 'local' })).toMatchObject({
			data: { name: 'Acme' },
		})
	})

	it('wins over the environment, and an option over it', async () => {
		const wrong = { REMIT_API_KEY: 'rmt_wrong', REMIT_BASE_URL: 'http://127.0.0.1:9' }
		expect((await remit.run(['connections', 'list', '--profile', 'local'], wrong)).code).toBe(0)
		const other = await remit.run(['api', 'companies', 'list', '--profile', 'local', '--api-key', 'rmt_wrong'])
		expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining('refuses the key') })
	})

	it('that there is not, or that others may read, is rejected by its name', async () => {
		expectRefusal(
			await remit.run(['api', 'companies', 'list', '--profile', 'prod']),
			/^--profile prod: there is none of this name/,
		)
		expectRefusal(await remit.run(['profiles', 'save', 'a b', '--url', server.url], {}, server.key), /^a b: a name has/)
		expectRefusal(
			await remit.run(['profiles', 'save', 'x', '--url', 'remit.example'], {}, server.key),
			/^--url remit\.example: must be/,
		)
		expectRefusal(await remit.run(['profiles', 'remove', 'x']), /^x: there is none/)
		chmodSync(join(folder, '.config/remit/profiles.json'), 0o644)
		expectRefusal(await remit.run(['profiles', 'list']), /profiles\.json: others may read the keys in it: chmod 600/)
		chmodSync(join(folder, '.config/remit/profiles.json'), 0o600)
		expect((await remit.run(['profiles', 'remove', 'local'])).code).toBe(0)
		expect(await remit.json(['profiles', 'list'])).toEqual([])
	})
})
