// `remit api` beside a server of its own, as a person types it.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { newDatabase, type TestDatabase } from '../../../../test/databases.ts'
import { cli, inherited, Remit } from '../../../../test/remit.ts'
import { operations } from '../../../platform/contract/routes.ts'

const folder = mkdtempSync(join(tmpdir(), 'remit-api-'))
let database: TestDatabase
let remit: Remit
let use: Record<string, string>

beforeAll(async () => {
	database = await newDatabase(inject('database'), inject('template'))
	const { DATA_DIR = '' } = database.settings
	remit = new Remit({ DATA_DIR, NODE_ENV: 'test', NODE_OPTIONS: '--conditions=remit-source' }, folder)
	const { organizationId } = await remit.json(['organizations', 'create', '--name', 'First Ltd'])
	const { key } = await remit.json(['keys', 'create', '--organization', organizationId, '--scopes', 'all'])
	use = { REMIT_API_KEY: key, REMIT_BASE_URL: (await remit.serve()).url }
})
afterAll(async () => {
	remit.stop()
	await database.drop()
	rmSync(folder, { recursive: true, force: true })
})

const api = (line: string, input?: string) => remit.run(['api', ...line.split(' ')], use, input)
async function said(line: string, input?: string) {
	const { code, stdout, stderr } = await api(line, input)
	expect({ line, code, stderr }).toEqual({ line, code: 0, stderr: '' })
	return JSON.parse(stdout)
}

it('creates, changes, reads, lists and deletes a record', async () => {
	const { id } = await said('companies create --name Acme --billing-email billing@acme.example --idempotency-key one')
	expect(await said('companies create --name Acme --billing-email billing@acme.example --idempotency-key one')).toEqual({ id })
	expect(await said(`companies update ${id} --notes null --phone 030 --if-match "1"`)).toEqual({ ok: true })
	expect(await said(`companies get ${id} --if-none-match 2`)).toBeNull()
	expect(await said(`companies get ${id} --json`)).toMatchObject({ data: { name: 'Acme', phone: '030', version: 2 } })
	expect(await said('companies list --search acme --limit 1')).toMatchObject({ data: [{ id }], meta: { limit: 1 } })
	expect(await said(`companies delete ${id}`)).toEqual({ ok: true })
})

it('takes numbers, truth values and lists for what the contract says they are, and objects as JSON', async () => {
	const lines = { lineItems: [{ description: 'Workshop', quantity: 2, unitPriceCents: 500 }] }
	writeFileSync(join(folder, 'lines.json'), JSON.stringify(lines))
	const file = join(folder, 'lines.json')
	const { id } = await said(`invoices create --currency EUR --show-rate-breakdown true --data @${file}`)
	expect(await said(`invoices get ${id}`)).toMatchObject({ data: { totalCents: 1000, showRateBreakdown: true, currency: 'EUR' } })
	const other = await said('invoices create --data -', JSON.stringify({ totalCents: 700 }))
	const found = await said('invoices list --status draft,sent --total-min 600 --total-max 800 --sort-by totalCents')
	expect(found.data.map((invoice: { id: string }) => invoice.id)).toEqual([other.id])
})

it('asks through a proxy, but never for a server on this machine', async () => {
	const asked: string[] = []
	const { port, hostname } = new URL(use.REMIT_BASE_URL as string)
	const proxy = createServer().on('connect', ({ url = '' }, socket) => {
		asked.push(url)
		const server = connect(Number(port), hostname, () => {
			socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
			server.pipe(socket).pipe(server)
		})
	})
	await once(proxy.listen(0, '127.0.0.1'), 'listening')
	const http_proxy = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
	const throughProxy = { ...use, http_proxy, REMIT_BASE_URL: `http://remit.example:${port}` }
	expect(await remit.run(['api', 'companies', 'list'], throughProxy)).toMatchObject({ code: 0, stderr: '' })
	expect(asked).toEqual([`remit.example:${port}`])
	expect(await remit.run(['api', 'companies', 'list'], { ...use, http_proxy })).toMatchObject({ code: 0, stderr: '' })
	expect(asked).toHaveLength(1)
	proxy.close()
})

it('takes a key and an address that end in a line break', async () => {
	const broken = { REMIT_API_KEY: `${use.REMIT_API_KEY}\n`, REMIT_BASE_URL: `${use.REMIT_BASE_URL}\r\n` }
	const { code, stderr } = await remit.run(['api', 'companies', 'list', '--limit', '1'], broken)
	expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
})

it.each([
	[{ REMIT_BASE_URL: 'remit.example' }, '--url remit.example: must be an http or https URL'],
	[{ REMIT_BASE_URL: '127.0.0.1:3000' }, '--url 127.0.0.1:3000: must be an http or https URL'],
	[{ REMIT_BASE_URL: 'http://user:pw@127.0.0.1:9' }, '--url: must have no user name, password'],
	[{ REMIT_BASE_URL: 'https://user@remit.example' }, '--url: must have no user name, password'],
	[{ REMIT_BASE_URL: 'https://remit.example?a=b' }, '--url: must have no user name, password, query'],
	[{ REMIT_API_KEY: 'rmt_a b' }, '--api-key: must be one word of ASCII'],
])('says in one line what is wrong with %j', async (wrong, line) => {
	const { code, stderr } = await remit.run(['api', 'companies', 'list'], { ...use, ...wrong } as Record<string, string>)
	expect(code).toBe(1)
	expect(stderr).toContain(line)
	expect(stderr.trim().split('\n')).toHaveLength(1)
})

it('takes JSON that is piped in for the body', async () => {
	const { id } = await said('companies create', '{"name":"Piped"}')
	expect(await said(`companies get ${id}`)).toMatchObject({ data: { name: 'Piped' } })
	const wrong = await api('companies create', 'name: Piped')
	expect([wrong.code, wrong.stderr.trim().split('\n')]).toEqual([1, [expect.stringContaining('standard input: is not JSON')]])
})

it('leaves standard input alone beside fields: a loop may read ids from it', () => {
	const loop = 'while read name; do "$NODE" "$CLI" api companies create --name "$name" --json; done'
	const env = { ...remit.env, ...inherited, ...use, NODE: process.execPath, CLI: cli }
	const output = execFileSync('sh', ['-c', loop], { env, cwd: folder, input: 'One\nTwo\n', encoding: 'utf8' })
	expect(output.match(/"id"/g)).toHaveLength(2)
})

it('takes no text of another encoding', async () => {
	const file = join(folder, 'latin1.json')
	writeFileSync(file, Buffer.from('{"name":"Müller"}', 'latin1'))
	expect(await api(`companies create --data @${file}`)).toMatchObject({ code: 1, stderr: `--data @${file}: is not UTF-8\n` })
})

it('gives each record of all pages as a line of JSON', async () => {
	for (const name of ['One', 'Two', 'Three']) await said(`contacts create --name ${name}`)
	const { stdout } = await api('contacts list --all --limit 1')
	const names = stdout
		.trim()
		.split('\n')
		.map((line) => JSON.parse(line).name)
	expect(names).toEqual(['Three', 'Two', 'One'])
})

it('writes a file where it is told to', async () => {
	const { id } = await said('invoices create --total-cents 100')
	const output = join(folder, 'invoice.pdf')
	expect((await api(`invoices pdf ${id} --output ${output}`)).code).toBe(0)
	expect(readFileSync(output).subarray(0, 5).toString()).toBe('%PDF-')
})

it('says what is wrong in a sentence, with each place', async () => {
	const { code, stderr } = await api('invoices create --total-cents much --currency EUR --notes null --due-date soon')
	expect(code).toBe(1)
	expect(stderr).toMatch(/^400 invalid_request: .*\n {2}\/dueDate: .*\n {2}\/totalCents: .*\n$/)
	expect((await api('companies get cmp_unknown')).stderr).toMatch(/^404 company_not_found: /)
	expect((await api('companies create --data {')).stderr).toMatch(/^--data: is not JSON/)
	expect((await api('companies create --data @/nowhere')).stderr).toMatch(/^--data @\/nowhere: /)
	expect((await api('companies get')).stderr).toContain("missing required argument 'id'")
	const none = await remit.run(['api', 'companies', 'list'], { ...use, REMIT_API_KEY: '' })
	expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining('--api-key: a key is needed') })
})

it('has a command for every operation that a key may call', async () => {
	const groups = new Map<string, string[]>()
	for (const { id, sessionOnly, aliasOf } of operations) {
		if (sessionOnly || aliasOf) continue
		const names = id.split('.').map((name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`))
		const group = names.slice(0, -1).join(' ')
		groups.set(group, [...(groups.get(group) ?? []), names.at(-1) as string])
	}
	const missing: string[] = []
	for (const group of ['invoices', 'invoices client-link', 'webhooks endpoints', 'organization']) {
		const { stdout } = await api(`${group} --help`)
		missing.push(...(groups.get(group) ?? []).filter((name) => !new RegExp(`^ {2}${name} `, 'm').test(stdout)))
	}
	expect(missing).toEqual([])
})

it('calls what needs no key without one', async () => {
	const { id } = await said('invoices create --total-cents 100 --status sent')
	const { url } = await said(`invoices client-link create ${id}`)
	const token = url.split('/').at(-1)
	const { stdout } = await remit.run(['api', 'invoices', 'public', 'get', token], { ...use, REMIT_API_KEY: '' })
	expect(JSON.parse(stdout)).toMatchObject({ data: { totalCents: 100 } })
})
