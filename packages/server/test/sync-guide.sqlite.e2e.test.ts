// docs/guides/sync.md: a newcomer's server, and each command as a reader enters it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { newDatabase, type TestDatabase } from './databases.ts'
import { blocksOf, GuideMachine } from './guide.ts'
import { type Environment, Remit, type Served } from './remit.ts'

const folder = mkdtempSync(join(tmpdir(), 'remit-sync-guide-'))
// From source, the server and the commands need the SDK's source.
const NODE_OPTIONS = '--conditions=remit-source'
let database: TestDatabase
let remit: Remit
let served: Served
const known: Environment = { NODE_OPTIONS }

beforeAll(async () => {
	database = await newDatabase(inject('database'), inject('template'))
	const { DATABASE_URL, DATA_DIR } = database.settings
	const settings = { NODE_ENV: 'development', INTEGRATION_RATE_LIMIT: '0', NODE_OPTIONS }
	remit = new Remit({ ...(DATABASE_URL ? { DATABASE_URL } : { DATA_DIR }), ...settings }, folder)
	served = await remit.serve({}, ['--demo'])
	Object.assign(known, { REMIT_BASE_URL: served.url, REMIT_API_KEY: served.key })
})
afterAll(async () => {
	remit.stop()
	await database.drop()
	rmSync(folder, { recursive: true, force: true })
})

const machine = new GuideMachine(join(folder, 'machine'), {})

async function run(...blocks: (string | undefined)[]): Promise<string> {
	const script = blocks
		.map((block) => block?.replaceAll('curl ', 'curl --silent --show-error --fail-with-body ').replace(/^export .*$/m, ''))
		.join('\n')
	const result = await machine.run([script], known)
	expect({ script, ...result }).toMatchObject({ code: 0, stderr: '' })
	return result.stdout
}

const section = (heading: string) => blocksOf('sync', heading)
/** Keeps an id that a block printed under the name that the guide gives it. */
const keep = (name: string, printed: string, prefix: string) => {
	const id = new RegExp(`${prefix}_\\w+`).exec(printed)?.[0]
	expect(id).toBeDefined()
	known[name] = id as string
}

it('each command does what the guide says', { timeout: 180_000 }, async () => {
	const [list, first, remove] = section('See one move')
	keep('sync', await run(list), 'syn')
	expect(await run(first)).toMatch(/^succeeded {2}/m)
	expect(await run(remove)).toContain('"ok":true')

	keep('connection', await run(...section('Connect')), 'con')
	const [create, preview] = section('Map')
	keep('mapping', await run(create), 'map')
	expect((await run(preview)).split('\n').filter((line) => /^(update|unchanged) /.test(line))).toHaveLength(5)
	const [begin, ...runs] = section('Run')
	keep('sync', await run(begin), 'syn')
	expect(await run(...runs)).toMatch(/^succeeded {2}12 read {2}/m)

	const changed = await run(...section('Change something, and break something'))
	expect(changed).toMatch(/^partially_succeeded .* 1 failed.*\n {2}105 {2}name {2}.*\nexit code 2\nrer_\w+ {2}105 {2}name {2}/m)
	expect(changed).toMatch(/^succeeded {2}1 read {2}1 updated/m)

	expect(await run(...section('Mend a wrong link'))).toMatch(
		/^106 {2}cmp_\w+ {2}linked$.*^The link of 106 is gone\.$.*^succeeded {2}.*^107 and cmp_\w+ are linked\.$.*^succeeded {2}/ms,
	)

	const braked = await run(...section('Deletions and the brake'))
	expect(braked).toMatch(
		/^waiting .*\nTo see them: .*\nTo delete them: remit syncs confirm syn_\w+\nTo delete nothing: .*\nexit code 1\n/m,
	)
	expect(braked.match(/^1\d\d {2}cmp_\w+$/gm)).toHaveLength(11)
	expect(braked).toMatch(/^succeeded {2}.* {2}11 deleted {2}/m)
	expect(await run(...section('Schedules'))).toMatch(/"ok":true.*syn_\w+ is paused\.\nsyn_\w+ is resumed\.\n$/s)

	const [reverse, both, move] = section('Both ways')
	keep('back', await run(reverse), 'map')
	keep('sync', (await run(both)).replace(/^.*"ok":true.*?}/s, ''), 'syn')
	const moved = await run(move)
	expect(moved.match(/^succeeded {2}/gm)).toHaveLength(2)
	expect(moved).toContain('"name":"Made in Remit"')
})
