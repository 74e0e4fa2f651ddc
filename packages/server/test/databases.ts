// Real databases for the tests: a file for SQLite; for PostgreSQL the server of this machine, or one from npm (postgres-server.ts). Each database is
// a copy of a template that is migrated once.
import { randomBytes } from 'node:crypto'
import { accessSync, constants, copyFileSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pino } from 'pino'
import type { TestProject } from 'vitest/node'
import { type Config, readConfig } from '../src/config.ts'
import { proveHosts } from '../src/integration/webhooks/engine/host-store.ts'
import type { Database } from '../src/platform/db/database.ts'
import { type DatabaseSettings, openDatabase } from '../src/platform/db/drivers/open.ts'
import { partitionTables } from './partitions.ts'
import { admin, isReachable, startPostgres } from './postgres-server.ts'

declare module 'vitest' {
	interface ProvidedContext {
		database: 'sqlite' | 'postgres'
		/** A migrated database to copy: a SQLite file, or a PostgreSQL server's URL and the database's name. */
		template: string
	}
}

const template = `remit_template_${randomBytes(4).toString('hex')}`
/** Of the names of the template's copies. */
const prefixOf = (template: string) => `${template.replace('template', 'test')}_`

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
	if (process.env.TEST_PARTITIONS) await partitionTables(`${url}/${template}`, Number(process.env.TEST_PARTITIONS))
	await admin(url, `alter database ${template} is_template true`)
	project.provide('template', `${url}#${template}`)
	return async () => {
		// It waits for a copy that a worker has begun and not used.
		await admin(url, `alter database ${template} is_template false`, `drop database ${template}`)
		const left = await admin(url, `select datname from pg_database where datname like '${prefixOf(template)}%'`)
		await admin(url, ...left.map(({ datname }) => `drop database if exists ${datname} with (force)`))
		await stop()
	}
}

async function findPostgres(): Promise<{ url: string; stop: () => Promise<void> }> {
	const local = process.env.TEST_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432'
	if (process.env.TEST_POSTGRES !== 'embedded' && (await isReachable(local))) return { url: local, stop: async () => {} }
	return startPostgres()
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
	const [url = '', template = ''] = from.split('#')
	const copy = nextCopy ?? copyOf(url, template)
	nextCopy = copyOf(url, template)
	// Whoever takes it hears of it.
	nextCopy.catch(() => {})
	const name = await copy
	return {
		// In the folder of the process, which keeps no data there: servers of tests have their encryption key as a setting.
		settings: { DATABASE_URL: `${url}/${name}`, DATA_DIR: 'data' },
		drop: async () => {
			drops = drops.then(() => admin(url, `drop database ${name} with (force)`)).catch(() => {})
		},
	}
}

/** What the next call gets: PostgreSQL makes it while this one's test runs. */
let nextCopy: Promise<string> | undefined

async function copyOf(url: string, template: string): Promise<string> {
	const name = `${prefixOf(template)}${randomBytes(6).toString('hex')}`
	// Without waiting for the disk, as in `fastFolder`.
	await admin(url, `create database ${name} template ${template}`, `alter database ${name} set synchronous_commit = off`)
	return name
}

/** Of PostgreSQL, one after the other. No test waits for them: for each PostgreSQL writes whatever it has not yet written to the disk. */
let drops: Promise<unknown> = Promise.resolve()

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
