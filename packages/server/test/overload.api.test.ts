// What a server answers when it has more to do than it can.
import { setImmediate } from 'node:timers/promises'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Config, readConfig } from '../src/config.ts'
import { openDatabase } from '../src/platform/db/drivers/open.ts'
import { type RunningServer, startServer } from '../src/server.ts'
import { holdWrites, startTestServer, type Tenant, type TestServer } from './harness.ts'
import { rawClient } from './raw-client.ts'

let server: TestServer
const others: RunningServer[] = []
beforeAll(async () => {
	server = await startTestServer()
})
afterAll(async () => {
	for (const other of others) await other.close()
	await server.close()
})

/** Another server on the same database, whose warnings are kept. */
async function startAnother(settings: Partial<Config>) {
	const warnings: Record<string, unknown>[] = []
	const log = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(JSON.parse(line)) })
	const config = { ...readConfig({ PORT: '0', INVOICING_RATE_LIMIT: '0', WEB: 'off' }), ...server.settings, ...settings }
	const other = await startServer({ db: await openDatabase(config, log), config, log })
	others.push(other)
	const { url } = other
	const ask = (method: string, path: string, { key }: Pick<Tenant, 'key'> = server) =>
		fetch(url + path, { method, headers: { authorization: `Bearer ${key}` } })
	const statusOf = async (method: string, path: string, tenant?: Pick<Tenant, 'key'>) => {
		const answer = await ask(method, path, tenant)
		await answer.arrayBuffer()
		return answer.status
	}
	/** Begins writes of the tenants, which something holds up, until each is answered 503; returns how those are answered. */
	const fill = async (...tenants: Pick<Tenant, 'key'>[]) => {
		const held: Promise<number>[] = []
		for (const tenant of tenants)
			while ((await statusOf('GET', '/api/companies', tenant)) !== 503)
				held.push(...tenants.map((each) => statusOf('POST', '/api/invoices', each)))
		return held
	}
	return { url, ask, statusOf, fill, warnings }
}

const probes = ['/health', '/ready', '/health?from=balancer']

describe('a server with as many requests under way as it may have', () => {
	it('answers others 503 with Retry-After, probes as ever, and all again when there is room', async () => {
		const { ask, statusOf, fill, warnings } = await startAnother({ SHED_ABOVE_REQUESTS: 5 })
		const release = await holdWrites(server)
		const held = await fill(server)
		const shed = await ask('GET', '/api/companies?limit=1')
		expect(shed.headers.get('retry-after')).toBe('1')
		expect(shed.headers.get('content-type')).toBe('application/problem+json')
		expect(await shed.json()).toMatchObject({
			code: 'unavailable',
			status: 503,
			instance: '/api/companies',
			requestId: shed.headers.get('x-request-id'),
		})
		for (let count = 0; count < 50; count++) expect(await statusOf('POST', '/api/invoices')).toBe(503)
		for (const path of probes) expect(await statusOf('GET', path)).toBe(200)
		await release()
		expect((await Promise.all(held)).filter((status) => status !== 503)).toEqual([201, 201, 201, 201, 201])
		expect(await statusOf('GET', '/api/companies')).toBe(200)
		await expect.poll(() => warnings.length, { timeout: 3_000 }).toBeGreaterThan(0)
		const shedInAll = warnings.reduce((sum, line) => sum + Number(line.shed), 0)
		expect(shedInAll).toBeGreaterThanOrEqual(52)
		expect(warnings.length).toBeLessThan(10)
	})
})

describe('a server on which some have more requests under way than their share', () => {
	it('answers them 503, and still serves organizations and visitors who have less', async () => {
		const { statusOf, fill } = await startAnother({ SHED_ABOVE_REQUESTS: 10 })
		const [one, other] = [await server.newTenant(), await server.newTenant()]
		const release = await holdWrites(server)
		const held = await fill(server, one)
		expect(await statusOf('GET', '/api/companies')).toBe(503)
		expect(await statusOf('GET', '/api/companies', other)).toBe(200)
		expect(await statusOf('GET', '/view/invoice/none')).toBe(404)
		await release()
		expect((await Promise.all(held)).filter((status) => status !== 503)).toEqual(Array.from({ length: 10 }, () => 201))
	})
})

describe('a server with as many kept connections as it may have requests under way', () => {
	it('has room: callers who have their answer do not count', async () => {
		const { url } = await startAnother({ SHED_ABOVE_REQUESTS: 2 })
		const clients = Array.from({ length: 5 }, () => rawClient(url, server.key))
		for (const { ask } of [...clients, ...clients]) {
			expect((await ask('GET', '/api/companies')).status).toBe(200)
			expect((await ask('GET', '/api/companies/cmp_none')).status).toBe(404)
		}
		for (const { close } of clients) close()
	})
})

describe('a server whose event loop is behind', () => {
	it('answers 503 after a second of it, probes as ever, and all again when it has caught up', async () => {
		const { statusOf } = await startAnother({ SHED_ABOVE_DELAY_MS: 80 })
		expect(await statusOf('GET', '/api/companies')).toBe(200)
		const began = performance.now()
		while (performance.now() - began < 1_700) {
			for (const turn = performance.now(); performance.now() - turn < 150; );
			await setImmediate()
		}
		expect(await statusOf('GET', '/api/companies')).toBe(503)
		for (const path of probes) expect(await statusOf('GET', path)).toBe(200)
		await expect.poll(() => statusOf('GET', '/api/companies'), { timeout: 10_000, interval: 50 }).toBe(200)
	})
})
