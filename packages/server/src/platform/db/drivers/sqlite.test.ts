import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { OutcomeUnknown, query, unavailability } from '../database.ts'
import { openSqlite } from './sqlite.ts'

let file: string
beforeEach(() => {
	const folder = mkdtempSync(join(tmpdir(), 'remit-sqlite-'))
	file = join(folder, 'remit.db')
	return () => rmSync(folder, { recursive: true })
})

const page = 4_096
const create = query<object>((knex) => knex.raw('create table notes (id integer primary key, text text)'))
const insert = query<{ text: string }>((knex, { text }) => knex('notes').insert({ text }))
const count = query<object, { count: number }>((knex) => knex('notes').count('* as count'))

describe('the log of a database that is written without a pause', () => {
	it('starts again at its beginning, however fast it grows, and is gone when the database is closed', async () => {
		const db = openSqlite(file)
		await db.transaction((tx) => tx.run(create, {}))
		const text = 'x'.repeat(25 * page)
		const mostWrites = 15_000
		let longest = 0
		let writes = 0
		// How soon depends on the load of the machine. It began anew when more was written than it ever held.
		while (longest > (writes - 1_000) * text.length && writes < mostWrites) {
			await db.transaction((tx) => tx.run(insert, { text }), { durable: false })
			longest = Math.max(longest, statSync(`${file}-wal`).size)
			writes++
		}
		expect(writes).toBeLessThan(mostWrites)
		expect(await db.get(count, {})).toEqual({ count: writes })
		await db.close()
		expect(existsSync(`${file}-wal`)).toBe(false)
	})
})

describe('a read', () => {
	it('sees each commit that is known, however many reads of the same turn came before', async () => {
		const db = openSqlite(file)
		await db.transaction((tx) => tx.run(create, {}))
		for (let written = 1; written <= 20; written++) {
			const writing = db.transaction((tx) => tx.run(insert, { text: 'new' }))
			// In the turn in which the transaction commits.
			const reading = new Promise((resolve) => setImmediate(() => resolve(db.get(count, {}))))
			await Promise.all([db.get(count, {}), reading, writing])
			expect(await db.get(count, {})).toEqual({ count: written })
		}
		await db.close()
	})

	it('sees what another process has written since the last turn', async () => {
		const db = openSqlite(file)
		await db.transaction((tx) => tx.run(create, {}))
		const other = openSqlite(file)
		await db.get(count, {})
		await other.transaction((tx) => tx.run(insert, { text: 'new' }))
		expect(await db.get(count, {})).toEqual({ count: 1 })
		await other.close()
		await db.close()
	})
})

const sql = <Row>(text: string) => query<object, Row>((knex) => knex.raw(text))

it('a file that is moved away takes no changes, and says so, until it is back', async () => {
	const db = openSqlite(file)
	await db.transaction((tx) => tx.run(create, {}))
	const add = () => db.transaction((tx) => tx.run(insert, { text: 'x' })).then(() => 'works', unavailability)
	const isReady = () => db.ready().then(() => 'works', unavailability)
	const gone = 'The file of the database was moved or deleted'
	renameSync(file, `${file}-away`)
	expect([await isReady(), await add()]).toEqual([gone, gone])
	writeFileSync(file, '')
	expect([await isReady(), await add()]).toEqual([gone, gone])
	renameSync(`${file}-away`, file)
	expect([await isReady(), await add()]).toEqual(['works', 'works'])
	expect(await db.get(count, {})).toEqual({ count: 1 })
	await db.close()
})

describe('a file that cannot be read', () => {
	const rows = 1_000
	const sum = sql<{ sum: number }>('select sum(length(text)) as sum from notes')
	const damaged = 'The file of the database is damaged, or its disk cannot be read'
	const reasonOf = (work: Promise<unknown>) => work.then(() => 'works', unavailability)
	const nextTurn = () => new Promise((turn) => setImmediate(turn))

	/** A database of which this process has read the first pages, and what damages all others. */
	async function openLong() {
		const written = openSqlite(file)
		await written.transaction(async (tx) => {
			await tx.run(create, {})
			for (let n = 0; n < rows; n++) await tx.run(insert, { text: 'x'.repeat(page) })
		})
		await written.close()
		const db = openSqlite(file)
		await db.get(sql('select text from notes where id = 1'), {})
		await nextTurn()
		const whole = readFileSync(file)
		return {
			db,
			damage: () => writeFileSync(file, Buffer.from(whole).fill(0xab, 10 * page)),
			repair: () => writeFileSync(file, whole),
		}
	}

	it('is an error of each read of it, and of `ready`, until it can be read again', async () => {
		const { db, damage, repair } = await openLong()
		await db.ready()
		damage()
		for (let n = 0; n < 3; n++) {
			expect(await reasonOf(db.get(sum, {}))).toBe(damaged)
			// Here the turn's read transaction ends.
			await nextTurn()
			expect(await reasonOf(db.ready())).toBe(damaged)
		}
		repair()
		await db.ready()
		expect(await db.get(sum, {})).toEqual({ sum: rows * page })
		await db.close()
	})

	it('is an error of each change of it, and of `ready`, which tries the change and leaves nothing of it', async () => {
		const { db, damage, repair } = await openLong()
		const change = () => db.transaction((tx) => tx.run(sql(`update notes set text = 'new' where id = ${rows}`), {}))
		damage()
		expect(await reasonOf(change())).toBe(damaged)
		for (let n = 0; n < 2; n++) expect(await reasonOf(db.ready())).toBe(damaged)
		repair()
		await db.ready()
		expect(await db.get(sum, {})).toEqual({ sum: rows * page })
		await change()
		expect(await db.get(sum, {})).toEqual({ sum: (rows - 1) * page + 'new'.length })
		await db.close()
	})
})

describe('the transactions after one', () => {
	it('whose rollback failed are stored, and nothing of that one is', async () => {
		const db = openSqlite(file)
		await db.transaction((tx) => tx.run(create, {}))
		const { exec, prepare } = Sqlite.prototype
		const broken = (error: string) => () => {
			throw new Sqlite.SqliteError(error, 'SQLITE_IOERR')
		}
		const steps = Object.getPrototypeOf(prepare.call(new Sqlite(':memory:'), 'commit'))
		const { run } = steps
		const failing = [
			vi.spyOn(steps, 'run').mockImplementation(function (this: Sqlite.Statement, ...values) {
				return this.source === 'commit' ? broken('no commit')() : run.apply(this, values)
			}),
			vi.spyOn(Sqlite.prototype, 'exec').mockImplementation(broken('no rollback')),
		]
		await expect(db.transaction((tx) => tx.run(insert, { text: 'lost' }))).rejects.toThrow()
		for (const one of failing) one.mockRestore()
		expect(Sqlite.prototype.exec).toBe(exec)
		await db.transaction((tx) => tx.run(insert, { text: 'kept' }))
		expect(await db.all(sql('select text from notes'), {})).toEqual([{ text: 'kept' }])
		await db.close()
	})

	it('of which a listener failed are stored, and all other listeners hear of both', async () => {
		const db = openSqlite(file)
		const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
		db.onCommit(() => {
			throw new Error('a listener')
		})
		const heard = vi.fn()
		db.onCommit(heard)
		await db.transaction((tx) => tx.run(create, {}))
		await db.transaction((tx) => tx.run(insert, { text: 'kept' }))
		expect(await db.get(count, {})).toEqual({ count: 1 })
		expect(heard).toHaveBeenCalledTimes(2)
		expect(warn).toHaveBeenCalledTimes(2)
		warn.mockRestore()
		await db.close()
	})
})

describe('a commit that fails', () => {
	const outcomes = async (...work: Promise<unknown>[]) => (await Promise.allSettled(work)).map(({ status }) => status)

	/** What a disk does at each commit in place of SQLite; returns what ends it. */
	function onCommit(fail: (commit: () => void) => never): () => void {
		const other = new Sqlite(file)
		const prototype = Object.getPrototypeOf(other.prepare('commit'))
		other.close()
		const { run } = prototype
		const failing = vi.spyOn(prototype, 'run').mockImplementation(function (this: Sqlite.Statement, ...values) {
			return this.source === 'commit' ? fail(() => run.apply(this, values)) : run.apply(this, values)
		})
		return () => failing.mockRestore()
	}

	it('is an error for every transaction that shared it, and nothing of them is stored', async () => {
		const db = openSqlite(file)
		await db.transaction(async (tx) => {
			await tx.run(create, {})
			await tx.run(sql('create table replies (note integer references notes (id) deferrable initially deferred)'), {})
		})
		// Only the commit looks at a reference that is deferred.
		const broken = db.transaction((tx) => tx.run(sql('insert into replies values (99)'), {}))
		const both = [db.transaction((tx) => tx.run(insert, { text: 'shares the commit' })), broken]
		expect(await outcomes(...both)).toEqual(['rejected', 'rejected'])
		await expect(broken).rejects.toMatchObject({ code: 'SQLITE_CONSTRAINT_FOREIGNKEY' })
		expect(await db.get(count, {})).toEqual({ count: 0 })
		await db.transaction((tx) => tx.run(insert, { text: 'later' }))
		expect(await db.get(count, {})).toEqual({ count: 1 })
		await db.close()
	})

	it('for want of room is undone for certain, and says so', async () => {
		const db = openSqlite(file)
		await db.transaction((tx) => tx.run(create, {}))
		const limit = (pages: number) => db.transaction((tx) => tx.get(sql(`pragma max_page_count = ${pages}`), {}))
		await limit(1)
		const full = db.transaction((tx) => tx.run(insert, { text: 'x'.repeat(10 * page) }))
		const error = await full.catch((failure) => failure)
		expect([error.code, unavailability(error)]).toEqual(['SQLITE_FULL', 'The disk of the database is full'])
		await limit(1_000)
		await db.transaction((tx) => tx.run(insert, { text: 'x'.repeat(10 * page) }))
		expect(await db.get(count, {})).toEqual({ count: 1 })
		await db.close()
	})

	it('of which the disk takes nothing is told by `ready`, until the disk takes changes again', async () => {
		const db = openSqlite(file)
		await db.transaction((tx) => tx.run(create, {}))
		await db.ready()
		const restore = onCommit(() => {
			throw new Sqlite.SqliteError('disk I/O error', 'SQLITE_IOERR_WRITE')
		})
		// A load balancer sends no changes while it hears this: `ready` has to try by itself.
		for (const work of [() => db.transaction((tx) => tx.run(insert, { text: 'lost' })), () => db.ready(), () => db.ready()])
			expect(unavailability(await work().catch((error) => error))).toBe('The database cannot use its disk')
		restore()
		await db.ready()
		expect(await db.get(count, {})).toEqual({ count: 0 })
		await db.close()
	})

	it('after it was written, such as in its fsync, has an unknown outcome', async () => {
		const db = openSqlite(file)
		await db.transaction((tx) => tx.run(create, {}))
		const restore = onCommit((commit) => {
			commit()
			throw new Sqlite.SqliteError('disk I/O error', 'SQLITE_IOERR_FSYNC')
		})
		const lost = db.transaction((tx) => tx.run(insert, { text: 'perhaps' }))
		await expect(lost).rejects.toThrow(OutcomeUnknown)
		restore()
		await db.close()
	})
})

describe('transactions that take long', () => {
	it('of one organization share commits of a tenth of a second, and others come between them', async () => {
		const db = openSqlite(file)
		await db.transaction((tx) => tx.run(create, {}))
		const ended: string[] = []
		const write = (organizationId: string, text: string, ms: number) =>
			db
				.transaction(
					async (tx) => {
						await tx.run(insert, { text })
						const until = performance.now() + ms
						while (performance.now() < until);
						return ended.length
					},
					{ organizationId },
				)
				.then((endedBefore) => {
					ended.push(text)
					return endedBefore
				})
		const large = Array.from({ length: 10 }, (_, n) => write('org_1', `large ${n}`, 60))
		const first = large[0]?.then(() => write('org_2', 'small', 0))
		expect((await Promise.all(large)).at(-1)).toBeGreaterThan(5)
		await first
		expect(ended.indexOf('small')).toBeLessThan(6)
		await db.close()
	})
})

describe('a commit that is durable', () => {
	const synchronous = query<object, { synchronous: number }>((knex) => knex.raw('pragma synchronous'))
	const [full, normal] = [{ synchronous: 2 }, { synchronous: 1 }]

	it('waits for the disk, also after one and beside one that does not', async () => {
		const db = openSqlite(file)
		const level = (durable?: boolean) => db.transaction((tx) => tx.get(synchronous, {}), { durable })
		expect(await level()).toEqual(full)
		expect(await level(false)).toEqual(normal)
		expect(await level(true)).toEqual(full)
		expect(await Promise.all([level(false), level()])).toEqual([full, full])
		expect(await level(false)).toEqual(normal)
		expect(await level()).toEqual(full)
		await db.close()
	})
})

describe('a log that has grown', () => {
	const wal = () => statSync(`${file}-wal`).size
	const text = 'x'.repeat(25 * page)

	it('is cut when nobody writes any more, and the next transaction works', async () => {
		const db = openSqlite(file)
		await db.transaction((tx) => tx.run(create, {}))
		await db.transaction(async (tx) => {
			for (let n = 0; n < 100; n++) await tx.run(insert, { text })
		})
		expect(wal()).toBeGreaterThan(10_000_000)
		await expect.poll(wal, { timeout: 20_000 }).toBe(0)
		await db.transaction((tx) => tx.run(insert, { text }))
		expect(await db.get(count, {})).toEqual({ count: 101 })
		await db.close()
	})

	it('is cut to 64 MB when it begins anew while others write', async () => {
		const db = openSqlite(file)
		await db.transaction((tx) => tx.run(create, {}))
		await db.transaction(async (tx) => {
			for (let n = 0; n < 900; n++) await tx.run(insert, { text })
		})
		expect(wal()).toBeGreaterThan(90_000_000)
		await expect
			.poll(
				async () => {
					await db.transaction((tx) => tx.run(insert, { text: 'small' }), { durable: false })
					return wal()
				},
				{ timeout: 20_000, interval: 1 },
			)
			.toBeLessThanOrEqual(64 * 2 ** 20)
		await db.close()
	})
})
