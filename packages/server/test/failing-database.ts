// The answers that follow when the database fails: tests of every-operation.api.test.ts, which counts the answers of each operation.
import Sqlite from 'better-sqlite3'
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { newToken } from '../src/platform/auth/session-cookie.ts'
import { operations } from '../src/platform/contract/routes.ts'
import { query } from '../src/platform/db/database.ts'
import { documents } from './contract.ts'
import { DatabaseProxy } from './database-proxy.ts'
import { startTestServer, type TestServer } from './harness.ts'
import { newRequest } from './samples.ts'

/** Those by which the server knows who asks, and for a request without a key what it is about. */
const tables = ['api_keys', 'sessions', 'users', 'invitations', 'password_resets', 'client_links', 'invoices']

/** It answers before it looks, so that nobody can tell who has an account: no database that it waits for can fail. */
const waitsForNothing = 'session.password.reset'

/** A server whose commits fail when a test says so, in such a way that nobody knows whether they are stored. */
async function startLosing(server: TestServer) {
	const url = server.settings.DATABASE_URL
	if (!url) return { losing: server, loseCommits: failSync, end: async () => {} }
	const proxy = await new DatabaseProxy(url).listen()
	const losing = await startTestServer({ ...server.settings, DATABASE_URL: proxy.url, ROLE: 'api' })
	const loseCommits = () => {
		proxy.losesCommits = true
		onTestFinished(() => {
			proxy.losesCommits = false
		})
	}
	const end = async () => {
		await losing.close()
		proxy.cut()
	}
	return { losing, loseCommits, end }
}

/** As a disk does that takes the bytes of a commit, and then cannot sync them. */
function failSync(): void {
	const other = new Sqlite(':memory:')
	const prototype = Object.getPrototypeOf(other.prepare('commit'))
	other.close()
	const { run } = prototype
	const failing = vi.spyOn(prototype, 'run').mockImplementation(function (this: Sqlite.Statement, ...values) {
		if (this.source === 'commit') throw new Sqlite.SqliteError('a disk that does not sync', 'SQLITE_IOERR_FSYNC')
		return run.apply(this, values)
	})
	onTestFinished(() => failing.mockRestore())
}

export function failAtDatabase(): void {
	let server: TestServer
	let broken: TestServer
	let losing: Awaited<ReturnType<typeof startLosing>>
	const rename = (from: (table: string) => string, to: (table: string) => string) =>
		broken.db.transaction(async (tx) => {
			for (const table of tables) {
				const statement = query((knex) => knex.raw(`alter table ${from(table)} rename to ${to(table)}`))
				await tx.run(statement, {})
			}
		})
	const away = (table: string) => `${table}_away`
	const here = (table: string) => table
	beforeAll(async () => {
		server = await startTestServer()
		losing = await startLosing(server)
		broken = await startTestServer()
		await rename(here, away)
	})
	afterAll(async () => {
		await rename(away, here)
		await broken.close()
		await losing.end()
		await server.close()
	})

	const failing = operations.filter(({ id }) => id !== waitsForNothing)
	it.each(failing)('$id is 500, which says whether anything was stored', async (operation) => {
		const { path, body } = await newRequest(operation, await server.newTenant())
		const who = operation.sessionOnly ? { key: null, headers: { cookie: `remit=${newToken()}` } } : { key: broken.key }
		const failed = await broken.ask(operation.method, path, { body, ...who })
		expect(failed).toMatchObject({ status: 500, body: { code: 'internal_error' } })
	})

	it(`${waitsForNothing} is 500 when the server itself is at fault`, async () => {
		vi.spyOn(server.clock, 'now', 'get').mockImplementation(() => {
			throw new Error('a clock that fails')
		})
		onTestFinished(() => void vi.restoreAllMocks())
		const failed = await server.ask('POST', '/api/session/password/reset', { body: { email: 'nobody@people.example' } })
		expect(failed).toMatchObject({ status: 500, body: { code: 'internal_error' } })
	})

	const committing = operations.filter((operation) => documents(operation, 'outcome_unknown'))
	it.each(committing)('$id is 503 when nobody knows whether it is stored', async (operation) => {
		const tenant = await server.newTenant()
		const { path, body } = await newRequest(operation, tenant)
		const session = operation.sessionOnly && { key: null, headers: { cookie: (await tenant.newPerson()).cookie } }
		losing.loseCommits()
		const failed = await losing.losing.ask(operation.method, path, { body, key: tenant.key, ...session })
		expect(failed).toMatchObject({ status: 503, body: { code: 'outcome_unknown' } })
	})

	it('a GET is 503 as ever when nobody knows whether a view is stored', async () => {
		const { id } = await server.remit.invoices.create({ totalCents: 100 })
		const token = (await server.remit.invoices.clientLink.create(id)).url.split('/').at(-1)
		losing.loseCommits()
		const failed = await losing.losing.ask('GET', `/api/invoices/public/${token}`, { key: null })
		expect(failed).toMatchObject({ status: 503, body: { code: 'unavailable' } })
		expect(failed.headers.get('retry-after')).toBe('2')
	})
}
