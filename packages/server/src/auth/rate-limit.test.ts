// The rate limits of both APIs on a real server, counted in memory and in Redis.

import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createKey } from '../api-keys/store.ts'
import { bySystem } from '../base/origin.ts'
import { type Config, readConfig } from '../config.ts'
import type { Database } from '../db/database.ts'
import { openDatabase } from '../db/open.ts'
import { createOrganization } from '../organizations/store.ts'
import { startServer } from '../server.ts'
import { scopes } from './keys.ts'

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
async function serve(changes: Partial<Config> = {}, log = silent): Promise<string> {
	const server = await startServer({ db: await openDatabase(settings, silent), config: { ...settings, ...changes }, log })
	closers.push(() => server.close())
	return server.url
}

const newKey = async () =>
	(await db.transaction((tx) => createKey(tx, organizationId, { name: 'test', scopes, now: Date.now() }))).key

const ask = async (url: string, path: string, key?: string, method = 'GET') => {
	const response = await fetch(url + path, { method, headers: key ? { authorization: `Bearer ${key}` } : {} })
	await response.arrayBuffer()
	const header = (name: string) => response.headers.get(`x-ratelimit-${name}`)
	return { status: response.status, limit: header('limit'), remaining: header('remaining'), reset: Number(header('reset')) }
}

describe('the integration API', () => {
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

const redisUrl = process.env.TEST_REDIS_URL ?? 'redis://127.0.0.1:6379'
const hasRedis = await new Promise<boolean>((resolve) => {
	const socket = connect(Number(new URL(redisUrl).port || 6379), new URL(redisUrl).hostname, () => {
		socket.destroy()
		resolve(true)
	})
	socket.once('error', () => resolve(false))
})
if (!hasRedis) console.warn(`Skipped: the tests with Redis, which does not answer at ${redisUrl} (TEST_REDIS_URL).`)

describe.skipIf(!hasRedis)('with Redis', () => {
	it('several processes share one limit', async () => {
		const [first, second] = [await serve({ REDIS_URL: redisUrl }), await serve({ REDIS_URL: redisUrl })]
		const key = await newKey()
		const seen: (string | null)[] = []
		for (let n = 0; n < 10; n++) seen.push((await ask(n % 2 ? second : first, '/api-keys', key)).remaining)
		expect(seen).toEqual(['99', '98', '97', '96', '95', '94', '93', '92', '91', '90'])
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

/** A proxy to Redis that a test can shut. */
async function gateTo(target: string): Promise<{ url: string; shut(): Promise<void> }> {
	const { hostname, port } = new URL(target)
	const sockets = new Set<Socket>()
	const gate = createServer((inside) => {
		const outside = connect(Number(port || 6379), hostname)
		for (const socket of [inside, outside]) sockets.add(socket.on('error', () => {}))
		inside.pipe(outside).pipe(inside)
	})
	await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve))
	const shut = () =>
		new Promise<void>((resolve) => {
			gate.close(() => resolve())
			for (const socket of sockets) socket.destroy()
		})
	return { url: `redis://127.0.0.1:${(gate.address() as AddressInfo).port}`, shut }
}
