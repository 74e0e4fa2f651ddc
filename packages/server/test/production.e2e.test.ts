// docs/guides/production.md: its settings start a server, its commands do what it says, and its unit is what systemd takes.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, it } from 'vitest'
import { readConfig, settings } from '../src/config.ts'
import { blocksOf, GuideMachine } from './guide.ts'
import { expectRefusal, Remit } from './remit.ts'

const folder = mkdtempSync(join(tmpdir(), 'remit-production-'))
const machine = new GuideMachine(folder, {})
const remit = new Remit({ DATA_DIR: join(folder, 'var/lib/remit') }, folder)
afterEach(() => remit.stop())
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const blockOf = (heading: string, language = 'sh') => blocksOf('production', heading, language)[0] as string

it('names settings that exist, with values that they take', () => {
	const lines = blockOf('Settings', 'env').trim().split('\n')
	const environment = Object.fromEntries(
		lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
	)
	expect(Object.keys(environment).filter((name) => !(name in settings))).toEqual([])
	expect(readConfig(environment)).toMatchObject({ TRUST_PROXY: 1, BASE_URL: 'https://invoices.example.com' })
	const container = [...blockOf('Container', 'dockerfile').matchAll(/\b([A-Z_]+)=/g)].map(([, name = '']) => name)
	const ofTheSystem = ['MALLOC_ARENA_MAX', 'MALLOC_TRIM_THRESHOLD_']
	expect(container.filter((name) => !(name in settings))).toEqual(ofTheSystem)
})

it('has a unit that systemd can read', () => {
	const unit = join(folder, 'remit.service')
	writeFileSync(
		unit,
		blockOf('systemd', 'ini')
			.replace(/ExecStart=\S+/, `ExecStart=${process.execPath}`)
			.replace('User=remit', 'User=root'),
	)
	const verified = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' })
	if (verified.error)
		expect(blockOf('systemd', 'ini')).toMatch(/^ExecStart=\/opt\/remit\/node_modules\/node\/bin\/node .*remit\.js serve$/m)
	else expect(verified.stderr).not.toMatch(/remit\.service:\d+/)
})

it('creates an organization and a key, answers the health checks, and erases', { timeout: 90_000 }, async () => {
	mkdirSync(join(folder, 'etc'), { recursive: true })
	writeFileSync(join(folder, 'etc/remit.env'), blockOf('Settings', 'env').replace('/var/lib', join(folder, 'var/lib')))
	const created = await machine.run([blockOf('Settings')])
	expect(created).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/rmt_\w{38}\n$/) })
	const key = /rmt_\w+/.exec(created.stdout)?.[0] as string
	const { url } = await remit.serve()
	const checks = blockOf('TLS, HSTS and the proxy')
		.replaceAll('http://127.0.0.1:3000', url)
		.replaceAll('curl ', 'curl --silent --show-error ')
	expect(await machine.run([checks])).toMatchObject({ code: 0, stderr: '' })
	const post = async (path: string, body: object) => {
		const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
		return (await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })).json() as Promise<{ id: string }>
	}
	await post('/api/contacts', { name: 'Ada', email: 'Ada@client.example' })
	for (const to of ['ada@client.example', 'bob@client.example']) {
		const { id } = await post('/api/invoices', { totalCents: 100 })
		expect(await post(`/api/invoices/${id}/send`, { to })).toMatchObject({ ok: true })
	}
	const mails = join(remit.env.DATA_DIR as string, 'mail')
	const files = () => readdirSync(mails).map((name) => readFileSync(join(mails, name), 'utf8'))
	expect(files()).toHaveLength(2)
	const [{ organizationId }] = await remit.json(['organizations', 'list'])
	const refusals: [string[], RegExp][] = [
		[
			['people', 'erase', 'ada@client.example', '--organization', organizationId],
			/blanks .*Ada.*deletes 1 e-mail files: \S+-mail_\S+\.eml; .*--yes/,
		],
		[['organizations', 'erase', organizationId], /My company.*deletes 2 e-mail files: .*backup.*--yes/],
		[['people', 'erase', 'ct_unknown', '--organization', organizationId, '--yes'], /no such contact/],
	]
	await Promise.all(refusals.map(async ([args, line]) => expectRefusal(await remit.run(args), line)))
	const erased = await machine.run([blockOf('Erase')], { organization: organizationId, DATA_DIR: remit.env.DATA_DIR as string })
	expect(erased).toMatchObject({
		code: 0,
		stderr: '',
		stdout: /Erased the person from \d+ rows and 1 e-mail files.*Erased org_\S+ \d+ rows and 1 e-mail files/s,
	})
	expect(files()).toEqual([])
	expect((await remit.json(['organizations', 'list']))[0]).toMatchObject({ name: 'Erased' })
})
