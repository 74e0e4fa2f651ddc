// Statements of a transaction go to PostgreSQL without waiting for each other, and no caller notices.
import pg from 'pg'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { DatabaseProxy } from '../../../../test/database-proxy.ts'
import { startTestServer, type TestServer } from '../../../../test/harness.ts'
import { readConfig } from '../../../config.ts'
import { type Database, query, sent, type Transaction, UniqueViolation } from '../database.ts'
import { openDatabase } from './open.ts'

const insert = query<{ text: string }>((knex, row) => knex('notes').insert(row))
const all = query<object, { text: string }>((knex) => knex('notes').select('text').orderBy('text'))
const fails = query<object>((knex) => knex.raw('select 1 / 0'))
const loses = query<object>((knex) => knex.raw(`do $$ begin raise exception using errcode = 'serialization_failure'; end $$`))

let server: TestServer
let sql: pg.Client
let db: Database
beforeAll(async () => {
	server = await startTestServer()
	sql = new pg.Client(server.settings.DATABASE_URL as string)
	await sql.connect()
	await sql.query('create table notes (text text unique)')
	db = await openDatabase({ ...readConfig({}), ...server.settings }, pino({ level: 'silent' }))
})
afterEach(() => sql.query('delete from notes'))
afterAll(async () => {
	await db.close()
	await sql.end()
	await server.close()
})

const change = <T>(work: (tx: Transaction) => Promise<T>) => db.transaction(work, { organizationId: 'org_one' })
const notes = async () => (await db.all(all, {})).map(({ text }) => text)

/** Hears of a failure later than one who waits for the statement itself. */
const deep = (promise: Promise<unknown>) => Promise.all([Promise.all([Promise.all([promise])])])

it('Statements that were sent together fail with the error of the first that failed', async () => {
	const twice = change(async (tx) => {
		await tx.run(insert, { text: 'one' })
		await Promise.all([deep(tx.run(insert, { text: 'one' })), tx.run(insert, { text: 'two' }), tx.all(all, {})])
	})
	await expect(twice).rejects.toBeInstanceOf(UniqueViolation)
	expect(await notes()).toEqual([])
})

it('A change that loses a race begins again, whichever of its statements it waits for first', async () => {
	let attempts = 0
	await change(async (tx) => {
		const race = attempts++ === 0 ? tx.run(loses, {}) : tx.run(insert, { text: 'one' })
		await Promise.all([deep(race), tx.run(insert, { text: 'two' })])
	})
	expect(attempts).toBe(2)
	expect(await notes()).toEqual(['one', 'two'])
})

it('A failure behind a part that was undone is its own', async () => {
	await expect(
		change(async (tx) => {
			await tx.attempt(() => tx.run(fails, {})).catch(() => {})
			await tx.run(insert, { text: 'one' })
			await Promise.all([deep(tx.run(insert, { text: 'one' })), tx.all(all, {})])
		}),
	).rejects.toBeInstanceOf(UniqueViolation)
	expect(await notes()).toEqual([])
})

it('A statement that comes after the end of its transaction is rejected, and stores nothing', async () => {
	let late: Transaction | undefined
	await change(async (tx) => {
		late = tx
		await tx.run(insert, { text: 'in time' })
	})
	await expect(late?.run(insert, { text: 'late' })).rejects.toThrow('a statement came after the end of its transaction')
	expect(await notes()).toEqual(['in time'])
})

it.each(['of an organization', 'of none'])(
	'A change %s begins again when a statement loses a race for which it had not waited',
	async (of) => {
		let runs = 0
		const losesOnce = (tx: Transaction) => sent(tx, runs++ === 0 ? tx.run(loses, {}) : tx.run(insert, { text: 'again' }))
		await db.transaction(losesOnce, of === 'of none' ? {} : { organizationId: 'org_one' })
		expect([runs, await notes()]).toEqual([2, ['again']])
	},
)

it('A query whose time is over after the database was closed ends nothing a second time', async () => {
	const proxy = await new DatabaseProxy(server.settings.DATABASE_URL as string).listen()
	const settings = { ...readConfig({}), ...server.settings, DATABASE_URL: proxy.url, DATABASE_QUERY_SECONDS: 1 }
	const silent = await openDatabase(settings, pino({ level: 'silent' }))
	await silent.all(all, {})
	proxy.hold()
	const read = silent.all(all, {})
	await expect.poll(() => proxy.kept).toBeGreaterThan(0)
	const closed = silent.close()
	await expect(read).rejects.toThrow('Query read timeout')
	// What is rejected and nobody waits for would end a server, and ends this run.
	proxy.cut()
	await closed
})
