// What a start does on a disk, a key or a database that it cannot use, and who may read what it writes.
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { migrations } from '../migrations/index.ts'
import { DatabaseProxy } from './database-proxy.ts'
import { newDatabase } from './databases.ts'
import { freePort } from './free-port.ts'
import { encryptionKey } from './leaks.ts'
import { cli, type Environment, expectRefusal, inherited, Remit } from './remit.ts'

const isSqlite = inject('database') === 'sqlite'
const folder = mkdtempSync(join(tmpdir(), 'remit-start-'))
const remits: Remit[] = []

/** The command on an empty, migrated database of its own. */
async function newRemit(): Promise<Remit> {
	const { settings, drop } = await newDatabase(inject('database'), inject('template'))
	dropped.push(drop)
	const remit = new Remit(
		{ DATA_DIR: mkdtempSync(join(folder, 'data-')), ...(isSqlite ? settings : { DATABASE_URL: settings.DATABASE_URL }) },
		folder,
	)
	remits.push(remit)
	return remit
}
const dropped: (() => Promise<void>)[] = []

afterEach(() => {
	for (const remit of remits) remit.stop()
})
afterAll(async () => {
	for (const drop of dropped) await drop()
	rmSync(folder, { recursive: true, force: true })
})

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

describe('a second server', () => {
	it('on one SQLite file is refused with a sentence, and starts once the first was killed', async () => {
		if (!isSqlite) return
		const remit = await newRemit()
		const first = await remit.serve()
		expectRefusal(await remit.run(['serve']), /^DATA_DIR=.*: a server is running on .*PostgreSQL/)
		expect(await remit.json(['organizations', 'list'])).toEqual([])
		expect((await fetch(`${first.url}/ready`)).status).toBe(200)
		await first.end('SIGKILL')
		await startAndEnd(remit)
	})

	it('or `remit migrate` of a newer version leaves a SQLite file alone that a server is running on', async () => {
		if (!isSqlite) return
		const remit = await newRemit()
		const server = await remit.serve()
		expect(await remit.json(['migrate'])).toEqual({ ok: true })
		const file = new Sqlite(join(remit.env.DATA_DIR as string, 'remit.db'))
		file.exec(`delete from migrations where number = ${migrations.length}`)
		file.close()
		expectRefusal(await remit.run(['migrate']), /^DATA_DIR=.*: a server is running on .*\. Stop it first/)
		expect((await fetch(`${server.url}/ready`)).status).toBe(200)
	})

	it('on one PostgreSQL database starts', async () => {
		if (isSqlite) return
		const remit = await newRemit()
		const servers = [await remit.serve(), await remit.serve()]
		for (const { url } of servers) expect((await fetch(`${url}/ready`)).status).toBe(200)
	})
})

describe('a disk that cannot be used', () => {
	it.each(['/proc/remit', '/dev/null/remit'])('is named in one line: %s', async (DATA_DIR) => {
		if (!isSqlite || !existsSync('/proc/self')) return
		for (const command of ['serve', 'migrate']) {
			expectRefusal(
				await new Remit({ DATA_DIR }, folder).run([command]),
				new RegExp(`^DATA_DIR=${DATA_DIR}: .*cannot be used: E`),
			)
		}
	})

	it('is named in one line when it is full, whatever is the first that does not fit, and when it is read-only', {
		timeout: 60_000,
	}, () => {
		const mount = (script: string) =>
			spawnSync('unshare', ['-Urm', 'sh', '-c', script], {
				encoding: 'utf8',
				env: { ...inherited, DATA_DIR: disk, PORT: '0', LOG_LEVEL: 'silent' },
			})
		const disk = join(folder, 'disk')
		mkdirSync(disk)
		const remit = `${process.execPath} ${cli}`
		// Only a system that lets this user mount has such disks for a test.
		if (!isSqlite || mount(`mount -t tmpfs none ${disk}`).status !== 0) return
		for (const size of ['64k', '400k']) {
			const { status, stderr } = mount(`mount -t tmpfs -o size=${size} none ${disk} && exec ${remit} serve`)
			expect({ size, status, stderr }).toEqual({
				size,
				status: 1,
				stderr: expect.stringMatching(/^DATA_DIR=.* cannot be used: .*\n$/),
			})
		}
		const readOnly = mount(
			`mount -t tmpfs none ${disk} && ${remit} migrate >&2 && mount -o remount,ro ${disk} && exec ${remit} serve`,
		)
		expect(readOnly).toMatchObject({
			status: 1,
			stderr: expect.stringMatching(/^The database is up to date.\nDATA_DIR=.* cannot be used: .*\n$/),
		})
	})
})

describe('a missing encryption key', () => {
	it('is made for a new database, and never for one that was written with another', { timeout: 60_000 }, async () => {
		const remit = await newRemit()
		const key = join(remit.env.DATA_DIR as string, 'encryption-key')
		const { key: apiKey } = await remit.json(['demo'])
		const first = await remit.serve()
		const [invoice] = (
			(await (await ask(first.url, apiKey, 'GET', '/api/invoices?status=sent')).json()) as { data: { id: string }[] }
		).data
		expect((await ask(first.url, apiKey, 'POST', `/api/invoices/${invoice?.id}/client-link`)).status).toBe(200)
		await first.end('SIGTERM')
		renameSync(key, `${key}.lost`)
		expectRefusal(await remit.run(['serve']), /encryption-key is missing.*backup.*ENCRYPTION_KEYS.*openssl rand -base64 32 > /)
		expect(existsSync(key)).toBe(false)
		const ENCRYPTION_KEYS = encryptionKey(7)
		await startAndEnd(remit, { ENCRYPTION_KEYS })
		execFileSync('sh', ['-c', `openssl rand -base64 32 > '${key}'`])
		await startAndEnd(remit)
	})
})

/** Starts a server, and ends it once it answers. */
async function startAndEnd(remit: Remit, environment: Record<string, string> = {}): Promise<string[]> {
	const { url, end, lines } = await remit.serve(environment)
	expect((await fetch(`${url}/ready`)).status).toBe(200)
	expect(await end('SIGTERM')).toEqual([0, null])
	return lines()
}

const ask = (url: string, key: string, method: string, path: string) =>
	fetch(url + path, { method, headers: { authorization: `Bearer ${key}` } })

describe('a server that others can reach', () => {
	let remit: Remit
	beforeAll(async () => {
		remit = await newRemit()
	})

	it('warns in its log of demo data and of payments that are not real', async () => {
		const outside = await remit.serve({ HOST: '0.0.0.0', PAYMENT_PROCESSOR: 'test', NODE_ENV: 'test', LOG_LEVEL: 'warn' }, [
			'--demo',
		])
		expect((await fetch(`${outside.url}/ready`)).status).toBe(200)
		await outside.end('SIGTERM')
		expect(outside.lines().join('\n')).toMatch(
			/PAYMENT_PROCESSOR is test and others can reach HOST=0.0.0.0.*there is demo data \(org_/s,
		)
	})

	it('warns of them no more when it is on this machine', async () => {
		const inside = await startAndEnd(remit, { PAYMENT_PROCESSOR: 'test', NODE_ENV: 'test', LOG_LEVEL: 'warn' })
		expect(inside.join('\n')).not.toMatch(/PAYMENT_PROCESSOR|demo data/)
	})
})

describe('a start that waits for the database', () => {
	let remit: Remit
	let port: number
	beforeAll(async () => {
		remit = await newRemit()
		await startAndEnd(remit)
	})

	/** Keeps others from the rows of a table; returns what lets them in. */
	async function hold(table: string): Promise<() => Promise<void>> {
		if (isSqlite) {
			const file = new Sqlite(join(remit.env.DATA_DIR as string, 'remit.db'))
			file.exec('begin immediate')
			return async () => void file.close()
		}
		const client = new pg.Client(remit.env.DATABASE_URL)
		await client.connect()
		await client.query(`begin; lock table ${table} in access exclusive mode`)
		return () => client.end()
	}

	const statusOf = (path: string) =>
		fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } }).then(
			async (answer) => [answer.status, ((await answer.json()) as { detail?: string }).detail],
			() => undefined,
		)
	const until = (path: string, status: unknown) =>
		expect.poll(() => statusOf(path), { interval: 20, timeout: 20_000 }).toEqual(status)
	const starting = [503, 'The server is starting.']

	async function begin(environment: Environment = {}) {
		port = await freePort()
		const server = remit.begin(['serve', '--json'], { PORT: String(port), ...environment })
		await until('/health', starting)
		expect(await statusOf('/ready')).toEqual(starting)
		return server
	}

	it('on SQLite ends on SIGTERM once nothing is half done, also before it listens', async () => {
		if (!isSqlite) return
		const release = await hold('all')
		const server = remit.begin(['serve', '--json'])
		const lock = join(remit.env.DATA_DIR as string, 'server.lock')
		const isTaken = () => {
			const other = new Sqlite(lock, { timeout: 0 })
			try {
				other.exec('begin exclusive')
				return false
			} catch {
				return true
			} finally {
				other.close()
			}
		}
		await expect.poll(isTaken, { interval: 50, timeout: 20_000 }).toBe(true)
		const ended = server.end('SIGTERM')
		await release()
		expect(await ended).toEqual([0, null])
		expect(server.lines()).toEqual([])
	})

	it('is 503 at /health and /ready until it is over, and ends on SIGTERM once nothing is half done', async () => {
		if (isSqlite) return
		const release = await hold('jobs')
		const server = await begin()
		// The document is made once, and says from the beginning where its server is.
		const document = (await (await fetch(`http://127.0.0.1:${port}/openapi.json`)).json()) as { servers: { url: string }[] }
		expect(document.servers).toMatchObject([{ url: `http://127.0.0.1:${port}` }])
		const ended = server.end('SIGTERM')
		await release()
		expect(await ended).toEqual([0, null])
		expect(server.lines()).toEqual([])
	})

	it.each(['jobs', 'organizations'])('goes on after its connections were lost (%s)', async (table) => {
		if (isSqlite) return
		const proxy = await new DatabaseProxy(remit.env.DATABASE_URL as string).listen()
		const release = await hold(table)
		const server = await begin({ DATABASE_URL: proxy.url })
		proxy.leadTo(remit.env.DATABASE_URL as string)
		await release()
		await until('/ready', [200, undefined])
		expect(await statusOf('/health')).toEqual([200, undefined])
		expect(await server.end('SIGTERM')).toEqual([0, null])
		proxy.cut()
	})
})

describe('files', () => {
	it('of the server are for its user alone, whatever the umask; those of an older version become so', async () => {
		if (!isSqlite) return
		const umask = process.umask(0)
		try {
			const remit = new Remit({ DATA_DIR: join(folder, 'new/data') }, folder)
			remits.push(remit)
			const data = remit.env.DATA_DIR as string
			const server = await remit.serve({}, ['--demo'])
			const {
				data: [company],
			} = (await (await ask(server.url, server.key as string, 'GET', '/api/invoices?status=sent')).json()) as {
				data: { id: string }[]
			}
			const sent = await fetch(`${server.url}/api/invoices/${company?.id}/send`, {
				method: 'POST',
				headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
				body: '{"to": "a@example.com"}',
			})
			expect(sent.status).toBe(200)
			const files = readdirSync(data, { recursive: true, withFileTypes: true })
			expect(files.map(({ name }) => name)).toEqual(
				expect.arrayContaining(['remit.db', 'remit.db-wal', 'remit.db-shm', 'encryption-key', 'mail']),
			)
			for (const file of files)
				expect([file.name, modeOf(join(file.parentPath, file.name))]).toEqual([file.name, file.isDirectory() ? '700' : '600'])
			expect([modeOf(data), modeOf(join(folder, 'new'))]).toEqual(['700', '700'])
			await server.end('SIGTERM')

			for (const name of ['remit.db', 'encryption-key']) chmodSync(join(data, name), 0o644)
			for (const name of ['.', 'mail']) chmodSync(join(data, name), 0o755)
			const lines = await startAndEnd(remit, { LOG_LEVEL: 'warn' })
			expect(['remit.db', 'encryption-key', 'mail'].map((name) => modeOf(join(data, name)))).toEqual(['600', '600', '700'])
			expect(lines.join('\n')).toContain(`others can enter ${data}: chmod 700 ${data}`)
		} finally {
			process.umask(umask)
		}
	})
})
