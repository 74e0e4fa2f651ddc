// A standby that reads lists and reports: nobody is answered with less than what was stored before.
import { tmpdir } from 'node:os'
import { Remit } from '@remit/sdk'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { DatabaseProxy } from './database-proxy.ts'
import { startTestServer, type TestServer } from './harness.ts'
import { admin, type PostgresServer, startPostgres } from './postgres-server.ts'
import { Remit as Command, expectRefusal } from './remit.ts'

let postgres: PostgresServer
let standby: pg.Client
let proxy: DatabaseProxy
let server: TestServer
beforeAll(async () => {
	postgres = await startPostgres({ withStandby: true })
	await admin(postgres.url, 'create database remit')
	proxy = await new DatabaseProxy(`${postgres.standbyUrl}/remit`).listen()
	server = await startTestServer({ DATABASE_URL: `${postgres.url}/remit`, DATABASE_READ_URL: proxy.url })
	standby = new pg.Client(`${postgres.standbyUrl}/postgres`)
	await standby.connect()
	await untilStandbyReads()
}, 120_000)
afterEach(async () => {
	await standby.query('select pg_wal_replay_resume()')
	proxy.pass()
	await untilStandbyReads()
})
afterAll(async () => {
	await standby.end()
	await server.close()
	proxy.cut()
	await postgres.stop()
})

const create = async (name: string) => (await server.remit.companies.create({ name })).id
const listed = async (remit = server.remit) => (await remit.companies.list({ limit: 100 })).data.map(({ id }) => id)

/** Whether the standby is asked for a list. */
async function standbyReads(): Promise<boolean> {
	const before = proxy.trips
	await listed()
	return proxy.trips > before
}
/** Fails with what the server says of it, and with what the standby does. */
const untilStandbyReads = () =>
	vi.waitFor(async () => {
		if (await standbyReads()) return
		const { rows } = await standby.query(
			'select pg_get_wal_replay_pause_state() as state, pg_last_wal_receive_lsn() as got, pg_last_wal_replay_lsn() as replayed',
		)
		throw new Error(JSON.stringify([...logged('DATABASE_READ_URL'), rows, proxy.kept]))
	}, 20_000)

const logged = (words: string) => server.logged.filter((line) => line.includes(words))

it('A list is read from the standby, a record and a change from the primary', async () => {
	expect(await standbyReads()).toBe(true)
	// The list does not wait for all that it asked.
	let before = 0
	const isQuiet = () => {
		const last = before
		before = proxy.trips
		return before === last
	}
	await expect.poll(isQuiet).toBe(true)
	const id = await create('read by the primary')
	await server.remit.companies.get(id)
	expect(proxy.trips).toBe(before)
})

it('Whoever has just written finds it in the next list, also by another server', async () => {
	const other = await startTestServer({ DATABASE_URL: `${postgres.url}/remit`, DATABASE_READ_URL: proxy.url })
	const elsewhere = new Remit({ apiKey: server.key, baseUrl: other.url })
	for (let n = 0; n < 30; n++) {
		const id = await create(`company ${n}`)
		expect(await listed()).toContain(id)
		expect(await listed(elsewhere)).toContain(id)
	}
	await other.close()
})

it('What a standby that is behind does not have, the primary reads, and the log says so', async () => {
	const before = logged('is behind').length
	await standby.query('select pg_wal_replay_pause()')
	await vi.waitFor(
		async () => {
			const id = await create('while it is behind')
			expect(await listed()).toContain(id)
			// By one of two ways to notice it, and once.
			expect(logged('is behind').length).toBe(before + 1)
		},
		{ timeout: 20_000, interval: 500 },
	)
	await standby.query('select pg_wal_replay_resume()')
	// It is asked at every try, and reads once it answers in time.
	const saidAgain = async () => {
		await listed()
		return logged('the standby reads').length
	}
	await expect.poll(saidAgain, { timeout: 20_000 }).toBeGreaterThan(0)
})

it('A standby that is gone is done without, until it is back', async () => {
	proxy.cut()
	const id = await create('while it is gone')
	expect(await listed()).toContain(id)
	expect(logged('ECONNREFUSED').length).toBe(1)
	await proxy.listen()
	await untilStandbyReads()
})

it('A standby that takes questions and never answers holds no list up', async () => {
	proxy.hold()
	const id = await create('while it is silent')
	const began = performance.now()
	expect(await listed()).toContain(id)
	expect(await listed()).toContain(id)
	expect(performance.now() - began).toBeLessThan(2_000)
})

it('Nor does one that falls silent while nothing is written', async () => {
	await untilStandbyReads()
	proxy.hold()
	const began = performance.now()
	for (let n = 0; n < 3; n++) await listed()
	expect(performance.now() - began).toBeLessThan(2_000)
})

it.each([
	['the primary itself', () => `${postgres.url}/remit`, 'it is no standby'],
	['a standby of another server', () => `${postgres.standbyUrl}/remit`, 'it does not follow DATABASE_URL'],
	['another database there', () => `${postgres.standbyUrl}/copy`, 'it does not follow DATABASE_URL'],
])('An address that is that of %s reads nothing, and the log says so', async (what, url, reason) => {
	if (what === 'another database there') {
		await admin(postgres.url, 'create database copy')
		// Else the log would say once that there is none.
		const found = async () => (await standby.query("select from pg_database where datname = 'copy'")).rowCount
		await expect.poll(found, { timeout: 20_000 }).toBe(1)
	}
	const isElsewhere = what === 'a standby of another server'
	const wrong = await startTestServer({
		...(!isElsewhere && { DATABASE_URL: `${postgres.url}/remit` }),
		DATABASE_READ_URL: url(),
	})
	const { id } = await wrong.remit.companies.create({ name: 'Acme' })
	expect(await listed(wrong.remit)).toEqual([id])
	await vi.waitFor(() => expect(wrong.logged.some((line) => line.includes(reason))).toBe(true), 20_000)
	await wrong.close()
})

it('A start with the standby as DATABASE_URL ends with a line that says so', async () => {
	const remit = new Command({ DATABASE_URL: `${postgres.standbyUrl}/remit` }, tmpdir())
	expectRefusal(await remit.run(['serve']), /^DATABASE_URL: the database can be read only, as a standby can: name the primary/)
})
