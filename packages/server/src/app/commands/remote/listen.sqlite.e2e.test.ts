// The command `remit listen` beside a server of its own, with a receiver on this machine.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Remit as Client } from '@remit/sdk'
import { afterAll, afterEach, beforeAll, expect, inject, it } from 'vitest'
import { newDatabase, type TestDatabase } from '../../../../test/databases.ts'
import { type Begun, expectRefusal, Remit, type Served } from '../../../../test/remit.ts'
import { Sink } from '../../../../test/sink.ts'
import { newSecret } from '../../../integration/webhooks/signature.ts'

const folder = mkdtempSync(join(tmpdir(), 'remit-listen-'))
let database: TestDatabase
let remit: Remit
let served: Served
let client: Client
let key: string
let sink: Sink
beforeAll(async () => {
	database = await newDatabase(inject('database'), inject('template'))
	const { DATABASE_URL, DATA_DIR } = database.settings
	// From source, the command needs the SDK's source.
	const env = { ...(DATABASE_URL ? { DATABASE_URL } : { DATA_DIR }), NODE_OPTIONS: '--conditions=remit-source' }
	remit = new Remit(env, folder)
	const { organizationId } = await remit.json(['organizations', 'create', '--name', 'First Ltd'])
	key = (await remit.json(['keys', 'create', '--organization', organizationId, '--scopes', 'all'])).key
	served = await remit.serve()
	client = new Client({ apiKey: key, baseUrl: served.url })
})
afterEach(async () => sink?.stop())
afterAll(async () => {
	remit.stop()
	await database.drop()
	rmSync(folder, { recursive: true, force: true })
})

const wait = { timeout: 20_000 }
const companies = async (...names: string[]) => {
	for (const name of names) await client.companies.create({ name })
}
const namesIn = ({ received }: Sink) => received.map(({ event }) => ('name' in event.data ? event.data.name : event.type))
const arrived = (...names: string[]) => expect.poll(() => namesIn(sink), wait).toEqual(names)
const listen = (...args: string[]) =>
	remit.begin(['listen', '--url', served.url, '--forward-to', sink.url, ...args], { REMIT_API_KEY: key })
const lastOf = (listening: Begun) => () => JSON.parse(listening.lines().at(-1) ?? '{}')
const began = (listening: Begun) => expect.poll(() => listening.lines().length, wait).toBeGreaterThan(0)

it('forwards events, signed, also after the receiver was away', { timeout: 60_000 }, async () => {
	sink = await new Sink().start()
	const secret = newSecret()
	sink.secrets.push(secret)
	await companies('Too early')
	const listening = listen('--json', '--secret', secret, '--events', 'company.*,webhook.test')
	await began(listening)
	const last = lastOf(listening)
	expect(last()).toEqual({ url: served.url, forwardTo: sink.url, events: ['company.*', 'webhook.test'], secret })
	await companies('First')
	await client.contacts.create({ name: 'Ada' })
	await arrived('First')
	const { event, body, headers } = sink.received[0] as Sink['received'][0]
	expect(event).toEqual(await client.webhooks.events.get(event.id))
	expect(JSON.parse(body)).toEqual(event)
	expect(headers).toMatchObject({ 'webhook-id': event.id, 'content-type': 'application/json' })
	await expect
		.poll(last, wait)
		.toMatchObject({ id: event.id, type: 'company.created', status: 204, durationMs: expect.any(Number) })

	const port = Number(new URL(sink.url).port)
	await sink.stop()
	await companies('Nobody is there')
	await expect.poll(last, wait).toMatchObject({ type: 'company.created', error: expect.stringContaining('ECONNREFUSED') })
	sink = await new Sink().start('127.0.0.1', port)
	sink.secrets.push(secret)
	sink.answer = (_, count) => ({ status: count === 1 ? 500 : 204 })
	await companies('Second')
	await arrived('Second')
	await expect.poll(last, wait).toMatchObject({ status: 500 })
	await companies('Third')
	await arrived('Second', 'Third')
	expect(sink.problems).toEqual([])
	await listening.end('SIGINT')
})

it('survives a restart of the server, and says where it ended', { timeout: 60_000 }, async () => {
	sink = await new Sink().start()
	const secret = newSecret()
	sink.secrets.push(secret)
	const listening = listen('--json', '--secret', secret)
	await began(listening)
	const last = lastOf(listening)
	const PORT = new URL(served.url).port
	await served.end('SIGTERM')
	await expect.poll(listening.errors, wait).toContain('The server is away, trying again: ')
	served = await remit.serve({ PORT })
	await companies('Back')
	await arrived('Back')
	await expect.poll(last, wait).toMatchObject({ status: 204 })
	expect(listening.errors()).toContain('The server answers again.')
	expect(await listening.end('SIGINT')).toEqual([0, null])
	expect(last()).toEqual({ cursor: expect.stringMatching(/^\d+$/) })

	await companies('Fourth')
	sink.received.length = 0
	const next = listen('--secret', secret, '--cursor', last().cursor, '--events', 'company.created')
	await arrived('Fourth')
	await expect.poll(() => next.lines().length, wait).toBe(3)
	expect(await next.end('SIGTERM')).toEqual([0, null])
	expect(next.lines()[0]).toBe(`Forwarding company.created of ${served.url} to ${sink.url}. Ctrl-C ends it.`)
	expect(next.lines()[1]).toBe(`They are signed with ${secret}`)
	expect(next.lines()[2]).toMatch(/^\d\d:\d\d:\d\d {2}company.created {2}cmp_\w+ {2}evt_\w+ {2}→ 204 in \d+ ms$/)
	expect(next.lines()[3]).toMatch(/^To go on from here: --cursor \d+$/)
})

it('begins with the last events, or with those since a time', { timeout: 60_000 }, async () => {
	sink = await new Sink().start()
	const secret = newSecret()
	sink.secrets.push(secret)
	await companies('One', 'Two', 'Three')
	const replaying = listen('--replay', '2', '--secret', secret)
	await arrived('Two', 'Three')
	await companies('Four')
	await arrived('Two', 'Three', 'Four')
	await replaying.end('SIGINT')
	sink.received.length = 0
	const since = listen('--since', '10m', '--secret', secret, '--events', 'company.created')
	await expect.poll(() => namesIn(sink).slice(-4), wait).toEqual(['One', 'Two', 'Three', 'Four'])
	await since.end('SIGINT')
})

it('says in one line what is wrong with the key, the server or an option', { timeout: 60_000 }, async () => {
	sink = await new Sink().start()
	const fails = async (line: RegExp, ...args: string[]) => {
		const all = ['listen', '--url', served.url, '--forward-to', sink.url, '--api-key', key, ...args]
		expectRefusal(await remit.run(all), line)
	}
	await fails(/^--api-key: http:.* refuses the key: 401 /, '--api-key', 'rmt_wrong')
	const gone = await new Sink().start()
	const { url } = gone
	await gone.stop()
	await fails(/^--url http:\S+: No complete answer .*ECONNREFUSED/, '--url', url)
	await fails(/^--url \S+: 404 /, '--url', `${served.url}/elsewhere`)
	await fails(/^--url \S+: 400 Unexpected error answer/, '--url', sink.url)
	await fails(/^--url nowhere: must be/, '--url', 'nowhere')
	await fails(/^--forward-to ftp:\/\/a: must be an http or https URL/, '--forward-to', 'ftp://a')
	await fails(/^--events invoice.payed: no event is invoice.payed/, '--events', 'invoice.payed')
	await fails(/^--secret: must be whsec_/, '--secret', 'whsec_short')
	await fails(/^--since yesterday: must be a time/, '--since', 'yesterday')
	await fails(/^--replay 0: must be a number from 1 to 100/, '--replay', '0')
	expectRefusal(await remit.run(['listen', '--forward-to', sink.url]), /^--api-key: a key is needed/)
})
