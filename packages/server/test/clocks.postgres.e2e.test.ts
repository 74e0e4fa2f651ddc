// Processes on machines whose clocks differ: the database's clock decides, so that none takes what another has.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { readConfig } from '../src/config.ts'
import { openDatabase } from '../src/platform/db/drivers/open.ts'
import { openClock } from '../src/platform/work/clock-store.ts'
import { DatabaseProxy } from './database-proxy.ts'
import { startTestServer, type TestServer } from './harness.ts'
import { Remit, type Served } from './remit.ts'
import { Sink } from './sink.ts'

const folder = mkdtempSync(join(tmpdir(), 'remit-clocks-'))
const shift = fileURLToPath(new URL('shift-clock.ts', import.meta.url))
let api: TestServer
let remit: Remit
beforeAll(async () => {
	api = await startTestServer({ ROLE: 'api' })
	const { DATABASE_URL, ENCRYPTION_KEYS } = api.settings as Record<string, string>
	const settings = { DATABASE_URL, ENCRYPTION_KEYS, EGRESS_ALLOW_CIDRS: '127.0.0.0/8', INVOICING_RATE_LIMIT: '0' }
	remit = new Remit(settings as Record<string, string>, folder)
})
afterAll(async () => {
	remit.stop()
	await api.close()
	rmSync(folder, { recursive: true, force: true })
})

/** A server whose clock is as far ahead, or behind. */
const serveAhead = (seconds: number, more: Record<string, string> = {}) =>
	remit.serve({ NODE_OPTIONS: `--import=${shift}`, CLOCK_AHEAD_MS: String(seconds * 1_000), LOG_LEVEL: 'warn', ...more })

const signal = ({ pid }: Served, name: NodeJS.Signals) => process.kill(pid, name)

it.each([
	['behind', -60],
	['ahead', 60],
])('a delivery that a worker has whose clock is %s is made at once, and by no other one meanwhile', async (_, seconds) => {
	const tenant = await api.newTenant()
	const sink = await new Sink().start()
	onTestFinished(() => sink.stop())
	const answered = Promise.withResolvers<{ status: number }>()
	sink.answer = ({ event }) => (event.type === 'invoice.created' ? answered.promise : { status: 204 })
	await sink.subscribe(tenant.remit, '*')
	const types = async (count: number) => (await sink.events(count)).map(({ type }) => type)

	const apart = await serveAhead(seconds, { ROLE: 'worker' })
	await tenant.remit.invoices.create({ totalCents: 100 })
	expect(await types(1)).toEqual(['invoice.created'])
	signal(apart, 'SIGSTOP')
	const exact = await serveAhead(0, { ROLE: 'worker' })
	await tenant.remit.companies.create({ name: 'One' })
	await types(2)
	await tenant.remit.companies.create({ name: 'Two' })
	expect(await types(3)).toEqual(['invoice.created', 'company.created', 'company.created'])
	signal(apart, 'SIGCONT')
	answered.resolve({ status: 204 })
	await expect.poll(async () => (await tenant.remit.webhooks.deliveries.list({ status: 'succeeded' })).data.length).toBe(3)
	expect(sink.problems).toEqual([])
	await Promise.all([apart.end('SIGTERM'), exact.end('SIGTERM')])
})

it('what a server stores whose clock is wrong has the time of the database, and the log says by how much it is wrong', async () => {
	const { key } = api
	const apart = await serveAhead(30)
	const began = Date.now()
	const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': 'once' }
	const create = (url: string) => fetch(`${url}/api/companies`, { method: 'POST', headers, body: '{"name":"Timely"}' })
	const created = (await (await create(apart.url)).json()) as { id: string }
	const { data } = (await api.ask('GET', `/api/companies/${created.id}`)).body
	expect(Math.abs(data.createdAt - began)).toBeLessThan(5_000)
	expect((await create(api.url)).headers.get('idempotent-replayed')).toBe('true')
	const warned = apart.lines().filter((line) => line.includes('clock'))
	expect(warned).toEqual([expect.stringContaining('the clock of this machine is 30 s ahead of the one of the database')])
	await apart.end('SIGTERM')
})

it('a command goes by the time of the database too', async () => {
	const shifted = { NODE_OPTIONS: `--import=${shift}`, CLOCK_AHEAD_MS: String(3_600_000) }
	const asked = ['keys', 'create', '--organization', api.organizationId, '--scopes', 'all', '--expires-in', '1h']
	const { expiresAt } = await remit.json(asked, shifted)
	expect(Math.abs(expiresAt - Date.now() - 3_600_000)).toBeLessThan(10_000)
})

it('A clock that jumps a day ahead makes nothing twice, from the next request on', async () => {
	const { key } = api
	const jumping = await serveAhead(0)
	const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': 'before and after' }
	const create = async () => {
		const answer = await fetch(`${jumping.url}/api/invoices`, { method: 'POST', headers, body: '{"totalCents":100}' })
		return { replayed: answer.headers.get('idempotent-replayed'), ...((await answer.json()) as { id: string }) }
	}
	const { id } = await create()
	signal(jumping, 'SIGUSR2')
	expect(await create()).toMatchObject({ id, replayed: 'true' })
	await jumping.end('SIGTERM')
})

it('A machine that was suspended stores changes with the time of now', async () => {
	const { key } = api
	const suspended = await serveAhead(0)
	const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
	signal(suspended, 'SIGIO')
	const answer = await fetch(`${suspended.url}/api/companies`, { method: 'POST', headers, body: '{"name":"Awake"}' })
	const { id } = (await answer.json()) as { id: string }
	const { data } = (await api.ask('GET', `/api/companies/${id}`)).body
	expect(Math.abs(data.updatedAt - Date.now())).toBeLessThan(20_000)
	await suspended.end('SIGTERM')
})

it('A server that hears of the time only after seconds, at its start, does not go by its own', async () => {
	const proxy = await new DatabaseProxy(api.settings.DATABASE_URL as string).listen()
	onTestFinished(() => proxy.cut())
	const silent = pino({ level: 'silent' })
	const db = await openDatabase({ ...readConfig({}), ...api.settings, DATABASE_URL: proxy.url }, silent)
	proxy.hold()
	setTimeout(() => proxy.pass(), 1_500)
	const realNow = Date.now
	const tomorrow = vi.spyOn(Date, 'now').mockImplementation(() => realNow() + 86_400_000)
	const { now, loop } = await openClock(db, silent)
	expect(Math.abs(now() - realNow())).toBeLessThan(10_000)
	tomorrow.mockRestore()
	await loop?.stop()
	await db.close()
})
