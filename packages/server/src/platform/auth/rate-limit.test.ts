// The rate limits of both APIs on a real server, counted in memory and in Redis.

import { createHmac, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { stripeSecret } from '../../../test/leaks.ts'
import { needs, redisUrl } from '../../../test/needs.ts'
import { createKey } from '../../accounts/api-keys/store.ts'
import { createPerson } from '../../accounts/people/store.ts'
import { beginSession } from '../../accounts/sessions/store.ts'
import { type Config, readConfig } from '../../config.ts'
import { createOrganization } from '../../introductions.ts'
import { startServer } from '../../server.ts'
import { bySystem } from '../base/origin.ts'
import type { Database } from '../db/database.ts'
import { openDatabase } from '../db/drivers/open.ts'
import { withoutOrder } from '../db/write-context.ts'
import { newKey as createdKey, scopes } from './keys.ts'
import { newToken } from './session-cookie.ts'
import { Visitors } from './visitors.ts'

const folder = mkdtempSync(join(tmpdir(), 'remit-limits-'))
const settings = { ...readConfig({ PORT: '0', DATA_DIR: folder, NODE_ENV: 'production' }), SMTP_URL: 'none' } as Config
const silent = pino({ level: 'silent' })

let db: Database
let organizationId: string
beforeAll(async () => {
	db = await openDatabase(settings, silent)
	;({ id: organizationId } = await db.transaction((tx) => createOrganization(tx, bySystem(Date.now()), { name: 'Limited' })))
})
afterAll(async () => {
	await db.close()
	rmSync(folder, { recursive: true, force: true })
})

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
	for (const close of closers.splice(0).reverse()) await close()
})

/** Starts another server on the same database, as another process would. */
async function serve(changes: Partial<Config> = {}, log = silent, opened?: Database): Promise<string> {
	const server = await startServer({
		db: opened ?? (await openDatabase(settings, silent)),
		config: { ...settings, ...changes },
		log,
	})
	closers.push(() => server.close())
	return server.url
}

const newKey = async () =>
	(await db.transaction((tx) => createKey({ db: tx, origin: bySystem(Date.now()) }, organizationId, { name: 'test', scopes })))
		.key

const ask = async (url: string, path: string, key?: string, method = 'GET', from?: string, body?: object) => {
	const headers = {
		...(key && { authorization: `Bearer ${key}` }),
		...(from !== undefined && { 'x-forwarded-for': from }),
		...(body && { 'content-type': 'application/json' }),
	}
	const response = await fetch(url + path, { method, headers, redirect: 'manual', ...(body && { body: JSON.stringify(body) }) })
	await response.arrayBuffer()
	const header = (name: string) => response.headers.get(`x-ratelimit-${name}`)
	return { status: response.status, limit: header('limit'), remaining: header('remaining'), reset: Number(header('reset')) }
}

describe('the integration API', () => {
	it('asks for no more than the minute of its window, although the clock was set back a day', async () => {
		const [url, key] = [await serve({ INTEGRATION_RATE_LIMIT: 1 }), await newKey()]
		expect((await ask(url, '/api-keys', key)).status).toBe(200)
		vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 86_400_000 })
		try {
			const refused = await ask(url, '/api-keys', key)
			expect(refused.status).toBe(429)
			expect(refused.reset).toBeLessThanOrEqual(Date.now() / 1000 + 61)
		} finally {
			vi.useRealTimers()
		}
	})

	it('takes 100 requests a minute from a key, and then answers 429', async () => {
		const [url, key] = [await serve(), await newKey()]
		for (let n = 99; n >= 0; n--) {
			expect(await ask(url, '/api-keys', key)).toMatchObject({ status: 200, limit: '100', remaining: String(n) })
		}
		const refused = await ask(url, '/api-keys', key)
		expect(refused).toMatchObject({ status: 429, limit: '100', remaining: '0' })
		expect(refused.reset).toBeGreaterThan(Date.now() / 1000)
		expect(refused.reset).toBeLessThanOrEqual(Date.now() / 1000 + 61)
		// The invoicing API has a separate limit.
		expect(await ask(url, '/api/invoices', key)).toMatchObject({ status: 200, limit: '1000', remaining: '999' })
	})

	it('tells its limit in every answer, including errors and paths that do not exist', async () => {
		const [url, key] = [await serve(), await newKey()]
		for (const [path, method, status] of [
			['/api-keys', 'GET', 200],
			['/api-keys?x=1', 'GET', 400],
			['/api-keys/key_unknown', 'DELETE', 404],
			['/api-keys', 'PUT', 405],
			['/webhooks/nothing', 'GET', 404],
		] as const) {
			expect(await ask(url, path, key, method)).toMatchObject({ status, limit: '100' })
		}
	})

	it('counts requests without a key by address', async () => {
		const url = await serve({ INTEGRATION_RATE_LIMIT: 2 })
		for (const status of [401, 401, 429, 429]) expect(await ask(url, '/api-keys')).toMatchObject({ status, limit: '2' })
		expect(await ask(url, '/webhooks/nothing')).toMatchObject({ status: 429, limit: '2' })
		expect((await ask(url, '/api-keys', await newKey())).status).toBe(200)
	})
})

it('a caller that asks again as soon as it is refused is refused four times a second', async () => {
	const url = await serve({ INVOICING_RATE_LIMIT: 1 })
	const key = await newKey()
	await ask(url, '/api/companies', key)
	const began = performance.now()
	const statuses = new Set<number>()
	for (let count = 0; count < 4; count++) statuses.add((await ask(url, '/api/companies', key)).status)
	expect(performance.now() - began).toBeGreaterThan(900)
	expect([...statuses]).toEqual([429])
})

it('an organization is refused a hundred times a second, whichever of its keys ask', async () => {
	const url = await serve({ INVOICING_RATE_LIMIT: 1 })
	const keys = await Promise.all([newKey(), newKey()])
	for (const key of keys) await ask(url, '/api/companies', key)
	const began = performance.now()
	const answers = await Promise.all(Array.from({ length: 60 }, (_, n) => ask(url, '/api/companies', keys[n % 2])))
	expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([429]))
	expect(performance.now() - began).toBeGreaterThan(250 + 59 * 10 - 20)
})

it('one whose client has gone leaves its place to the next, and makes nobody faster', async () => {
	const url = await serve({ INVOICING_RATE_LIMIT: 1 })
	const key = await newKey()
	await ask(url, '/api/companies', key)
	const { hostname, port } = new URL(url)
	const request = `GET /api/companies HTTP/1.1\r\nHost: remit\r\nAuthorization: Bearer ${key}\r\n\r\n`
	const gone = Array.from({ length: 200 }, () => connect(Number(port), hostname))
	await Promise.all(gone.map((socket) => new Promise((sent) => socket.write(request, sent))))
	const staying = Array.from({ length: 20 }, () => ask(url, '/api/companies', key))
	const began = performance.now()
	for (const socket of gone) socket.destroy()
	expect(new Set((await Promise.all(staying)).map(({ status }) => status))).toEqual(new Set([429]))
	const took = performance.now() - began
	expect(took).toBeGreaterThan(19 * 10)
	expect(took).toBeLessThan(2_000)
})

it('a connection that asks ahead while a refusal waits is closed', async () => {
	const url = new URL(await serve({ INVOICING_RATE_LIMIT: 1 }))
	const request = `GET /api/companies HTTP/1.1\r\nHost: remit\r\nAuthorization: Bearer ${await newKey()}\r\n\r\n`
	const socket = connect(Number(url.port), url.hostname)
	let answer = ''
	socket.on('data', (bytes) => {
		answer += bytes
		if (answer.includes('200 OK')) socket.write(request.repeat(10))
	})
	socket.write(request)
	await once(socket, 'close')
	expect(answer.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200'])
})

describe('a caller without a key', () => {
	it('is counted by network: an IPv4 address however it is written, the first 64 bits of an IPv6 one', async () => {
		const url = await serve({ INVOICING_RATE_LIMIT: 1, TRUST_PROXY: 1 })
		for (const [first, second, other] of [
			['203.0.113.7', '::ffff:203.0.113.7', '203.0.113.8'],
			['198.51.100.1', '198.51.100.1:4711', '198.51.100.2'],
			['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:3::1'],
			['2001:db8:5:6::1', '[2001:db8:5:6::2]:443', '2001:db8:5:7::1'],
		] as const) {
			expect((await ask(url, '/api/invoices', undefined, 'GET', first)).status).toBe(401)
			expect((await ask(url, '/api/invoices', undefined, 'GET', second)).status).toBe(429)
			expect((await ask(url, '/api/invoices', undefined, 'GET', other)).status).toBe(401)
		}
	})

	it('is counted by its connection when the proxy says what is no address', async () => {
		const url = await serve({ INVOICING_RATE_LIMIT: 3, TRUST_PROXY: 1 })
		const seen: number[] = []
		for (const from of ['unknown', '010.0.0.1', "' or 1=1", 'x'.repeat(5_000), '1.2.3.4.5']) {
			seen.push((await ask(url, '/api/invoices', undefined, 'GET', from)).status)
		}
		expect(seen).toEqual([401, 401, 401, 429, 429])
	})

	it('shares a bucket with its wider network, and no other, after more networks than the memory is for', () => {
		const visitors = new Visitors(2)
		const buckets = (...addresses: string[]) => addresses.map((address) => visitors.bucketOf([address]).replace('address ', ''))
		// An attacker's /48.
		expect(buckets('2001:db8:1::1', '2001:db8:1:1::1', '2001:db8:1:2::1', '2001:db8:1:3::1', '2001:db8:1::2')).toEqual([
			...['2001:db8:1:0::/64', '2001:db8:1:1::/64', '2001:db8:1/48', '2001:db8:1/48', '2001:db8:1:0::/64'],
		])
		expect(buckets('2001:db9:1::1', '192.0.2.1', '192.0.2.2')).toEqual(['2001:db9:1/48', '192.0.2.1', '192.0.2.2'])
		expect(buckets('192.0.2.3', '198.51.100.1', '203.0.113.1', '203.0.114.1', '203.9.1.1', '192.0.2.1')).toEqual([
			...['192.0.2/24', '198.51.100/24', '203.0/16', '203.0/16', '203.9/16', '192.0.2.1'],
		])
		// The attacker's whole provider.
		expect(buckets('2001:db8:2::1', '2001:db8:3::1', '2001:dba:3::1', '2001:dbb:3::1', '2a00:1:2::1')).toEqual([
			...['2001:db8/32', '2001:db8/32', '2001:dba/32', '2001/16', '2a00/16'],
		])
	})
})

describe('what the contract does not have', () => {
	it('is counted by address, but for the routes of load balancers', async () => {
		for (const path of ['/nothing', '/openapi.json', '/view/nothing', '/payments/received', '/pay/test/x', '/pay/test/%ff']) {
			const url = await serve({ INVOICING_RATE_LIMIT: 1, PAYMENT_PROCESSOR: 'test', NODE_ENV: 'test' })
			expect({ path, ...(await ask(url, path)) }).toMatchObject({ path, limit: '1', remaining: '0' })
			expect({ path, ...(await ask(url, path)) }).toMatchObject({ path, status: 429 })
			for (const free of ['/health', '/ready']) expect(await ask(url, free)).toMatchObject({ status: 200, limit: null })
		}
	})

	it('is counted for the key when the path has another method', async () => {
		const [url, key] = [await serve({ INVOICING_RATE_LIMIT: 1 }), await newKey()]
		expect((await ask(url, '/api/companies', key, 'DELETE')).status).toBe(405)
		expect((await ask(url, '/api/companies', key, 'DELETE')).status).toBe(429)
	})
})

/** A database that takes a while to find a row, as one on another machine does. */
const slowly = (opened: Database): Database =>
	new Proxy(opened, {
		get(target, name: keyof Database) {
			const method: unknown = target[name]
			if (typeof method !== 'function') return method
			return name === 'get' ? (...call: unknown[]) => sleep(20).then(() => method.apply(target, call)) : method.bind(target)
		},
	})

const unknownKey = () => createdKey().key

describe.each([
	['with the limits of requests', { INVOICING_RATE_LIMIT: 1000 }],
	['without them', { INVOICING_RATE_LIMIT: 0, INTEGRATION_RATE_LIMIT: 0 }],
])('guesses, %s', (_name, limits) => {
	const from = async (url: string, address: string, tried?: string) =>
		(await ask(url, '/api/invoices', tried, 'GET', address)).status
	const [guesser, other] = ['203.0.113.7', '203.0.113.8']

	it('of keys end for the address after so many, while every right key goes on, also one that comes for the first time', async () => {
		const [url, key, unused] = [await serve({ ...limits, GUESS_RATE_LIMIT: 3, TRUST_PROXY: 1 }), await newKey(), await newKey()]
		expect(await from(url, guesser, key)).toBe(200)
		for (const tried of [unknownKey(), 'nonsense', unknownKey()]) expect(await from(url, guesser, tried)).toBe(401)
		for (const tried of [unknownKey(), 'nonsense']) expect(await from(url, guesser, tried)).toBe(429)
		expect(await from(url, guesser)).toBe(401)
		for (const right of [key, unused, await newKey()]) expect(await from(url, guesser, right)).toBe(200)
		expect(await from(url, guesser, unknownKey())).toBe(429)
		expect(await from(url, other, unknownKey())).toBe(401)
	})

	it('of keys that come at once delay a right one that comes behind them, and do not refuse it', async () => {
		const url = await serve({ ...limits, GUESS_RATE_LIMIT: 3 }, silent, slowly(await openDatabase(settings, silent)))
		const key = await newKey()
		const wrongOnes = Array.from({ length: 40 }, () => ask(url, '/api/invoices', unknownKey()))
		expect((await ask(url, '/api/invoices', key)).status).toBe(200)
		expect((await Promise.all(wrongOnes)).map(({ status }) => status).sort()).toEqual([
			...Array(3).fill(401),
			...Array(37).fill(429),
		])
	})

	it('of keys do not end a session that has just begun', async () => {
		const url = await serve({ ...limits, GUESS_RATE_LIMIT: 3 })
		const now = Date.now()
		const person = { email: `${now}@people.example`, name: 'Ada', role: 'admin' as const, passwordHash: null }
		const token = newToken()
		await db.transaction(async (tx) => {
			const write = { db: tx, origin: withoutOrder(bySystem(now)) }
			await beginSession(write, await createPerson(write, { ...person, organizationId }), { token, userAgent: null })
		})
		for (let n = 0; n < 5; n++) await ask(url, '/api/invoices', unknownKey())
		const cookie = (sent: string) => fetch(`${url}/api/invoices`, { headers: { cookie: `remit=${sent}` } })
		expect((await cookie(token)).status).toBe(200)
		expect((await cookie(newToken())).status).toBe(429)
	})

	it.each([
		['one wrong key', () => Array<string>(40).fill(unknownKey())],
		['different ones', () => Array.from({ length: 40 }, unknownKey)],
	])('of keys that come at once end, too: %s', async (_keys, wrongKeys) => {
		const url = await serve({ ...limits, GUESS_RATE_LIMIT: 3 }, silent, slowly(await openDatabase(settings, silent)))
		const answers = await Promise.all(wrongKeys().map((tried) => ask(url, '/api/invoices', tried)))
		const count = (wanted: number) => answers.filter(({ status }) => status === wanted).length
		expect([count(401), count(429)]).toEqual([3, 37])
	})

	it('of signatures end after so many, while a webhook with a right one is taken', async () => {
		const secret = `whsec_${'x'.repeat(32)}`
		const stripe = {
			PAYMENT_PROCESSOR: 'stripe',
			STRIPE_SECRET_KEY: stripeSecret('sk_test'),
			STRIPE_WEBHOOK_SECRET: secret,
		} as const
		const url = await serve({ ...limits, GUESS_RATE_LIMIT: 2, ...stripe })
		const send = async (signature: string) => {
			const headers = { 'content-type': 'application/json', 'stripe-signature': signature }
			return (await fetch(`${url}/payments/stripe/webhook`, { method: 'POST', headers, body: event })).status
		}
		const event = JSON.stringify({ id: 'evt_1', object: 'event', type: 'ping', data: { object: {} } })
		const signed = (key: string) => {
			const time = Math.floor(Date.now() / 1000)
			return `t=${time},v1=${createHmac('sha256', key).update(`${time}.${event}`).digest('hex')}`
		}
		const statuses: number[] = []
		for (let n = 0; n < 4; n++) statuses.push(await send(signed('another')))
		expect(statuses).toEqual([400, 400, 429, 429])
		expect(await send(signed(secret))).toBe(200)
	})
})

needs('redis').describe('with Redis', () => {
	it('several processes share one limit', async () => {
		const [first, second] = [await serve({ REDIS_URL: redisUrl }), await serve({ REDIS_URL: redisUrl })]
		const key = await newKey()
		const seen: (string | null)[] = []
		for (let n = 0; n < 10; n++) seen.push((await ask(n % 2 ? second : first, '/api-keys', key)).remaining)
		expect(seen).toEqual(['99', '98', '97', '96', '95', '94', '93', '92', '91', '90'])
	})

	it('several processes share their guesses', async () => {
		const settings = { REDIS_URL: redisUrl, GUESS_RATE_LIMIT: 2, TRUST_PROXY: 1 }
		const [first, second] = [await serve(settings), await serve(settings)]
		const address = `2001:db8:${randomInt(65_536).toString(16)}:${randomInt(65_536).toString(16)}::1`
		const statuses: number[] = []
		for (let n = 0; n < 4; n++)
			statuses.push((await ask(n % 2 ? second : first, '/api-keys', unknownKey(), 'GET', address)).status)
		expect(statuses).toEqual([401, 401, 429, 429])
	})

	it('gone, requests go on, limited by each process, and the log says so once', async () => {
		const gate = await gateTo(redisUrl)
		const lines: string[] = []
		const url = await serve({ REDIS_URL: gate.url }, pino({ level: 'warn' }, { write: (line) => void lines.push(line) }))
		const key = await newKey()
		expect((await ask(url, '/api-keys', key)).remaining).toBe('99')
		await gate.shut()
		for (const remaining of ['99', '98', '97']) {
			expect(await ask(url, '/api-keys', key)).toMatchObject({ status: 200, remaining })
		}
		expect(lines.filter((line) => line.includes('Redis is gone'))).toHaveLength(1)
	})

	it('gone, is asked for at least every two seconds, so that limits are soon shared again', async () => {
		const asked: number[] = []
		const refusing = createServer((socket) => {
			asked.push(performance.now())
			socket.destroy()
		}).listen(0, '127.0.0.1')
		closers.push(async () => void refusing.close())
		await once(refusing, 'listening')
		await serve({ REDIS_URL: `redis://127.0.0.1:${(refusing.address() as AddressInfo).port}` })
		await expect.poll(() => asked.length, { timeout: 20_000 }).toBeGreaterThan(7)
		for (const [index, time] of asked.entries()) expect(time - (asked[index - 1] ?? time)).toBeLessThan(2_000)
	})

	it('hung, costs one time limit and not one for each request, and counts again when it answers', async () => {
		const gate = await gateTo(redisUrl)
		const lines: string[] = []
		const url = await serve({ REDIS_URL: gate.url }, pino({ level: 'info' }, { write: (line) => void lines.push(line) }))
		const key = await newKey()
		expect((await ask(url, '/api-keys', key)).remaining).toBe('99')
		gate.freeze()
		const began = performance.now()
		for (let left = 99; left >= 80; left--)
			expect(await ask(url, '/api-keys', key)).toMatchObject({ status: 200, remaining: String(left) })
		expect(performance.now() - began).toBeLessThan(20 * 125)
		gate.thaw()
		await expect.poll(() => lines.filter((line) => line.includes('Redis is back')).length, { timeout: 10_000 }).toBe(1)
		expect((await ask(url, '/api-keys', key)).remaining).toBe('98')
	})

	it('hung at the start, the server starts all the same', async () => {
		const gate = await gateTo(redisUrl)
		gate.freeze()
		const url = await serve({ REDIS_URL: gate.url })
		expect((await ask(url, '/api-keys', await newKey())).remaining).toBe('99')
	})

	it('unreachable at the start, the server starts all the same', async () => {
		const url = await serve({ REDIS_URL: 'redis://127.0.0.1:1' })
		expect((await ask(url, '/api-keys', await newKey())).remaining).toBe('99')
	})

	it('counts last for a minute and no longer', async () => {
		const [url, key] = [await serve({ REDIS_URL: redisUrl }), await newKey()]
		await ask(url, '/api-keys', key)
		const redis = new Redis(redisUrl)
		closers.push(async () => redis.disconnect())
		const names = await redis.keys('remit:integration*')
		const lives = await Promise.all(names.map((name) => redis.pttl(name)))
		expect(names.length).toBeGreaterThan(0)
		for (const life of lives) expect(life).toBeGreaterThan(0)
		for (const life of lives) expect(life).toBeLessThanOrEqual(60_000)
	})
})

/** A proxy to Redis that a test can shut, or make hang: frozen, it takes connections and bytes and passes nothing on. */
async function gateTo(target: string): Promise<{ url: string; shut(): Promise<void>; freeze(): void; thaw(): void }> {
	let isFrozen = false
	const { hostname, port } = new URL(target)
	const sockets = new Set<Socket>()
	const gate = createServer((inside) => {
		const outside = connect(Number(port || 6379), hostname)
		for (const socket of [inside, outside]) sockets.add(socket.on('error', () => {}))
		const pass = (to: Socket) => (data: Buffer) => void (isFrozen || to.write(data))
		inside.on('data', pass(outside)).on('close', () => outside.destroy())
		outside.on('data', pass(inside)).on('close', () => inside.destroy())
	})
	await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve))
	const shut = () =>
		new Promise<void>((resolve) => {
			gate.close(() => resolve())
			for (const socket of sockets) socket.destroy()
		})
	const [freeze, thaw] = [true, false].map((frozen) => () => {
		isFrozen = frozen
	}) as [() => void, () => void]
	return { url: `redis://127.0.0.1:${(gate.address() as AddressInfo).port}`, shut, freeze, thaw }
}
