// The command `remit` on a real database, also beside a running server: keys, migrations, demo data, and how a server ends.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { migrations } from '../migrations/index.ts'
import type { AuditEntry } from '../src/generated/contract.ts'
import { newDatabase, type TestDatabase } from './databases.ts'
import { expectRefusal, Remit, type Served } from './remit.ts'

const folder = mkdtempSync(join(tmpdir(), 'remit-cli-'))
const databases: TestDatabase[] = []

/** The command with a database of its own; `empty` leaves it without a schema. */
async function newRemit({ empty = false } = {}): Promise<Remit> {
	const database = await newDatabase(inject('database'), inject('template'))
	databases.push(database)
	const { DATABASE_URL, DATA_DIR } = database.settings
	const remit = new Remit(DATABASE_URL ? { DATABASE_URL } : { DATA_DIR }, folder)
	if (DATABASE_URL && empty) await execute(remit, 'drop schema public cascade; create schema public')
	return remit
}

async function execute({ env }: Remit, sql: string): Promise<void> {
	if (env.DATABASE_URL) {
		const client = new pg.Client(env.DATABASE_URL)
		await client.connect()
		await client.query(sql).finally(() => client.end())
		return
	}
	const file = new Sqlite(join(env.DATA_DIR as string, 'remit.db'))
	file.exec(sql)
	file.close()
}

let remit: Remit
let organizationId: string
beforeAll(async () => {
	remit = await newRemit()
	organizationId = (await remit.json(['organizations', 'create', '--name', 'First Ltd'])).organizationId
})
afterEach(() => remit.stop())
afterAll(async () => {
	for (const database of databases) await database.drop()
	rmSync(folder, { recursive: true, force: true })
})

const authorized = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })
const statusOf = async (url: string, key: string) => (await fetch(`${url}/api/invoices`, authorized(key))).status

async function all(url: string, key: string, path: string) {
	const found = []
	for (let offset = 0; ; offset += 100) {
		const answer = await fetch(`${url}${path}?limit=100&offset=${offset}`, authorized(key))
		const { data } = (await answer.json()) as { data: { id: string; invoiceNumber: string; status: string }[] }
		found.push(...data)
		if (data.length < 100) return found
	}
}

const newKey = (more: readonly string[] = []) =>
	remit.json(['keys', 'create', '--organization', organizationId, '--scopes', 'invoices:write,companies:read', ...more])

describe('jobs', () => {
	it('are listed with what failed, which can be made due at once', async () => {
		const other = await newRemit()
		expect(await other.json(['jobs', 'list'])).toEqual([])
		const values = (kind: string, dueAt: string, attempt: number, error: string) =>
			`('org_1', '${kind}', 'r1', ${dueAt}, ${attempt}, ${error})`
		await execute(
			other,
			`insert into jobs ("organizationId", kind, "resourceId", "dueAt", attempt, "lastError") values
				${values('good', '4102444800000', 0, 'null')}, ${values('bad', '4102444800001', 3, "'No route'")}`,
		)
		const bad = { organizationId: 'org_1', kind: 'bad', resourceId: 'r1', dueAt: '2100-01-01T00:00:00.001Z', leaseUntil: null }
		expect(await other.json(['jobs', 'list'])).toEqual([
			{ ...bad, kind: 'good', dueAt: '2100-01-01T00:00:00.000Z', attempt: 0, lastError: null },
			{ ...bad, attempt: 3, lastError: 'No route' },
		])
		const { stdout } = await other.run(['jobs', 'list', '--failed'])
		expect(stdout.trim()).toBe('bad  r1  org_1  due 2100-01-01T00:00:00.001Z  attempt 3: No route')
		expectRefusal(await other.run(['jobs', 'retry']), /--all/)
		expectRefusal(await other.run(['jobs', 'list', '--kind', 'nope']), /--kind nope: it is one of overdue, closeLink/)
		expect(await other.json(['jobs', 'retry', '--all'])).toEqual({ count: 1 })
		const [first] = await other.json(['jobs', 'list', '--kind', 'bad', '--organization', 'org_1'])
		expect(Date.parse(first.dueAt)).toBeLessThanOrEqual(Date.now())
	})
})

describe('organizations and keys', () => {
	it('have names as the contract takes them', async () => {
		const { name, organizationId: id } = await remit.json(['organizations', 'create', '--name', ' Cafe\u0301\u00a0'])
		expect(name).toBe('Café')
		await remit.json(['keys', 'create', '--organization', id, '--scopes', 'read', '--name', ' CI '])
		expect(await remit.json(['keys', 'list', '--organization', id])).toMatchObject([{ name: 'CI' }])
		for (const wrong of ['two\nlines', 'a\u200bb', 'x'.repeat(201), ' ', '\u2800']) {
			expectRefusal(await remit.run(['organizations', 'create', '--name', wrong]), /^--name: must be one line of text/)
			const create = ['keys', 'create', '--organization', id, '--scopes', 'read', '--name', wrong]
			expectRefusal(await remit.run(create), /^--name: must be one line of text/)
		}
	})

	it('creates and lists organizations', async () => {
		const created = await remit.json(['organizations', 'create', '--name', "Müller & O'Neil", '--time-zone', 'Asia/Tokyo'])
		expect(created).toMatchObject({
			organizationId: expect.stringMatching(/^org_/),
			name: "Müller & O'Neil",
			timeZone: 'Asia/Tokyo',
			nextInvoiceNumber: 1,
		})
		expect(await remit.json(['organizations', 'list'])).toContainEqual(created)
		const { stdout } = await remit.run(['organizations', 'list'])
		expect(stdout).toContain(`${created.organizationId}  Müller & O'Neil`)
	})

	it('creates, lists and revokes keys, and shows a key once', async () => {
		const before = Date.now()
		const { id, key, scopes, expiresAt } = await newKey([
			'--name',
			'shop',
			'--expires-in',
			'90d',
			'--resources',
			'invoice,company',
		])
		expect(scopes).toEqual(['invoices:write', 'companies:read'])
		expect(expiresAt).toBeGreaterThanOrEqual(before + 90 * 86_400_000)
		const listed = await remit.run(['keys', 'list', '--organization', organizationId, '--json'])
		expect(JSON.parse(listed.stdout)).toContainEqual(
			expect.objectContaining({
				...{ id, name: 'shop', lastFour: key.slice(-4), scopes, expiresAt, revokedAt: null },
				resources: ['invoice', 'company'],
			}),
		)
		expect(listed.stdout).not.toContain(key.slice(4, 36))
		expect(await remit.json(['keys', 'revoke', id])).toEqual({ ok: true })
		expect((await remit.run(['keys', 'list'])).stdout).toMatch(new RegExp(`${id}.*revoked`))
	})

	it('work at once on a server that runs, which refuses a revoked key within two seconds, and are in its audit log', async () => {
		const { url } = await remit.serve({ INVOICING_RATE_LIMIT: '0' })
		const { id, key } = await newKey()
		expect(await statusOf(url, key)).toBe(200)
		await remit.json(['keys', 'revoke', id])
		const revoked = Date.now()
		for (; (await statusOf(url, key)) === 200; await sleep(50)) expect(Date.now() - revoked).toBeLessThan(2_200)
		expect(await statusOf(url, key)).toBe(401)
		const { key: admin } = await remit.json(['keys', 'create', '--organization', organizationId, '--scopes', 'admin'])
		const response = await fetch(`${url}/api/audit?resource=${id}`, { headers: { authorization: `Bearer ${admin}` } })
		const { data } = (await response.json()) as { data: AuditEntry[] }
		const by = { actor: { type: 'command', id: userInfo().username }, address: null, requestId: null }
		expect(data).toMatchObject([
			{ operation: 'remit keys revoke', action: 'deleted', ...by },
			{ operation: 'remit keys create', action: 'created', ...by },
		])
	})

	it('can be managed while the server writes as fast as it can', async () => {
		const { url } = await remit.serve({ INVOICING_RATE_LIMIT: '0' })
		const { key } = await newKey()
		let busy = true
		const write = async () => {
			while (busy) expect((await fetch(`${url}/api/invoices`, { method: 'POST', ...authorized(key) })).status).toBe(201)
		}
		const writers = Array.from({ length: 20 }, write)
		const args = ['keys', 'create', '--organization', organizationId, '--scopes', 'invoices:read', '--json']
		const commands = await Promise.all(Array.from({ length: 4 }, () => remit.run(args)))
		busy = false
		await Promise.all(writers)
		for (const { code, stderr } of commands) expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
	})
})

describe('migrating', () => {
	it('happens once when several processes begin with the same empty database', async () => {
		const empty = await newRemit({ empty: true })
		const both = await Promise.all([
			empty.run(['migrate', '--json']),
			empty.run(['organizations', 'list', '--json']),
			empty.run(['migrate']),
		])
		expect(both.map(({ code, stderr }) => ({ code, stderr }))).toEqual(both.map(() => ({ code: 0, stderr: '' })))
		expect(both.map(({ stdout }) => stdout)).toEqual(['{"ok":true}\n', '[]\n', expect.stringContaining('up to date')])
	})

	it('is refused for a database that a newer version wrote', async () => {
		const newer = await newRemit()
		await newer.json(['migrate'])
		await execute(newer, `insert into migrations ("number", "name", "appliedAt") values (${migrations.length + 1}, 'later', 0)`)
		for (const command of ['migrate', 'serve'])
			expectRefusal(await newer.run([command]), /^The database is at migration \d+.*newer/)
		await execute(newer, `update migrations set "needs" = "number" where "name" = 'later'`)
		expectRefusal(await newer.run(['serve']), /^The database is at migration \d+.*newer/)
	})

	it('by a newer version that only adds stops no start of this one, whose log says so', async () => {
		const newer = await newRemit()
		await newer.json(['migrate'])
		const later = `(${migrations.length + 1}, 'later', 0, 0)`
		await execute(newer, `insert into migrations ("number", "name", "appliedAt", "needs") values ${later}`)
		const served = await newer.serve({ LOG_LEVEL: 'warn' })
		expect((await fetch(`${served.url}/ready`)).status).toBe(200)
		expect(served.lines().join('\n')).toContain('"newer":["later"]')
		expect(await newer.json(['migrate'])).toEqual({ ok: true })
		await served.end('SIGTERM')
	})

	it('is left to the server and to `migrate`: other commands refuse the database of an older version', async () => {
		const older = await newRemit()
		await execute(older, `delete from migrations where "number" = ${migrations.length}`)
		for (const command of [['organizations', 'list'], ['mail', 'suppressed'], ['demo']])
			expectRefusal(await older.run(command), /^The database is at migration \d+, .*remit migrate\.$/)
		await execute(older, `insert into migrations ("number", "name", "appliedAt") values (${migrations.length}, 'last', 0)`)
		expect(await older.json(['organizations', 'list'])).toEqual([])
	})

	it('is refused for a database that has no TLS, or with a mode or a certificate that cannot be used', async () => {
		if (!remit.env.DATABASE_URL) return
		const withoutTls = createServer((socket) => socket.on('error', () => {}).once('data', () => socket.write('N')))
		const listening = await new Promise<AddressInfo>((resolve) =>
			withoutTls.listen(0, '127.0.0.1', () => resolve(withoutTls.address() as AddressInfo)),
		)
		const folder = mkdtempSync(join(tmpdir(), 'remit-tls-'))
		const rubbish = join(folder, 'rubbish.pem')
		const text = join(folder, 'text.pem')
		writeFileSync(text, 'a certificate')
		writeFileSync(rubbish, '-----BEGIN CERTIFICATE-----\nno\n-----END CERTIFICATE-----\n')
		const at = `postgres://postgres@127.0.0.1:${listening.port}/remit`
		const refused = [
			['sslmode=require', /^DATABASE_URL: The server and its database do not agree on TLS: The server does not support SSL/],
			['sslmode=nonsense', /^DATABASE_URL: sslmode=nonsense must be one of disable, prefer, require, verify-ca, verify-full$/],
			['sslmode=verify-ca', /^DATABASE_URL: sslmode=verify-ca needs sslrootcert/],
			['sslmode=require&sslrootcert=/nowhere.pem', /^DATABASE_URL: sslrootcert=\/nowhere.pem cannot be read: ENOENT/],
			['sslrootcert=/nowhere.pem', /^DATABASE_URL: sslrootcert=.* cannot be read/],
			[`sslcert=${rubbish}&sslkey=${rubbish}`, /^DATABASE_URL: sslrootcert, sslcert, sslkey: /],
			[`sslmode=require&sslrootcert=${text}`, /^DATABASE_URL: sslrootcert=.* is no PEM file$/],
		] as const
		for (const [parameters, line] of refused)
			expectRefusal(await remit.run(['migrate'], { DATABASE_URL: `${at}?${parameters}` }), line)
		withoutTls.close()
		rmSync(folder, { recursive: true })
	})

	it('is refused for a database with the tables of another program', async () => {
		if (!remit.env.DATABASE_URL) return
		const other = await newRemit({ empty: true })
		await execute(other, 'create table invoices (id integer)')
		expectRefusal(
			await other.run(['migrate']),
			/^DATABASE_URL: "invoices" is there, and is not Remit's: name a database of its own\.$/,
		)
	})

	it('is refused for a role that may not make tables', async () => {
		if (!remit.env.DATABASE_URL) return
		const role = `remit_guest_${process.pid}`
		const empty = await newRemit({ empty: true })
		const own = new URL(empty.env.DATABASE_URL as string)
		await execute(empty, `create role ${role} login password '${role}'; revoke create on schema public from public`)
		own.username = own.password = role
		expectRefusal(
			await empty.run(['migrate'], { DATABASE_URL: own.href }),
			/^DATABASE_URL: The role of the server may not use its database: .*(permission denied for schema public|no schema has been selected)/s,
		)
		await execute(empty, `drop role ${role}`)
	})

	it('is refused for a database or a role that PostgreSQL does not have', async () => {
		if (!remit.env.DATABASE_URL) return
		const [database, role] = [new URL(remit.env.DATABASE_URL), new URL(remit.env.DATABASE_URL)]
		database.pathname = '/nowhere'
		role.username = 'nobody_here'
		for (const { href } of [database, role]) {
			expectRefusal(
				await remit.run(['migrate'], { DATABASE_URL: href }),
				/^DATABASE_URL: The server cannot reach its database: .*(does not exist|password authentication failed for user .*)$/,
			)
		}
	})
})

describe('the demo', () => {
	it('is created on the first run only, with invoices in every status', async () => {
		const fresh = await newRemit({ empty: true })
		const first = await fresh.serve({}, ['--demo'])
		const key = first.key as string
		const invoices = await all(first.url, key, '/api/invoices')
		expect(new Set(invoices.map(({ status }) => status))).toEqual(new Set(['draft', 'sent', 'paid', 'overdue', 'cancelled']))
		expect((await all(first.url, key, '/api/companies')).length).toBeGreaterThan(2)
		expect(await first.end('SIGTERM')).toEqual([0, null])
		const second = await fresh.serve({}, ['--demo'])
		expect(second.key).toBeUndefined()
		expect(await all(second.url, key, '/api/invoices')).toEqual(invoices)
		expect(await second.end('SIGINT')).toEqual([0, null])
	})

	it('gets another key at a later start that asks for one', async () => {
		const fresh = await newRemit({ empty: true })
		const first = await fresh.serve({}, ['--demo', '--new-key'])
		const invoices = await all(first.url, first.key as string, '/api/invoices')
		await first.end('SIGTERM')
		const second = await fresh.serve({}, ['--demo', '--new-key'])
		expect(second.key).toMatch(/^rmt_\w{38}$/)
		expect(second.key).not.toBe(first.key)
		for (const { key } of [first, second]) expect(await all(second.url, key as string, '/api/invoices')).toEqual(invoices)
		await second.end('SIGTERM')
	})

	it('can be created beside what is there', async () => {
		const { organizationId: other, key } = await remit.json(['demo'])
		expect(other).not.toBe(organizationId)
		const { url } = await remit.serve()
		expect((await all(url, key, '/api/invoices')).length).toBeGreaterThan(4)
	})
})

describe('a server', () => {
	it('logs a line for each request, without secrets, and its last lines when it ends', async () => {
		const { key } = await newKey()
		const server = await remit.serve({ LOG_LEVEL: 'info' })
		await fetch(`${server.url}/api/invoices?limit=1`, {
			headers: { authorization: `Bearer ${key}`, 'x-request-id': 'traced-request' },
		})
		expect(await server.end('SIGTERM')).toEqual([0, null])
		const lines = server.lines().map((line) => JSON.parse(line))
		expect(lines).toContainEqual(
			expect.objectContaining({ requestId: 'traced-request', operation: 'invoices.list', status: 200, ms: expect.any(Number) }),
		)
		expect(server.lines().join()).not.toContain(key.slice(4, 36))
	})

	it('that is asked to end lets the requests under way finish', async () => {
		const { key } = await newKey()
		const server = await remit.serve()
		const create = () => fetch(`${server.url}/api/invoices`, { method: 'POST', ...authorized(key) }).then(({ status }) => status)
		const first = create()
		const others = Array.from({ length: 30 }, create)
		await first
		const ended = server.end('SIGTERM')
		// Requests that came too late get no answer at all; none is cut off or fails.
		const answered = (await Promise.allSettled(others)).map((result) => (result.status === 'fulfilled' ? result.value : 201))
		expect(new Set(answered)).toEqual(new Set([201]))
		expect(await ended).toEqual([0, null])
	})

	it('that is killed among 200 creates has kept every invoice it answered, under numbers without gaps', async () => {
		const own = await newRemit()
		const { organizationId: organization } = await own.json(['organizations', 'create', '--name', 'Killed Ltd'])
		const { key } = await own.json(['keys', 'create', '--organization', organization, '--scopes', 'invoices:write'])
		const server = await own.serve({ INVOICING_RATE_LIMIT: '0', REQUESTS_UNDER_WAY: '0' })
		const answered: string[] = []
		let ended: ReturnType<Served['end']> | undefined
		const creates = Array.from({ length: 200 }, async () => {
			const answer = await fetch(`${server.url}/api/invoices`, { method: 'POST', ...authorized(key) })
			answered.push(((await answer.json()) as { id: string }).id)
			if (answered.length === 40) ended = server.end('SIGKILL')
		})
		await Promise.allSettled(creates)
		expect(await ended).toEqual([null, 'SIGKILL'])
		const again = await own.serve()
		const stored = await all(again.url, key, '/api/invoices')
		expect(stored.map(({ id }) => id)).toEqual(expect.arrayContaining(answered))
		const numbers = stored.map(({ invoiceNumber }) => invoiceNumber).sort()
		expect(numbers).toEqual(numbers.map((_, index) => `INV-${String(index + 1).padStart(4, '0')}`))
		expect(await again.end('SIGTERM')).toEqual([0, null])
	})
})
