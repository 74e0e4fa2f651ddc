// A disk that is full, or became read-only, under a database that runs: nothing is half stored, and no restart is needed.
import Sqlite from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished, vi } from 'vitest'
import { query } from '../src/platform/db/database.ts'
import { startTestServer, type TestServer } from './harness.ts'

let server: TestServer
beforeAll(async () => {
	server = await startTestServer()
})
afterAll(() => server.close())

const run = (...statements: string[]) =>
	server.db.transaction(async (tx) => {
		for (const text of statements) {
			const statement = query((knex) => knex.raw(text))
			// better-sqlite3 tells apart what returns rows.
			await (text.includes('max_page_count') ? tx.get(statement, {}) : tx.run(statement, {}))
		}
	})

async function create() {
	const headers = { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' }
	const body = JSON.stringify({ name: 'Acme', notes: 'x'.repeat(9_000) })
	const answer = await fetch(`${server.url}/api/companies`, { method: 'POST', headers, body })
	return { status: answer.status, body: await answer.json() }
}
const count = async () => (await server.ask('GET', '/api/companies')).body.meta.total
const isReady = async () => (await fetch(`${server.url}/ready`)).ok
const rejected = (detail: string) => ({ status: 503, body: { code: 'unavailable', detail } })

describe('a database', () => {
	const isSqlite = inject('database') === 'sqlite'

	/** Fails as a full disk does: SQLite by its own limit, PostgreSQL by the code with which it answers then. */
	const fill = isSqlite
		? ['pragma max_page_count = 1']
		: [
				`create function no_room() returns trigger language plpgsql as
					$$ begin raise exception 'no room' using errcode = '53100'; end $$`,
				'create trigger no_room before insert on companies for each row execute function no_room()',
			]
	const makeRoom = isSqlite ? 'pragma max_page_count = 1000000' : 'drop function no_room cascade'

	it('whose disk is full takes no changes, says so, reads on, and takes them again once there is room', async () => {
		expect((await create()).status).toBe(201)
		const before = await count()
		await run(...fill)
		expect(await create()).toMatchObject(rejected('The disk of the database is full; nothing was stored.'))
		expect(await count()).toBe(before)
		await run(makeRoom)
		expect((await create()).status).toBe(201)
		expect(await count()).toBe(before + 1)
		expect(await isReady()).toBe(true)
	})

	// PostgreSQL that takes no changes: time-limits.postgres.e2e.test.ts.
	if (isSqlite)
		it.each([
			['SQLITE_READONLY', 'begin immediate', 'The database can be read only at the moment'],
			['SQLITE_IOERR_WRITE', 'commit', 'The database cannot use its disk'],
		])(
			'whose disk became read-only (%s) does the same, and is not ready until the disk takes changes',
			async (code, step, detail) => {
				const before = await count()
				const other = new Sqlite(':memory:')
				const prototype = Object.getPrototypeOf(other.prepare('commit'))
				other.close()
				const { run } = prototype
				const failing = vi.spyOn(prototype, 'run').mockImplementation(function (this: Sqlite.Statement, ...values) {
					if (this.source === step) throw new Sqlite.SqliteError('a disk that takes nothing', code)
					return run.apply(this, values)
				})
				onTestFinished(() => failing.mockRestore())
				expect(await create()).toMatchObject(rejected(`${detail}; nothing was stored.`))
				expect(await count()).toBe(before)
				expect(await isReady()).toBe(false)
				failing.mockRestore()
				expect(await isReady()).toBe(true)
				expect((await create()).status).toBe(201)
			},
		)
})
