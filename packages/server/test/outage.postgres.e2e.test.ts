// Failures that only PostgreSQL causes: lost connections, and deadlocks in which one transaction must give way.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { changeCompany, companies } from '../src/billing/companies/store.ts'
import { readConfig } from '../src/config.ts'
import type { Transaction } from '../src/platform/db/database.ts'
import { openDatabase } from '../src/platform/db/drivers/open.ts'
import { type RunningServer, startServer } from '../src/server.ts'
import { holdWrites, startTestServer, type TestServer } from './harness.ts'

describe('a server on PostgreSQL', () => {
	let server: TestServer
	/** A second server, whose connections to PostgreSQL go through `proxy`. */
	let through: RunningServer
	let port: number
	/** Of the second server's log. */
	const lines: string[] = []
	const sockets = new Set<Socket>()
	const proxy = createServer((socket) => {
		const target = new URL(server.settings.DATABASE_URL as string)
		const onward = connect(Number(target.port || 5432), target.hostname)
		for (const end of [socket, onward]) sockets.add(end.on('error', () => {}))
		socket.pipe(onward).pipe(socket)
	})
	const listen = (on: number) => new Promise<void>((listening) => proxy.listen(on, '127.0.0.1', listening))
	const cut = () => {
		proxy.close()
		for (const socket of sockets) socket.destroy()
		sockets.clear()
	}

	beforeAll(async () => {
		server = await startTestServer()
		await listen(0)
		port = (proxy.address() as AddressInfo).port
		const url = Object.assign(new URL(server.settings.DATABASE_URL as string), { host: `127.0.0.1:${port}` })
		const config = { ...readConfig({ PORT: '0', INVOICING_RATE_LIMIT: '0' }), ...server.settings, DATABASE_URL: url.href }
		const log = pino({ level: 'warn' }, { write: (line) => lines.push(line) })
		through = await startServer({ db: await openDatabase(config, log), config, log })
	})
	afterAll(async () => {
		await through.close()
		cut()
		await server.close()
	})

	const ask = async (path: string, method = 'GET') => {
		const answer = await fetch(through.url + path, { method, headers: { authorization: `Bearer ${server.key}` } })
		return { status: answer.status, code: ((await answer.json()) as { code?: string }).code }
	}
	const unavailable = { status: 503, code: 'unavailable' }

	it('answers 503 while it cannot be reached, and works again when it can', async () => {
		expect(await ask('/api/invoices')).toMatchObject({ status: 200 })
		cut()
		for (const path of ['/api/invoices', '/api/companies?search=x', '/ready']) expect(await ask(path)).toEqual(unavailable)
		expect(await ask('/api/invoices', 'POST')).toEqual(unavailable)
		expect(await ask('/health')).toMatchObject({ status: 200 })
		const page = await fetch(`${through.url}/view/invoice/token`)
		expect([page.status, await page.text()]).toEqual([503, expect.stringContaining('Something went wrong on our side')])
		const warned = lines.map((line) => JSON.parse(line)).filter(({ requestId }) => requestId)
		expect(warned).toHaveLength(5)
		for (const line of warned)
			expect(line).toMatchObject({
				level: 40,
				msg: expect.stringMatching(/cannot reach its database/),
				cause: expect.any(String),
			})
		await listen(port)
		expect(await ask('/api/invoices', 'POST')).toMatchObject({ status: 201 })
		expect(await ask('/ready')).toMatchObject({ status: 200 })
	})

	it('survives a connection that is lost in the middle of a transaction, and stores nothing of it', async () => {
		const before = (await server.ask('GET', '/api/invoices')).body.data.length
		const release = await holdWrites(server)
		const underWay = ask('/api/invoices', 'POST')
		await expect.poll(waiting, { interval: 10 }).toBeGreaterThan(0)
		cut()
		const answer = await underWay
		await release()
		await listen(port)
		expect(answer).toEqual(unavailable)
		expect(await ask('/api/invoices')).toMatchObject({ status: 200 })
		expect((await server.ask('GET', '/api/invoices')).body.data).toHaveLength(before)
	})

	it('outlives a restart of PostgreSQL amid requests, and has every record that it had answered', async () => {
		const admin = new pg.Client(server.settings.DATABASE_URL)
		await admin.connect()
		const headers = { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' }
		const create = async () => {
			const answer = await fetch(`${server.url}/api/companies`, { method: 'POST', headers, body: '{"name":"Acme"}' })
			await answer.arrayBuffer()
			return { status: answer.status, location: answer.headers.get('location') }
		}
		const created: string[] = []
		const statuses = new Set<number>()
		let isOver = false
		onTestFinished(() => {
			isOver = true
			return admin.end()
		})
		const caller = async () => {
			while (!isOver) {
				const { status, location } = await create()
				statuses.add(status)
				if (location) created.push(location)
			}
		}
		const callers = Array.from({ length: 8 }, caller)
		await expect.poll(() => created.length).toBeGreaterThan(20)
		// What a restart does to every connection (57P01); that none is taken for a while is the test above.
		for (let time = 0; !statuses.has(503) && time < 50; time++)
			await admin.query(
				'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
			)
		const before = created.length
		await expect.poll(() => created.length).toBeGreaterThan(before + 20)
		isOver = true
		await Promise.all(callers)
		expect([...statuses].toSorted()).toEqual([201, 503])
		for (const path of created) expect((await server.ask('GET', path)).status).toBe(200)
	})

	/** The number of queries that wait for a lock. */
	async function waiting(): Promise<number> {
		const client = new pg.Client(server.settings.DATABASE_URL)
		await client.connect()
		const { rows } = await client.query('select count(*) from pg_locks where not granted').finally(() => client.end())
		return Number(rows[0].count)
	}

	it('tries the transaction again that loses a deadlock, so that both are done', async () => {
		const names = ['One', 'Two']
		const ids = await Promise.all(
			names.map(async (name) => (await server.ask('POST', '/api/companies', { body: { name } })).body.id),
		)
		const bothHoldOne = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
		let runs = 0
		const change = (first: number, second: number) =>
			server.db.transaction(async (tx) => {
				runs++
				await note(tx, ids[first], first)
				bothHoldOne[first]?.resolve()
				await bothHoldOne[second]?.promise
				await note(tx, ids[second], first)
			})
		const note = async (tx: Transaction, id: string, by: number) => {
			const company = await companies.lock(tx, server.organizationId, id)
			if (company) await changeCompany(server.writing(tx, 1), company, { notes: `${company.notes ?? ''}${by}` })
		}
		await Promise.all([change(0, 1), change(1, 0)])
		// The one that tries again may overtake the one that was waiting, and meet it again.
		expect(runs).toBeGreaterThan(2)
		for (const id of ids) {
			const { data } = (await server.ask('GET', `/api/companies/${id}`)).body
			expect([...data.notes].sort()).toEqual(['0', '1'])
		}
	})

	it('serves more writers at once than it has connections', async () => {
		const answers = await Promise.all(
			Array.from({ length: 60 }, () => server.ask('POST', '/api/companies', { body: { name: 'x' } })),
		)
		expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
	})
})
