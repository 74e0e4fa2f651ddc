// PostgreSQL that is slow, locked, frozen, silent or read-only: every request is answered in time, and only what needs the thing
// that hangs waits for it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Config, readConfig } from '../src/config.ts'
import { query, unavailability } from '../src/platform/db/database.ts'
import { migrate } from '../src/platform/db/drivers/migrate.ts'
import { openDatabase } from '../src/platform/db/drivers/open.ts'
import { type RunningServer, startServer } from '../src/server.ts'
import { DatabaseProxy } from './database-proxy.ts'
import { startTestServer, type Tenant, type TestServer } from './harness.ts'
import { expectRefusal, Remit } from './remit.ts'

/** A lock is waited for half as long as a query; a silent connection is given up a second later than a query. */
const limits = { DATABASE_CONNECT_SECONDS: 1, DATABASE_QUERY_SECONDS: 2 }

let server: TestServer
let databaseUrl: string
beforeAll(async () => {
	server = await startTestServer(limits)
	databaseUrl = server.settings.DATABASE_URL as string
})
afterAll(() => server.close())

/** Another server on the database. */
async function serve(changes: Partial<Config>): Promise<RunningServer> {
	const log = pino({ level: 'silent' })
	const config = {
		...readConfig({ PORT: '0', INVOICING_RATE_LIMIT: '0', INTEGRATION_RATE_LIMIT: '0' }),
		...server.settings,
		...changes,
	}
	return startServer({ db: await openDatabase(config, log), config, log })
}

interface Asked {
	readonly status: number
	readonly code?: string
	readonly detail?: string
	readonly retryAfter: number
	readonly ms: number
}

const asker =
	(url: () => string) =>
	async (method: string, path: string, { key }: Pick<Tenant, 'key'> = server, body?: object, more = {}): Promise<Asked> => {
		const began = performance.now()
		const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...more }
		const response = await fetch(url() + path, { method, headers, body: body && JSON.stringify(body) })
		const { code, detail } = (await response.json()) as { code?: string; detail?: string }
		const retryAfter = Number(response.headers.get('retry-after'))
		return { status: response.status, retryAfter, ms: performance.now() - began, ...(code && { code, detail }) }
	}

const ask = asker(() => server.url)

const unavailable = (detail: RegExp) => ({
	status: 503,
	code: 'unavailable',
	detail: expect.stringMatching(detail),
	retryAfter: 2,
})
const locked = unavailable(/^Another change held for too long what this one needs; nothing was stored\.$/)

const newCompany = async (tenant: Tenant): Promise<string> => {
	const { id } = (await tenant.ask('POST', '/api/companies', { body: { name: 'Held' } })).body
	return id
}

async function sql(text: string): Promise<void> {
	const client = new pg.Client(databaseUrl)
	await client.connect()
	await client.query('set default_transaction_read_only = off')
	await client.query(text).finally(() => client.end())
}

describe('a row that another transaction holds', () => {
	const holder = new pg.Client()
	let tenant: Tenant
	let path: string
	beforeAll(async () => {
		tenant = await server.newTenant()
		const id = await newCompany(tenant)
		path = `/api/companies/${id}`
		Object.assign(holder, new pg.Client(databaseUrl))
		await holder.connect()
		await holder.query('begin')
		await holder.query('select 1 from companies where id = $1 for update', [id])
	})
	afterAll(() => holder.end())

	it('holds up its own changes for the time limit of a lock', async () => {
		const refused = await ask('PATCH', path, tenant, { notes: 'x' })
		expect(refused).toMatchObject(locked)
		expect(refused.ms).toBeGreaterThan(900)
	})

	it('holds up no read, no /ready and no other organization, however many wait for it', async () => {
		const patient = await serve({ DATABASE_CONNECT_SECONDS: 30, DATABASE_QUERY_SECONDS: 60 })
		const askPatient = asker(() => patient.url)
		const other = await server.newTenant()
		let answered = 0
		const writers = Array.from({ length: 64 }, () => askPatient('PATCH', path, tenant, { notes: 'x' }).finally(() => answered++))
		const others = [
			await askPatient('GET', path, tenant),
			await askPatient('GET', '/api/companies', other),
			await askPatient('POST', '/api/companies', other, { name: 'Free' }),
			await askPatient('GET', '/ready'),
		]
		expect(others.map(({ status }) => status)).toEqual([200, 200, 201, 200])
		expect(answered).toBe(0)
		await holder.query('rollback')
		expect(new Set((await Promise.all(writers)).map(({ status }) => status))).toEqual(new Set([200]))
		await patient.close()
	})

	it('is waited for no longer than a connection, by those for whom there is none', async () => {
		await holder.query('begin')
		await holder.query('select 1 from companies where id = $1 for update', [path.split('/').at(-1)])
		const refused = await Promise.all(Array.from({ length: 20 }, () => ask('PATCH', path, tenant, { notes: 'x' })))
		// One that waits for its turn at the row, and then for the row, may use up the time of a query.
		for (const { status, detail } of refused)
			expect([status, detail]).toEqual([
				503,
				expect.stringMatching(
					/^(Another change held|The database took|The changes before this one took) .* nothing was stored\.$/,
				),
			])
		expect(refused.map(({ detail }) => detail)).toContain('The changes before this one took too long; nothing was stored.')
	})
})

it('Where many rows are held, no change waits longer than for a connection and then for a lock', async () => {
	const tenant = await server.newTenant()
	const ids = await Promise.all(Array.from({ length: 40 }, () => newCompany(tenant)))
	const holder = new pg.Client(databaseUrl)
	await holder.connect()
	await holder.query('begin')
	await holder.query('select 1 from companies where "organizationId" = $1 for update', [tenant.organizationId])
	const answers = await Promise.all(
		ids.flatMap((id) => [
			ask('PATCH', `/api/companies/${id}`, tenant, { notes: 'x' }),
			ask('POST', '/api/companies', tenant, { name: 'Free' }),
		]),
	)
	await holder.end()
	expect(answers.filter(({ ms }) => ms > 5_000)).toEqual([])
	const stored = answers.filter(({ status }) => status === 201)
	expect((await tenant.ask('GET', '/api/companies')).body.meta.total).toBe(ids.length + stored.length)
})

describe('an Idempotency-Key that another transaction holds', () => {
	it('holds up its request for the time limit of a lock, and stores nothing of it', async () => {
		const tenant = await server.newTenant()
		const post = () => ask('POST', '/api/companies', tenant, { name: 'Held' }, { 'idempotency-key': 'held' })
		const count = async () => (await tenant.ask('GET', '/api/companies')).body.meta.total
		await post()
		const row = `"organizationId" = '${tenant.organizationId}'`
		await sql(`update idempotency_keys set "createdAt" = 0 where ${row}`)
		const holder = new pg.Client(databaseUrl)
		await holder.connect()
		await holder.query('begin')
		await holder.query(`select 1 from idempotency_keys where ${row} for update`)
		expect(await post()).toMatchObject(locked)
		expect(await count()).toBe(1)
		await holder.end()
		expect([(await post()).status, await count()]).toEqual([201, 2])
	})
})

describe('a table that another transaction locks', () => {
	const holder = new pg.Client()
	let tenant: Tenant
	beforeAll(async () => {
		tenant = await server.newTenant()
		Object.assign(holder, new pg.Client(databaseUrl))
		await holder.connect()
		await holder.query('begin; lock table companies in access exclusive mode')
	})
	afterAll(() => holder.end())

	it('holds up no read of another organization, whether its key is known or new, however many of one wait for it', async () => {
		const patient = await serve({ DATABASE_CONNECT_SECONDS: 60, DATABASE_QUERY_SECONDS: 60 })
		const askPatient = asker(() => patient.url)
		const [known, unknown] = await Promise.all([server.newTenant(), server.newTenant()])
		await askPatient('GET', '/api/deals', known)
		let answered = 0
		const readers = Array.from({ length: 32 }, () => askPatient('GET', '/api/companies', tenant).finally(() => answered++))
		const waiting = "select 1 from pg_locks where relation = 'companies'::regclass and not granted"
		await expect.poll(async () => (await holder.query(waiting)).rowCount, { interval: 10 }).toBeGreaterThan(3)
		const others = [await askPatient('GET', '/api/deals', known), await askPatient('GET', '/api/deals', unknown)]
		expect([others.map(({ status }) => status), answered]).toEqual([[200, 200], 0])
		await holder.query('rollback')
		await Promise.all(readers)
		await patient.close()
	})

	it('is waited for by a read for an eighth of the time of a query, and leaves connections when two organizations wait', async () => {
		await holder.query('begin; lock table companies in access exclusive mode')
		const other = await server.newTenant()
		const patient = await serve({ DATABASE_CONNECT_SECONDS: 60, DATABASE_QUERY_SECONDS: 48 })
		const askPatient = asker(() => patient.url)
		let answered = 0
		const readers = Array.from({ length: 20 }, (_, index) =>
			askPatient('GET', '/api/companies', index % 2 === 0 ? tenant : server).finally(() => answered++),
		)
		const waiting = "select 1 from pg_locks where relation = 'companies'::regclass and not granted"
		await expect.poll(async () => (await holder.query(waiting)).rowCount, { interval: 10, timeout: 10_000 }).toBeGreaterThan(4)
		expect([(await askPatient('GET', '/api/deals', other)).status, answered]).toEqual([200, 0])
		const first = await Promise.race(readers)
		expect(first).toMatchObject(locked)
		expect(first.ms).toBeLessThan(20_000)
		await holder.query('rollback')
		await Promise.all(readers)
		await patient.close()
	})
})

it('/ready has a connection of its own, also while the reads of several organizations wait for a table', async () => {
	const patient = await serve({ DATABASE_CONNECT_SECONDS: 60, DATABASE_QUERY_SECONDS: 60 })
	const askPatient = asker(() => patient.url)
	const tenants = await Promise.all(Array.from({ length: 8 }, () => server.newTenant()))
	const locker = new pg.Client(databaseUrl)
	await locker.connect()
	await locker.query('begin; lock table companies in access exclusive mode')
	const readers = Array.from({ length: 20 }, (_, index) => askPatient('GET', '/api/companies', tenants[index % 8]))
	const waiting = "select 1 from pg_locks where relation = 'companies'::regclass and not granted"
	await expect.poll(async () => (await locker.query(waiting)).rowCount, { interval: 10, timeout: 10_000 }).toBe(8)
	expect((await askPatient('GET', '/ready')).status).toBe(200)
	await locker.query('rollback')
	await locker.end()
	await Promise.all(readers)
	await patient.close()
})

describe('a process that is frozen in a transaction', () => {
	it('holds up others for the time limit of a lock, and loses its lock when its pause is too long', async () => {
		const id = await newCompany(server)
		const { organizationId, settings } = server
		const script = fileURLToPath(new URL('lock-holder.ts', import.meta.url))
		const child = spawn(process.execPath, [script, JSON.stringify({ settings, organizationId, id })], {
			stdio: ['ignore', 'pipe', 'inherit'],
		})
		try {
			await once(child.stdout, 'data')
			child.kill('SIGSTOP')
			const change = () => ask('PATCH', `/api/companies/${id}`, server, { notes: 'after' })
			const began = performance.now()
			expect(await change()).toMatchObject(locked)
			await expect.poll(async () => (await change()).status, { timeout: 8_000, interval: 10 }).toBe(200)
			expect(performance.now() - began).toBeLessThan(10_000)
		} finally {
			child.kill('SIGKILL')
		}
	})
})

describe('a query that takes too long', () => {
	it('is ended by PostgreSQL, and the transaction stores nothing', async () => {
		const sleep = query<object>((knex) => knex.raw('select pg_sleep(30)'))
		const began = performance.now()
		const errors = await Promise.all(
			[server.db.get(sleep, {}), server.db.transaction((tx) => tx.get(sleep, {}))].map((slow) => slow.catch((error) => error)),
		)
		expect(errors.map(unavailability)).toEqual(['The database took too long', 'The database took too long'])
		expect(performance.now() - began).toBeLessThan(2_900)
	})
})

it('a start does not wait for ever for another process that hangs while it migrates', async () => {
	const hanging = new pg.Client(databaseUrl)
	await hanging.connect()
	const last = 'number = (select max(number) from migrations)'
	const [row] = (await hanging.query(`delete from migrations where ${last} returning number, name`)).rows
	await hanging.query('begin')
	await hanging.query('insert into migrations values ($1, $2, 0)', [row.number, row.name])
	await expect(migrate({ postgresUrl: databaseUrl, waitMs: 200 })).rejects.toThrow(/another process migrates the database/)
	const waiting = migrate({ postgresUrl: databaseUrl })
	const behind = 'select 1 from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))'
	const isWaiting = async () => (await hanging.query(behind)).rowCount
	await expect.poll(isWaiting, { interval: 10, timeout: 10_000 }).toBeGreaterThan(0)
	await hanging.query('commit')
	expect(await waiting).toEqual([])
	await hanging.end()
})

describe('connections that nothing comes through', () => {
	let proxy: DatabaseProxy
	let through: RunningServer
	const askThrough = asker(() => through.url)
	const requests = () => [
		askThrough('GET', '/api/companies'),
		askThrough('POST', '/api/companies', server, { name: 'Through' }),
		askThrough('GET', '/ready'),
	]
	const statuses = async () => (await Promise.all(requests())).map(({ status }) => status)
	beforeAll(async () => {
		proxy = await new DatabaseProxy(databaseUrl).listen()
		through = await serve({ DATABASE_URL: proxy.url })
	})
	beforeEach(async () => {
		// Opens several connections of each kind.
		for (const all of await Promise.all([1, 2, 3].map(statuses))) expect(all).toEqual([200, 201, 200])
	})
	afterAll(async () => {
		proxy.pass()
		await through.close()
		proxy.cut()
	})

	it('are answered for in time, and work again when bytes pass', async () => {
		proxy.hold()
		for (const answer of await Promise.all([...requests(), ...requests()])) {
			expect(answer).toMatchObject({ status: 503, code: expect.stringMatching(/^(unavailable|outcome_unknown)$/) })
			expect(answer.ms).toBeLessThan(6_000)
		}
		expect(await askThrough('GET', '/health')).toMatchObject({ status: 200 })
		proxy.pass()
		await expect.poll(statuses, { timeout: 5_000 }).toEqual([200, 201, 200])
	})

	it('are all replaced as soon as one is found out', async () => {
		proxy.holdOpen()
		expect(await askThrough('GET', '/api/companies')).toMatchObject(
			unavailable(/^The database took too long; nothing was stored\.$/),
		)
		for (const all of await Promise.all([1, 2, 3].map(statuses))) expect(all).toEqual([200, 201, 200])
	})

	it('do not keep a server from its end', async () => {
		const remit = new Remit({ DATABASE_URL: proxy.url, DATABASE_CONNECT_SECONDS: '1', DATABASE_QUERY_SECONDS: '1' }, tmpdir())
		const served = await remit.serve({
			DATA_DIR: server.settings.DATA_DIR || tmpdir(),
			ENCRYPTION_KEYS: server.settings.ENCRYPTION_KEYS as string,
		})
		const url = `${served.url}/api/companies`
		const headers = { authorization: `Bearer ${server.key}` }
		expect((await fetch(url, { headers })).status).toBe(200)
		proxy.hold()
		const underWay = fetch(url, { headers })
		await expect.poll(() => proxy.kept, { interval: 10 }).toBeGreaterThan(0)
		const began = performance.now()
		expect(await served.end('SIGTERM')).toEqual([0, null])
		expect(performance.now() - began).toBeLessThan(8_000)
		expect((await underWay).status).toBe(503)
		proxy.pass()
	})
})

describe('a database that becomes read-only, as the old primary after a failover', () => {
	const setDefault = (text: string) => sql(`alter database ${new URL(databaseUrl).pathname.slice(1)} ${text}`)

	it('stops a start and other commands with a line that says so, as a standby does', async () => {
		const remit = new Remit({ DATABASE_URL: databaseUrl }, tmpdir())
		await setDefault('set default_transaction_read_only = on')
		for (const command of [['serve'], ['migrate'], ['organizations', 'list']])
			expectRefusal(await remit.run(command), /^DATABASE_URL: the database can be read only, as a standby can: name the primary/)
		await setDefault('reset default_transaction_read_only')
	})

	it('takes no changes, says so, and is tried anew until it does', async () => {
		await setDefault('set default_transaction_read_only = on')
		await sql(
			'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
		)
		const create = () => ask('POST', '/api/companies', server, { name: 'Later' })
		// The connections that were ended may be noticed one by one.
		await expect.poll(create).toMatchObject(unavailable(/^The database can be read only at the moment; nothing was stored\.$/))
		expect(await ask('GET', '/api/companies')).toMatchObject({ status: 200 })
		expect(await ask('GET', '/ready')).toMatchObject({ status: 503, detail: 'The database can be read only at the moment.' })
		await setDefault('reset default_transaction_read_only')
		// So may those that were made meanwhile, which stay read-only.
		await expect.poll(create).toMatchObject({ status: 201 })
		await expect.poll(() => ask('GET', '/ready'), { timeout: 3_000 }).toMatchObject({ status: 200 })
	})
})
