// Servers start and stop over one database, and no delivery is lost.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { Remit } from '@remit/sdk'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, inject, it, onTestFinished, vi } from 'vitest'
import { newDatabase, type TestDatabase } from '../../../../test/databases.ts'
import { encryptionKey } from '../../../../test/leaks.ts'
import { Remit as Command } from '../../../../test/remit.ts'
import { Sink } from '../../../../test/sink.ts'
import { createKey } from '../../../accounts/api-keys/store.ts'
import { type Config, readConfig } from '../../../config.ts'
import { createOrganization } from '../../../introductions.ts'
import { scopes } from '../../../platform/auth/keys.ts'
import { bySystem } from '../../../platform/base/origin.ts'
import { openDatabase } from '../../../platform/db/drivers/open.ts'
import { type RunningServer, startServer } from '../../../server.ts'

const log = pino({ level: 'silent' })
const common = {
	...readConfig({
		PORT: '0',
		EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
		INTEGRATION_RATE_LIMIT: '0',
		NODE_ENV: 'test',
		// A test makes 500 requests at once, and a busy machine is no overload.
		REQUESTS_UNDER_WAY: '0',
		SHED_ABOVE_DELAY_MS: '60000',
	}),
	ENCRYPTION_KEYS: encryptionKey(1),
	SMTP_URL: 'none',
}

let database: TestDatabase
let key: string
let sink: Sink
const running = new Set<RunningServer>()
beforeEach(async () => {
	database = await newDatabase(inject('database'), inject('template'))
	const db = await openDatabase({ ...common, ...database.settings }, log)
	key = await db.transaction(async (tx) => {
		const origin = bySystem(Date.now())
		const { id } = await createOrganization(tx, origin, { name: 'Test Ltd' })
		return (await createKey({ db: tx, origin }, id, { name: 'test', scopes })).key
	})
	await db.close()
	sink = await new Sink().start()
})
afterEach(async () => {
	expect(sink.problems).toEqual([])
	await sink.stop()
	await Promise.all([...running].map(end))
	await database.drop()
})

async function serve(settings: Partial<Config> = {}): Promise<RunningServer & { remit: Remit }> {
	const config = { ...common, ...database.settings, ...settings }
	const server = await startServer({ db: await openDatabase(config, log), config, log })
	running.add(server)
	return Object.assign(server, { remit: new Remit({ apiKey: key, baseUrl: server.url }) })
}

async function end(server: RunningServer): Promise<void> {
	running.delete(server)
	await server.close()
}

const subscribe = (remit: Remit) => sink.subscribe(remit, 'company.*')

const createCompanies = (count: number, ...remits: Remit[]) =>
	Promise.all(Array.from({ length: count }, (_, n) => remits[n % remits.length]?.companies.create({ name: `Company ${n}` })))

/** The number of deliveries for each status and number of attempts. */
async function tally(remit: Remit): Promise<Record<string, number>> {
	const found: Record<string, number> = {}
	for await (const { status, attemptCount } of remit.webhooks.deliveries.list()) {
		const name = `${status} ${attemptCount}`
		found[name] = (found[name] ?? 0) + 1
	}
	return found
}

const eventually = { timeout: 20_000, interval: 20 }
const arrivedOnce = () => {
	expect(new Set(sink.received.map(({ event }) => event.id)).size).toBe(sink.received.length)
	return sink.received.length
}

describe('a server that is closed', () => {
	it('breaks off hanging attempts after five seconds; they do not count, and the next server delivers', async () => {
		const first = await serve()
		await subscribe(first.remit)
		sink.answer = { hang: true }
		await createCompanies(30, first.remit)
		await vi.waitUntil(() => sink.open === 5, { timeout: 5_000, interval: 5 })
		const began = performance.now()
		await end(first)
		const took = performance.now() - began
		expect(took).toBeGreaterThan(4_500)
		expect(took).toBeLessThan(7_000)

		sink.received.length = 0
		sink.answer = { status: 204 }
		const second = await serve()
		await sink.events(30)
		await expect.poll(() => tally(second.remit), eventually).toEqual({ 'succeeded 1': 30 })
		expect(arrivedOnce()).toBe(30)
	})

	it('waits for answers that are on their way, and does not ask for them again', async () => {
		const first = await serve()
		await subscribe(first.remit)
		const answers = Promise.withResolvers<object>()
		sink.answer = () => answers.promise
		await createCompanies(30, first.remit)
		await sink.events(5)
		const closing = end(first)
		await expect.poll(() => fetch(first.url).catch(() => 'closed'), eventually).toBe('closed')
		answers.resolve({ status: 204 })
		const began = performance.now()
		await closing
		expect(performance.now() - began).toBeLessThan(2_000)
		expect(arrivedOnce()).toBe(5)

		const second = await serve()
		await sink.events(30)
		await expect.poll(() => tally(second.remit), eventually).toEqual({ 'succeeded 1': 30 })
		expect(arrivedOnce()).toBe(30)
	})
})

// On PostgreSQL other servers may hold the leases: they have to end.
if (inject('database') === 'sqlite') {
	describe('a server that was killed', () => {
		it('leaves no lease to the next one, neither of a delivery nor of a host on probation', async () => {
			const env = {
				DATA_DIR: database.settings.DATA_DIR,
				ENCRYPTION_KEYS: common.ENCRYPTION_KEYS,
				EGRESS_ALLOW_CIDRS: '127.0.0.0/8,::1/128',
				// The leases would last for 75 seconds.
				WEBHOOK_TIMEOUT_SECONDS: '60',
			}
			const command = new Command(env, tmpdir())
			onTestFinished(() => command.stop())
			const first = await command.serve()
			const remit = new Remit({ apiKey: key, baseUrl: first.url })
			sink.answer = { hang: true }
			// Unlike 127.0.0.1, this host has not answered in any test before.
			const url = sink.url.replace('127.0.0.1', 'localhost')
			sink.secrets.push((await remit.webhooks.endpoints.create({ url, eventTypes: ['company.*'] })).secret)
			await createCompanies(2, remit)
			await sink.events(1, 20_000)
			await first.end('SIGKILL')

			sink.answer = { status: 204 }
			await command.serve()
			await sink.events(3, 20_000)
			expect(new Set(sink.received.map(({ event }) => event.id)).size).toBe(2)
		})
	})
}

if (inject('database') === 'postgres') {
	describe('two servers on one database', () => {
		it('deliver each of 500 events exactly once', async () => {
			const [one, two] = await Promise.all([serve(), serve()])
			await subscribe(one.remit)
			await createCompanies(500, one.remit, two.remit)
			await sink.events(500, 20_000)
			await expect.poll(() => tally(two.remit), eventually).toEqual({ 'succeeded 1': 500 })
			expect(arrivedOnce()).toBe(500)
		})

		it('keep the order of a record that both change', async () => {
			const [one, two] = await Promise.all([serve(), serve()])
			await subscribe(one.remit)
			const { id } = await one.remit.companies.create({ name: 'Company' })
			const update = (remit: Remit, n: number) => remit.companies.update(id, { name: `Company ${n}` })
			await Promise.all(Array.from({ length: 60 }, (_, n) => update(n % 2 ? one.remit : two.remit, n)))
			const events = await sink.events(61, 20_000)
			expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, n) => n + 1))
		})
	})

	describe('a server whose database is gone for a while', () => {
		const sockets = new Set<Socket>()
		const proxy = createServer((socket) => {
			const target = new URL(database.settings.DATABASE_URL)
			const onward = connect(Number(target.port || 5432), target.hostname)
			for (const side of [socket, onward]) sockets.add(side.on('error', () => {}))
			socket.pipe(onward).pipe(socket)
		})
		const listen = async (port: number) => {
			proxy.listen(port, '127.0.0.1')
			await once(proxy, 'listening')
			return (proxy.address() as AddressInfo).port
		}
		const cut = () => {
			proxy.close()
			for (const socket of sockets) socket.destroy()
			sockets.clear()
		}
		afterEach(async () => {
			await Promise.all([...running].map(end))
			cut()
		})

		it('keeps the results of its attempts until it can write them, and goes on', async () => {
			const port = await listen(0)
			const url = Object.assign(new URL(database.settings.DATABASE_URL), { host: `127.0.0.1:${port}` })
			const server = await serve({ DATABASE_URL: url.href })
			await subscribe(server.remit)
			const answers = Promise.withResolvers<object>()
			sink.answer = () => answers.promise
			await createCompanies(40, server.remit)
			await sink.events(5)
			cut()
			answers.resolve({ status: 204 })
			await vi.waitUntil(() => sink.open === 0, { timeout: 5_000, interval: 5 })
			await expect(server.remit.companies.list({ limit: 1 })).rejects.toMatchObject({ status: 503 })
			await listen(port)
			await expect.poll(() => tally(server.remit), eventually).toEqual({ 'succeeded 1': 40 })
			expect(arrivedOnce()).toBe(40)
		})
	})
}
