// The commands about connections, mappings and syncs, beside a server of their own with a stand-in of HubSpot.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Remit as Client } from '@remit/sdk'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { newDatabase, type TestDatabase } from '../../../../test/databases.ts'
import { needs } from '../../../../test/needs.ts'
import { browse, consent } from '../../../../test/oauth-server.ts'
import { cli, expectRefusal, Remit, type Served } from '../../../../test/remit.ts'
import { fromHubSpot } from '../../../../test/syncs.ts'
import { FakeHubSpot } from '../../../../test/vendors/hubspot.ts'

const folder = mkdtempSync(join(tmpdir(), 'remit-syncs-'))
let database: TestDatabase
let remit: Remit
let served: Served
let client: Client
let hubspot: FakeHubSpot
let use: Record<string, string>

beforeAll(async () => {
	hubspot = await new FakeHubSpot().start()
	database = await newDatabase(inject('database'), inject('template'))
	const { DATABASE_URL, DATA_DIR } = database.settings
	const settings = { ...hubspot.settings, EGRESS_ALLOW_CIDRS: '127.0.0.0/8', NODE_ENV: 'test', INTEGRATION_RATE_LIMIT: '0' }
	// From source, the commands need the SDK's source.
	const env = { ...(DATABASE_URL ? { DATABASE_URL } : { DATA_DIR }), NODE_OPTIONS: '--conditions=remit-source', ...settings }
	remit = new Remit(env, folder)
	const { organizationId } = await remit.json(['organizations', 'create', '--name', 'First Ltd'])
	const { key } = await remit.json(['keys', 'create', '--organization', organizationId, '--scopes', 'all'])
	served = await remit.serve()
	use = { REMIT_API_KEY: key, REMIT_BASE_URL: served.url }
	client = new Client({ apiKey: key, baseUrl: served.url })
})
afterAll(async () => {
	remit.stop()
	await hubspot.stop()
	await database.drop()
	rmSync(folder, { recursive: true, force: true })
})

const run = (args: readonly string[], input?: string) => remit.run(args, use, input)
const json = async (args: readonly string[], input?: string) => {
	const { code, stdout, stderr } = await run([...args, '--json'], input)
	return { code, stderr, said: JSON.parse(stdout) }
}
const connect = (...args: string[]) =>
	run(['connections', 'connect', 'hubspot', '--auth-type', 'api_key', ...args], `${hubspot.token}\n`)

/** A sync of a connection of its own, which has not run. */
async function newSync(name: string, more: object = {}): Promise<string> {
	await connect('--name', name)
	const connectionId = (await client.connections.list()).data.find((connection) => connection.name === name)?.id as string
	const { id: mappingId } = await client.mappings.create(fromHubSpot)
	const { id } = await client.syncs.create({ name: 'Test', connectionId, mappingId, direction: 'inbound', start: false, ...more })
	return id
}

it('a connection with a key: read from standard input, tested, and connected anew under its name', {
	timeout: 60_000,
}, async () => {
	const wrong = await run(['connections', 'connect', 'hubspot', '--auth-type', 'api_key'], 'pat-wrong-key-of-somebody')
	expectRefusal(wrong, /^The connection con_\w+ is failed: The provider answered 401/)
	const right = await connect()
	expect(right).toMatchObject({
		code: 0,
		stderr: '',
		stdout: expect.stringMatching(/^Connected con_\w+ \(HubSpot\), the account 62515001/),
	})
	for (const { stdout, stderr } of [wrong, right]) expect(stdout + stderr).not.toMatch(/pat-wrong|pat-eu/)
	expect(right.stdout + right.stderr).not.toContain(hubspot.token)
	const listed = await run(['connections', 'list'])
	expect(listed.stdout).toMatch(/^con_\w+ {2}hubspot {2}active {2}.* {2}HubSpot\n$/)
	expect((await json(['connections', 'list'])).said).toHaveLength(1)
})

it('a connection by consent: it shows the page, and waits until the person has let Remit in', { timeout: 60_000 }, async () => {
	const connecting = remit.begin(['connections', 'connect', 'hubspot', '--name', 'By consent'], use)
	const page = () => /^ {2}(http\S+)$/m.exec(connecting.errors())?.[1]
	await expect.poll(page, { timeout: 20_000 }).toBeDefined()
	await consent(await browse(page() as string, `${served.url}/oauth/callback`))
	await expect
		.poll(() => connecting.lines().join(), { timeout: 20_000 })
		.toMatch(/^Connected con_\w+ \(By consent\), the account 62515001/)
})

it('says in one line what speaks against a connection', { timeout: 60_000 }, async () => {
	const fails = async (line: RegExp, args: string[], input = '') =>
		expectRefusal(await run(['connections', 'connect', ...args], input), line)
	await fails(/^salesforce: is none of the providers hubspot, xero/, ['salesforce'])
	await fails(/^--auth-type basic: hubspot has /, ['hubspot', '--name', 'New', '--auth-type', 'basic'])
	await fails(/^--auth-type oauth2: the connection con_\w+ has api_key; choose another --name/, [
		'hubspot',
		'--auth-type',
		'oauth2',
	])
	await fails(/^API key: is needed, as line 1 of standard input/, ['hubspot', '--name', 'New', '--auth-type', 'api_key'])
	await fails(/^Password: is needed, as line 2/, ['http_json', '--auth-type', 'basic'], 'somebody\n')
	await fails(/^--config \S+: ENOENT/, ['http_json', '--auth-type', 'api_key', '--config', join(folder, 'none.json')], 'key')
	writeFileSync(join(folder, 'config.json'), '{"baseUrl": "http://10.0.0.7"}')
	await fails(
		/^422 unsafe_url: .*EGRESS_ALLOW_CIDRS/,
		['http_json', '--auth-type', 'api_key', '--config', join(folder, 'config.json')],
		'key',
	)
	await fails(/^--api-key: a key is needed/, ['hubspot', '--api-key', ''])
	expectRefusal(await run(['syncs', 'run', 'syn_unknown']), /^404 sync_not_found/)
})

it('previews a mapping of records from standard input', { timeout: 60_000 }, async () => {
	await client.companies.create({ name: 'Old name', domain: 'known.example' })
	const { id } = await client.mappings.create(fromHubSpot)
	const records = [
		{ properties: { name: 'New name', domain: 'known.example' } },
		{ properties: { name: 'A\u001b[31mB' } },
		{ properties: { name: 'New', domain: 'new.example' } },
	]
	const shown = await run(['mappings', 'preview', id], JSON.stringify({ results: records }))
	expect(shown).toMatchObject({ code: 0, stderr: '' })
	const [update, fail, create] = shown.stdout.split('\n')
	expect(update).toMatch(/^update {2}cmp_\w+ {2}name: "Old name" → "New name"/)
	expect(create).toMatch(/^create {2}- +name: "New", domain: "new.example"/)
	expect(shown.stdout).not.toContain('\u001b')
	expect(fail).toMatch(/^fail {4}- +✗ name: /)
	const many = Array.from({ length: 30 }, () => records[0])
	expect((await json(['mappings', 'preview', id], JSON.stringify(many))).said).toHaveLength(30)
	expectRefusal(await run(['mappings', 'preview', id], 'no json'), /^Standard input is no JSON/)
	expectRefusal(await run(['mappings', 'preview', id], '[1]'), /^Standard input has no list of records/)
	expectRefusal(await run(['mappings', 'preview', id], ''), /^Records are needed/)
})

it('runs a sync: a line for each change, its errors at the end, and how it ended as the exit code', {
	timeout: 90_000,
}, async () => {
	hubspot.companies.clear()
	for (let n = 0; n < 20; n++) hubspot.seed('companies', 1, { at: Date.now() - 90_000_000 + n * 60_000 })
	const id = await newSync('First')
	expect((await run(['syncs', 'list'])).stdout).toMatch(/^syn_\w+ {2}inbound {2}idle {2}last run: none {2}no next run {2}Test\n$/)
	const first = await run(['syncs', 'run', id])
	expect(first).toMatchObject({ code: 0, stderr: '' })
	expect(first.stdout).toMatch(/^succeeded {2}20 read {2}20 created {2}1 page, \d+\.\d kB$/m)
	for (const { id: company } of hubspot.companies.list().slice(0, 12)) hubspot.companies.change(company, { name: '' })
	const second = await run(['syncs', 'run', id, '--full'])
	expect(second.code).toBe(2)
	expect(second.stdout).toMatch(/^partially_succeeded {2}20 read {2}8 unchanged {2}12 failed/m)
	expect(second.stdout.match(/^ {2}\d+ {2}name {2}required {2}/gm)).toHaveLength(10)
	expect(second.stdout).toMatch(/and 2 more: remit syncs errors syn_\w+\n$/)
	expect((await run(['syncs', 'errors', id])).stdout.trim().split('\n')).toHaveLength(12)
	for (const { id: company } of hubspot.companies.list().slice(0, 12)) hubspot.companies.change(company, { name: 'Mended' })
	const third = await json(['syncs', 'run', id, '--failed'])
	expect(third).toMatchObject({ code: 0, said: { mode: 'failed', status: 'succeeded', errors: [] } })
	expectRefusal(await run(['syncs', 'run', id, '--failed', '--full']), /^--full and --failed: choose one/)
})

it('a run that would delete too much ends the command, which says how to see what, and how to decide', {
	timeout: 90_000,
}, async () => {
	hubspot.companies.clear()
	for (let n = 0; n < 20; n++) hubspot.seed('companies', 1, { at: Date.now() - 90_000_000 + n * 60_000 })
	const id = await newSync('Second', { deletePolicy: 'delete' })
	expect((await run(['syncs', 'run', id])).code).toBe(0)
	for (const { id: company } of hubspot.companies.list().slice(0, 15)) hubspot.companies.remove(company)
	const stopped = await run(['syncs', 'run', id, '--full'])
	expect(stopped.code).toBe(1)
	const [see, yes, no] = ['deletions', 'confirm', 'cancel'].map((name) => `remit syncs ${name} ${id}`)
	const said = `To see them: ${see}\nTo delete them: ${yes}\nTo delete nothing: ${no}\n`
	expect(stopped.stdout).toMatch(new RegExp(`^waiting .*\n${said}$`, 'm'))
	const found = await run(['syncs', 'deletions', id])
	expect(found).toMatchObject({ code: 0, stderr: '' })
	expect(found.stdout.match(/^\d+ {2}cmp_\w+$/gm)).toHaveLength(15)
	expect((await json(['syncs', 'deletions', id])).said).toHaveLength(15)
	expect((await run(['syncs', 'cancel', id])).stdout).toBe(`${id} runs no more.\n`)
	expect((await run(['syncs', 'deletions', id])).stdout).toBe('None.\n')
	expect((await run(['syncs', 'run', id, '--full'])).stdout).toContain(said)
	expectRefusal(await run(['syncs', 'run', id, '--full']), /--full has to wait for its end/)
	const confirmed = await run(['syncs', 'confirm', id])
	expect(confirmed).toMatchObject({ code: 0, stdout: expect.stringMatching(/^succeeded {2}.* {2}15 deleted {2}/m) })
	expectRefusal(await run(['syncs', 'confirm', id]), /^409 nothing_to_confirm/)
})

it('a run that fails is exit code 1', { timeout: 60_000 }, async () => {
	const id = await newSync('Third', { errorPolicy: 'stop' })
	hubspot.companies.clear()
	hubspot.seed('companies', 2, { at: Date.now() - 90_000_000 })
	for (const { id: company } of hubspot.companies.list()) hubspot.companies.change(company, { name: '' })
	const { code, stdout } = await run(['syncs', 'run', id, '--full'])
	expect(code).toBe(1)
	expect(stdout).toMatch(/^failed {2}/m)
})

it('a run that is under way is followed, and says what it waits for', { timeout: 60_000 }, async () => {
	hubspot.companies.clear()
	for (let n = 0; n < 3; n++) hubspot.seed('companies', 1, { at: Date.now() - 90_000_000 + n * 60_000 })
	const id = await newSync('Fourth')
	hubspot.meet([{ kind: 'rate_limited', retryAfter: 4 }])
	const begun = await client.syncs.run(id)
	await expect.poll(async () => (await client.syncs.get(id)).lastRun?.status, { timeout: 20_000 }).toBe('waiting')
	const { said } = await json(['syncs', 'run', id])
	expect(said).toMatchObject({ id: begun.id, status: 'succeeded', progress: { created: 3 } })
})

it('mends by hand: who is who, and who is right', { timeout: 90_000 }, async () => {
	hubspot.companies.clear()
	await connect('--name', 'By hand')
	const { id: connection = '' } = (await client.connections.list()).data.find(({ name }) => name === 'By hand') ?? {}
	const created = await run(['mappings', 'create'], JSON.stringify(fromHubSpot))
	expect(created).toMatchObject({ code: 0, stdout: expect.stringMatching(/^map_\w+\n$/) })
	const mapping = created.stdout.trim()
	const line = new RegExp(`^${mapping} {2}active {2}hubspot companies → internal company {2}From HubSpot$`, 'm')
	expect((await run(['mappings', 'list'])).stdout).toMatch(line)
	const options = ['--connection', connection, '--mapping', mapping, '--conflicts', 'manual', '--every', '15', '--no-start']
	const id = (await run(['syncs', 'create', ...options])).stdout.trim()
	expect(await client.syncs.get(id)).toMatchObject({ conflictPolicy: 'manual', schedule: { minutes: 15 }, lastRun: null })
	expectRefusal(await run(['syncs', 'create', ...options, '--cron', '0 6 * * *']), /^--every and --cron: choose one/)
	expectRefusal(await run(['syncs', 'create', ...options, '--every', '1.5']), /^--every 1\.5: is no number of minutes/)
	for (const name of ['One', 'Two']) await client.companies.create({ name, domain: 'twin.example' })
	const { id: theirs } = hubspot.companies.put({ name: 'Theirs', domain: 'twin.example' }, { at: Date.now() - 90_000_000 })
	await run(['syncs', 'run', id])
	expect((await run(['syncs', 'list'])).stdout).toContain('last run: partially_succeeded, open errors: 1')
	const several = (await run(['syncs', 'errors', id])).stdout
	expect(several).toMatch(/^rer_\w+ {2}\d+ {2}- {2}several_matches {2}Several records match it\. cmp_\w+, cmp_\w+\n$/)
	const [company = ''] = /cmp_\w+/.exec(several) ?? []
	expect((await run(['syncs', 'link', id, theirs, company])).stdout).toBe(`${theirs} and ${company} are linked.\n`)
	expectRefusal(await run(['syncs', 'link', id, theirs, company]), /^409 linked_already/)
	expect((await run(['syncs', 'run', id])).code).toBe(2)
	const conflicts = (await run(['syncs', 'errors', id])).stdout
	expect(conflicts).toMatch(/ name: "Theirs" there, "(One|Two)" here\.$/m)
	const [error = ''] = /^rer_\w+(?=.*conflict)/m.exec(conflicts) ?? []
	expect((await run(['syncs', 'resolve', id, error, 'source'])).stdout).toMatch(
		/^The next run of syn_\w+ writes what the source has/,
	)
	expect((await run(['syncs', 'errors', id])).stdout).toContain('(the next run uses the source)')
	expect((await run(['syncs', 'run', id])).code).toBe(0)
	expect(await client.companies.get(company)).toMatchObject({ name: 'Theirs' })
	expect((await run(['syncs', 'pause', id])).stdout).toBe(`${id} is paused.\n`)
	expect((await run(['syncs', 'resume', id])).stdout).toBe(`${id} is resumed.\n`)
	expectRefusal(await run(['syncs', 'cancel', id]), /^409 no_active_run/)
	hubspot.companies.clear()
})

needs('script').it(
	'on a terminal a secret is not shown, and a run is one line that is written again',
	{ timeout: 60_000 },
	async () => {
		const onTerminal = async (args: string, input?: string) => {
			const env = { ...remit.env, ...use, PATH: process.env.PATH }
			const child = spawn('script', ['-qec', `'${process.execPath}' '${cli}' ${args}`, '/dev/null'], { env })
			let stdout = ''
			child.stdout.on('data', (data) => {
				// Once the prompt is there.
				if (stdout === '' && input !== undefined) child.stdin.write(`${input}\r`)
				stdout += data
			})
			const [status] = await once(child, 'close')
			return { status, stdout }
		}
		const connected = await onTerminal('connections connect hubspot --name Asked --auth-type api_key', hubspot.token)
		expect(connected).toMatchObject({
			status: 0,
			stdout: expect.stringMatching(/API key of HubSpot: .*Connected con_\w+ \(Asked\)/s),
		})
		expect(connected.stdout).not.toContain(hubspot.token)
		const id = await newSync('Fifth')
		const clearLine = '\r\u001b\\[2K'
		expect((await onTerminal(`syncs run ${id}`)).stdout).toMatch(new RegExp(`^${clearLine}queued.*${clearLine}succeeded .*\r\n$`))
	},
)
