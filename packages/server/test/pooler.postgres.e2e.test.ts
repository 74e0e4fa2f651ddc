// PgBouncer between servers and PostgreSQL, in each of its modes, and TLS to the database.
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { migrations } from '../migrations/index.ts'
import { type Config, readConfig } from '../src/config.ts'
import { readMigration } from '../src/platform/db/drivers/migrate.ts'
import { openDatabase } from '../src/platform/db/drivers/open.ts'
import { startServer } from '../src/server.ts'
import { DatabaseProxy } from './database-proxy.ts'
import { freePort } from './free-port.ts'
import { startTestServer, type Tenant, type TestServer } from './harness.ts'
import { needs } from './needs.ts'

let server: TestServer
let folder: string
const ends: (() => unknown)[] = []
beforeAll(async () => {
	server = await startTestServer()
	folder = mkdtempSync(join(tmpdir(), 'remit-pooler-'))
	// PgBouncer does not run as root.
	chmodSync(folder, 0o777)
})
afterAll(async () => {
	for (const end of ends.reverse()) await end()
	await server.close()
	rmSync(folder, { recursive: true, force: true })
})

/** Starts PgBouncer with two connections to PostgreSQL, fewer than a server has; returns the database's URL through it. */
async function pooled(mode: 'session' | 'transaction' | 'statement', more: Record<string, string> = {}): Promise<string> {
	const database = new URL(server.settings.DATABASE_URL as string)
	const port = await freePort()
	const options = {
		listen_addr: '127.0.0.1',
		listen_port: port,
		unix_socket_dir: '',
		auth_type: 'any',
		pool_mode: mode,
		default_pool_size: mode === 'session' ? 40 : 2,
		max_client_conn: 500,
		...more,
	}
	const lines = Object.entries(options).map(([name, value]) => `${name} = ${value}`)
	const target = `* = host=${database.hostname} port=${database.port || 5432} user=${database.username} ${database.password && `password=${database.password}`}`
	const file = join(folder, `${port}.ini`)
	writeFileSync(file, ['[databases]', target, '[pgbouncer]', ...lines, ''].join('\n'))
	const asOther = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
	const child = spawn('pgbouncer', [...asOther, file], { stdio: ['ignore', 'ignore', 'pipe'] })
	ends.push(() => child.kill('SIGKILL'))
	for await (const text of child.stderr.setEncoding('utf8')) if (text.includes('process up')) break
	return Object.assign(database, { host: `127.0.0.1:${port}` }).href
}

/** A server of its own on the tenants' database, and what it logs. */
async function serve(settings: Partial<Config>) {
	const logged: string[] = []
	const log = pino({ level: 'warn' }, { write: (line: string) => logged.push(line) })
	const config = {
		...readConfig({ PORT: '0', NODE_ENV: 'test', WEB: 'off', INVOICING_RATE_LIMIT: '0' }),
		...server.settings,
		...settings,
		DATABASE_CONNECTIONS: 12,
	}
	const running = await startServer({ db: await openDatabase(config, log), config, log })
	ends.push(() => running.close())
	const ask = async ({ key }: Tenant, method: string, path: string, body?: object) => {
		const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': `${Math.random()}` }
		const response = await fetch(running.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
		return {
			status: response.status,
			body: (await response.json()) as { code?: string; detail?: string; data?: { invoiceNumber: string }[] },
		}
	}
	return { url: running.url, ask, logged }
}

/** Writes and reads by many callers at once; returns the statuses that were no success, and the numbers of each tenant's invoices. */
async function work({ ask }: Awaited<ReturnType<typeof serve>>, tenants: readonly Tenant[]) {
	const bad: unknown[] = []
	const calls = tenants.flatMap((tenant) =>
		Array.from({ length: 15 }, async (_, index) => {
			const answers = [
				await ask(tenant, 'POST', '/api/invoices', { totalCents: 100 + index }),
				await ask(tenant, 'GET', `/api/invoices?limit=${index + 1}`),
				await ask(tenant, 'POST', '/api/companies', { name: `Company ${index}` }),
				await ask(tenant, 'GET', '/api/companies?search=company'),
			]
			bad.push(...answers.filter(({ status }) => status >= 300).map(({ body }) => body))
		}),
	)
	await Promise.all(calls)
	const numbers = tenants.map(async (tenant) =>
		(await ask(tenant, 'GET', '/api/invoices?limit=100')).body.data?.map(({ invoiceNumber }) => invoiceNumber).sort(),
	)
	return { bad, numbers: await Promise.all(numbers) }
}
const inOrder = Array.from({ length: 15 }, (_, index) => `INV-${String(index + 1).padStart(4, '0')}`)

needs('pgbouncer').describe('through PgBouncer', () => {
	it.each([
		['transaction', { DATABASE_POOLER: 'transaction' }],
		['session', {}],
	] as const)('in %s mode a server works as without', async (mode, settings) => {
		const through = await serve({ DATABASE_URL: await pooled(mode), ...settings })
		const tenants = await Promise.all(Array.from({ length: 4 }, () => server.newTenant()))
		expect(await work(through, tenants)).toEqual({ bad: [], numbers: tenants.map(() => inOrder) })
		expect((await fetch(`${through.url}/ready`)).status).toBe(200)
	})

	it('in transaction mode a server leaves no setting behind on the connections of others', async () => {
		const url = await pooled('transaction')
		const through = await serve({ DATABASE_URL: url, DATABASE_POOLER: 'transaction' })
		const tenants = [await server.newTenant(), await server.newTenant()]
		await work(through, tenants)
		const clients = await Promise.all(
			[new pg.Client(url), new pg.Client(url)].map(async (client) => {
				await client.connect()
				return client
			}),
		)
		// Both of PgBouncer's connections at once.
		const seen = await Promise.all(
			clients.map(async (client) => {
				await client.query('begin')
				const { rows } = await client.query("select name, setting from pg_settings where source = 'session' and name ~ 'timeout'")
				return rows
			}),
		)
		for (const client of clients) await client.end()
		expect(seen).toEqual([[], []])
	})

	it('in transaction mode a server says which time limits the role lacks, and is silent when it has them', async () => {
		const url = await pooled('transaction')
		const names = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout']
		const limitless = await serve({ DATABASE_URL: url, DATABASE_POOLER: 'transaction' })
		expect(limitless.logged.join()).toContain(`set ${names.join(', ')} on the role`)
		const database = new URL(url).pathname.slice(1)
		const sql = new pg.Client(server.settings.DATABASE_URL as string)
		await sql.connect()
		for (const name of names) await sql.query(`alter database ${database} set ${name} = 8000`)
		await sql.end()
		const limited = await serve({ DATABASE_URL: await pooled('transaction'), DATABASE_POOLER: 'transaction' })
		expect(limited.logged).toEqual([])
	})

	it.each<Record<string, string>>([{}, { server_round_robin: '1' }])(
		'in transaction mode a server that was not told so does not start, and says why (%o)',
		async (options) => {
			const starts = serve({ DATABASE_URL: await pooled('transaction', options) })
			await expect(starts).rejects.toThrow('DATABASE_URL: it leads to a pooler of transactions: set DATABASE_POOLER=transaction.')
		},
	)

	it('in transaction mode a server that comes to be behind one answers 503, and says why', async () => {
		const proxy = await new DatabaseProxy(server.settings.DATABASE_URL as string).listen()
		const through = await serve({ DATABASE_URL: proxy.url })
		ends.push(() => proxy.cut())
		const tenants = await Promise.all([server.newTenant(), server.newTenant()])
		await work(through, tenants)
		proxy.leadTo(await pooled('transaction'))
		const { bad } = await work(through, tenants)
		const details = (bad as { detail: string }[]).map(({ detail }) => detail)
		expect(details).toContainEqual(expect.stringContaining('DATABASE_POOLER'))
	})

	it('in transaction mode a server answers 503 while others have all connections of the pooler, and says so', async () => {
		const url = await pooled('transaction', { query_wait_timeout: '1' })
		const through = await serve({ DATABASE_URL: url, DATABASE_POOLER: 'transaction' })
		const others = [new pg.Client(url), new pg.Client(url)]
		for (const client of others) {
			await client.connect()
			await client.query('begin; select 1')
		}
		const tenant = await server.newTenant()
		for (const [method, body] of [['GET'], ['POST', { name: 'Acme' }]] as const) {
			const { status, body: problem } = await through.ask(tenant, method, '/api/companies', body)
			expect([status, problem]).toEqual([503, expect.objectContaining({ detail: expect.stringContaining('has too much to do') })])
		}
		for (const client of others) await client.end()
		await expect.poll(async () => (await through.ask(tenant, 'POST', '/api/companies', { name: 'Acme' })).status).toBe(201)
	})

	it('in statement mode a server does not start, and says why', async () => {
		const starts = serve({ DATABASE_URL: await pooled('statement'), DATABASE_POOLER: 'transaction' })
		const line = 'DATABASE_URL: transaction blocks not allowed in statement pooling mode: set pool_mode = transaction,'
		await expect(starts).rejects.toThrow(line)
	})
})

needs('pgbouncer').describe('TLS to the database', () => {
	let url: string
	let certificate: string
	beforeAll(async () => {
		const key = join(folder, 'key.pem')
		certificate = join(folder, 'certificate.pem')
		const subject = ['-subj', '/CN=database.example', '-addext', 'subjectAltName=DNS:database.example']
		const files = ['-keyout', key, '-out', certificate, '-days', '2', '-nodes']
		execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', ...subject, ...files], { stdio: 'ignore' })
		chmodSync(key, 0o644)
		url = await pooled('session', { client_tls_sslmode: 'require', client_tls_key_file: key, client_tls_cert_file: certificate })
	})
	const open = async (parameters: string) => {
		const config = { ...readConfig({}), ...server.settings, DATABASE_URL: `${url}?${parameters}` }
		const db = await openDatabase(config, pino({ level: 'silent' }))
		await db.ready()
		await db.close()
	}

	it.each([
		['require asks for encryption alone', () => 'sslmode=require'],
		['verify-ca asks for a certificate of the authority', () => `sslmode=verify-ca&sslrootcert=${certificate}`],
	])('sslmode=%s', async (_, parameters) => {
		await open(parameters())
		// A backup asks this.
		expect(await readMigration(`${url}?${parameters()}`)).toBe(migrations.length)
	})

	it.each([
		[
			'verify-full refuses a certificate of another host',
			() => `sslmode=verify-full&sslrootcert=${certificate}`,
			/altnames|Hostname/i,
		],
		['verify-full refuses a certificate of nobody', () => 'sslmode=verify-full', /self-signed/],
		['disable is refused by a database that asks for it', () => 'sslmode=disable', /SSL required/],
	])('sslmode=%s', async (_, parameters, why) => {
		await expect(open(parameters())).rejects.toThrow(why)
	})
})
