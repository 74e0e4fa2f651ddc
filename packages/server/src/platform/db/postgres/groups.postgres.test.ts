// Changes of one organization share a commit on PostgreSQL, and no caller notices: each is stored or fails by itself.
import pg from 'pg'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { DatabaseProxy } from '../../../../test/database-proxy.ts'
import { startTestServer, type TestServer } from '../../../../test/harness.ts'
import { tablesOfInvoices } from '../../../billing/invoices/store.ts'
import { readConfig } from '../../../config.ts'
import { type Database, OutcomeUnknown, query, type Rows, sent, type Transaction, UniqueViolation } from '../database.ts'
import { openDatabase } from '../drivers/open.ts'

const insert = query<{ text: string }>((knex, row) => knex('notes').insert(row))
const insertMany = query<Rows>((knex, { rows }) =>
	knex.raw(
		'insert into notes ("organizationId", text) select "organizationId", text from json_populate_recordset(null::notes, ?::json)',
		[rows],
	),
)
const insertions = { tables: ['notes'], query: insertMany }
const count = query<object, { n: number }>((knex) => knex('notes').count({ n: '*' }))
const all = query<object, { text: string; written: Date }>((knex) => knex('notes').select('text', 'written').orderBy('id'))
const lock = query<{ name: string }>((knex, key) => knex('records').where(key).forUpdate())
const fails = query<object>((knex) => knex.raw('select 1 / 0'))
const pause = query<object>((knex) => knex.raw('select pg_sleep(0.2)'))
const transactionId = query<object, { id: string }>((knex) => knex.raw('select pg_current_xact_id()::text as id'))

const organizationId = 'org_one'
let server: TestServer
let proxy: DatabaseProxy
let sql: pg.Client
const opened: Database[] = []
/** A process of its own, as far as PostgreSQL knows. */
async function open(url: string): Promise<Database> {
	const db = await openDatabase({ ...readConfig({}), ...server.settings, DATABASE_URL: url }, pino({ level: 'silent' }))
	opened.push(db)
	return db
}
let db: Database
let other: Database
let throughProxy: Database
beforeAll(async () => {
	server = await startTestServer()
	const url = server.settings.DATABASE_URL as string
	sql = new pg.Client(url)
	await sql.connect()
	await sql.query(
		'create table notes (id serial primary key, "organizationId" text, text text unique, written timestamptz default statement_timestamp())',
	)
	await sql.query(`create table records (name text primary key); insert into records values ('a'), ('b')`)
	await sql.query(`
		create function lock_record() returns trigger language plpgsql as $$
			begin perform from records where name = replace(new.text, 'at the commit ', '') for update; return null; end $$;
		create constraint trigger lock_at_commit after insert on notes deferrable initially deferred
			for each row when (new.text like 'at the commit %') execute function lock_record()`)
	proxy = await new DatabaseProxy(url).listen()
	db = await open(url)
	other = await open(url)
	throughProxy = await open(proxy.url)
})
afterEach(async () => {
	vi.useRealTimers()
	await sql.query('rollback; delete from notes')
})
afterAll(async () => {
	for (const one of opened) await one.close()
	proxy.cut()
	await sql.end()
	await server.close()
})

const change = <T>(work: (tx: Transaction) => Promise<T>, on = db) => on.transaction(work, { organizationId })
const note = (text: string, on = db) => change((tx) => tx.run(insert, { text }), on)
const notes = async () => (await db.all(all, {})).map(({ text }) => text)
/** However slow the machine is, a group then takes whatever comes. */
const takeTime = () => vi.useFakeTimers({ toFake: ['setTimeout'] })

/** Whether a commit waits for a lock. */
const isWaited = async () => (await other.all(waitingCommits, {})).length > 0
const waitingCommits = query<object>((knex) =>
	knex('pg_stat_activity')
		.whereRaw("datname = current_database() and wait_event_type = 'Lock' and query = 'commit'")
		.select('pid'),
)

const waitsForRecords = "datname = current_database() and wait_event_type = 'Lock' and query like '%records%'"
const waitingForRecords = query<object>((knex) => knex('pg_stat_activity').whereRaw(waitsForRecords).select('pid'))
const endOfWaiting = query<object>((knex) =>
	knex('pg_stat_activity').whereRaw(waitsForRecords).select(knex.raw('pg_terminate_backend(pid)')),
)

/** Leaves a note for the statement that writes those of all. */
const leave =
	(text: string, padding = '') =>
	async (tx: Transaction) =>
		tx.shared?.later(insertions, { text, padding })
const leaveAndLose = async (tx: Transaction) => {
	await leave('lost')(tx)
	throw new Error('no')
}

/** What became of each. */
const settled = async (changes: Promise<unknown>[]) =>
	(await Promise.allSettled(changes)).map((end) => (end.status === 'fulfilled' ? 'stored' : (end.reason as Error)))

describe('changes that come while another of their organization is under way', () => {
	it('share a transaction, in their order', async () => {
		takeTime()
		const ids = await Promise.all(
			Array.from({ length: 20 }, (_, index) =>
				change(async (tx) => {
					await tx.run(insert, { text: String(index) })
					return (await tx.get(transactionId, {}))?.id
				}),
			),
		)
		expect(new Set(ids).size).toBe(1)
		expect(await notes()).toEqual(Array.from({ length: 20 }, (_, index) => String(index)))
	})

	it('see what those before them have written, and others nothing before the commit', async () => {
		takeTime()
		const seen = async (tx: Transaction) => {
			await tx.run(insert, { text: String(Math.random()) })
			return [(await tx.get(count, {}))?.n, (await other.get(count, {}))?.n]
		}
		const [first, ...more] = await Promise.all([change(seen), change(seen), change(seen)])
		expect(first).toEqual([1, 0])
		expect(more.map((pair) => pair[0])).toEqual([2, 3])
	})

	it('are stored without the one among them that fails', async () => {
		takeTime()
		const mistake = new Error('no')
		const reject = async (tx: Transaction) => {
			await tx.run(insert, { text: 'undone' })
			throw mistake
		}
		const ends = await settled([note('first'), change(reject), note('second'), note('first'), note('third')])
		expect(ends).toEqual(['stored', mistake, 'stored', expect.objectContaining({ name: 'Error' }), 'stored'])
		expect(await notes()).toEqual(['first', 'second', 'third'])
	})

	it('are stored without the first, when that fails', async () => {
		takeTime()
		const ends = await settled([change((tx) => tx.run(fails, {})), note('second'), note('third')])
		expect(ends).toEqual([expect.any(Error), 'stored', 'stored'])
		expect(await notes()).toEqual(['second', 'third'])
	})

	it('lose nothing to one that hides that its query failed, which fails', async () => {
		takeTime()
		const hide = async (tx: Transaction) => {
			await tx.run(insert, { text: 'hidden' })
			await tx.run(fails, {}).catch(() => {})
		}
		const ends = await settled([note('before'), change(hide), note('after'), note('last')])
		expect(ends).toEqual(['stored', expect.any(Error), 'stored', 'stored'])
		expect((await notes()).sort()).toEqual(['after', 'before', 'last'])
	})

	it('run once what holds for all of them, and again what was undone with one', async () => {
		takeTime()
		let runs = 0
		const hold = (tx: Transaction) => tx.once('hold', async () => ++runs)
		const lose = async (tx: Transaction) => {
			await hold(tx)
			throw new Error('no')
		}
		const losePart = async (tx: Transaction) => {
			await tx.attempt(() => lose(tx)).catch(() => {})
			return hold(tx)
		}
		const both = async (tx: Transaction) => [await hold(tx), await hold(tx)]
		const ends = await Promise.allSettled([note('first'), change(lose), change(losePart), change(hold), change(both)])
		expect(ends.slice(2)).toEqual([3, 3, [3, 3]].map((value) => ({ status: 'fulfilled', value })))
		expect(runs).toBe(3)
	})

	it('send their statements behind those of the one before, whose answers it does not wait for', async () => {
		takeTime()
		const order: string[] = []
		const slow = async (tx: Transaction) => {
			await tx.run(insert, { text: 'slow' })
			await sent(
				tx,
				tx.run(pause, {}).then(() => order.push('answer')),
			)
		}
		const next = async (tx: Transaction) => {
			order.push('next')
			await tx.run(insert, { text: 'next' })
		}
		const ends = await settled([note('first'), change(slow), change(next)])
		expect([ends, order]).toEqual([Array(3).fill('stored'), ['next', 'answer']])
		expect(await notes()).toEqual(['first', 'slow', 'next'])
	})

	it('are stored without the one whose statement fails after it has gone on, and it hears why', async () => {
		await note('first')
		takeTime()
		const twice = (tx: Transaction) => sent(tx, tx.run(insert, { text: 'first' }))
		const inPart = (tx: Transaction) => tx.attempt(() => twice(tx))
		const mistake = new Error('no')
		const misled = async (tx: Transaction) => {
			await twice(tx)
			await tx.run(insert, { text: 'refused' }).catch(() => Promise.reject(mistake))
		}
		const ends = await settled([note('second'), change(twice), note('third'), change(inPart), change(misled)])
		const taken = expect.any(UniqueViolation)
		expect(ends).toEqual(['stored', taken, 'stored', taken, taken])
		let runs = 0
		const onceInPart = (tx: Transaction) => (runs++ === 0 ? inPart(tx) : tx.run(insert, { text: 'fourth' }))
		expect(await settled([note('fifth'), change<unknown>(onceInPart)])).toEqual(['stored', 'stored'])
		expect((await notes()).sort()).toEqual(['fifth', 'first', 'fourth', 'second', 'third'])
	})

	it('fail when they send more than they had sent at their end', async () => {
		takeTime()
		const forgetful = (tx: Transaction) =>
			sent(
				tx,
				tx.run(insert, { text: `sent ${Math.random()}` }).then(() => tx.run(insert, { text: 'late' })),
			)
		const late = expect.objectContaining({
			cause: expect.objectContaining({ message: expect.stringContaining('after the end') }),
		})
		expect(await settled([change(forgetful)])).toEqual([late])
		expect(await settled([note('one'), change(forgetful)])).toEqual([late, late])
	})

	it('know what the one before remembers, unless it was undone or they begin again', async () => {
		takeTime()
		const seen: unknown[] = []
		const remember =
			(value: number, isUndone = false) =>
			async (tx: Transaction) => {
				seen.push(tx.shared?.recall('value'))
				tx.shared?.remember('value', value)
				if (value === 1) seen.push(tx.shared?.recall('value'))
				if (isUndone) throw new Error('no')
			}
		const part = async (tx: Transaction) => {
			await tx.attempt(() => remember(4, true)(tx)).catch(() => {})
			seen.push(tx.shared?.recall('value'))
		}
		await settled([change(remember(1)), change(remember(2)), change(remember(3, true)), change(part)])
		expect(seen).toEqual([undefined, undefined, 1, 2, 2, 2])
		seen.length = 0
		await settled([change(remember(5)), change(remember(6)), change((tx) => sent(tx, tx.run(fails, {})))])
		expect(seen).toEqual([undefined, 5, undefined, undefined])
	})

	it('leave rows that one statement writes for all of them', async () => {
		takeTime()
		expect(await settled(Array.from({ length: 5 }, (_, index) => change(leave(String(index)))))).toEqual(Array(5).fill('stored'))
		const rows = await db.all(all, {})
		expect(rows.map(({ text }) => text)).toEqual(['0', '1', '2', '3', '4'])
		expect(new Set(rows.map(({ written }) => written.getTime())).size).toBe(1)
	})

	it('see the rows that those before them have left, which outlive one that fails', async () => {
		takeTime()
		const mistake = new Error('no')
		const look = async (tx: Transaction) => {
			await leave(`own ${Math.random()}`)(tx)
			return (await tx.get(count, {}))?.n
		}
		const lose = async (tx: Transaction) => {
			await look(tx)
			throw mistake
		}
		const losePart = async (tx: Transaction) => {
			await leave('kept')(tx)
			await tx.attempt(() => lose(tx)).catch(() => {})
			await tx.attempt(() => leave('kept too')(tx))
		}
		const ends = [change(leave('first')), change(look), change(lose), change(leaveAndLose), change(losePart), change(look)]
		const values = (await Promise.allSettled(ends)).map((end) => (end.status === 'fulfilled' ? end.value : end.reason))
		expect(values).toEqual([undefined, 2, mistake, expect.any(Error), undefined, 5])
		expect((await notes()).map((text) => text.split(' 0.')[0])).toEqual(['first', 'own', 'kept', 'kept too', 'own'])
	})

	it('are stored without the one whose row cannot be written', async () => {
		await note('taken')
		takeTime()
		const ends = await settled([note('first'), change(leave('taken')), change(leave('second'))])
		expect(ends).toEqual(['stored', expect.any(UniqueViolation), 'stored'])
		expect((await notes()).sort()).toEqual(['first', 'second', 'taken'])
	})

	it('leave no row after their end', async () => {
		takeTime()
		let late: Promise<unknown> = Promise.resolve()
		const forgetful = async (tx: Transaction) => {
			late = new Promise((resolve) => setImmediate(resolve)).then(() => leave('late')(tx))
			late.catch(() => {})
		}
		await settled([note('first'), change(forgetful), note('last')])
		await expect(late).rejects.toThrow('after the end')
		expect(await notes()).toEqual(['first', 'last'])
	})

	it('do not keep in memory what many have left', async () => {
		takeTime()
		const long = (text: string) => leave(text, 'x'.repeat(400_000))
		expect(await settled([...'abcdef'].map((text) => change(long(text))))).toEqual(Array(6).fill('stored'))
		const rows = await db.all(all, {})
		expect(rows.map(({ text }) => text).join('')).toBe('abcdef')
		expect(new Set(rows.map(({ written }) => written.getTime())).size).toBeGreaterThan(1)
	})

	it('do not wait for a slow one longer than a moment', async () => {
		const order: string[] = []
		const note = (text: string) => change((tx) => tx.run(insert, { text })).then(() => order.push(text))
		const slow = change((tx) => tx.run(pause, {})).then(() => order.push('slow'))
		await Promise.all([slow, note('one'), note('two')])
		expect(order).toEqual(['one', 'two', 'slow'])
	})
})

it('Every table that refers to rows which wait for their statement is named with them', async () => {
	const { rows } =
		await sql.query(`select distinct conrelid::regclass::text as name from pg_constraint where contype = 'f' and conparentid = 0 and confrelid = any(
		array['invoices', 'events', 'audit_log', 'webhook_deliveries', 'change_times', 'number_series']::regclass[])`)
	expect(tablesOfInvoices.toSorted()).toEqual(['invoices', ...rows.map(({ name }) => name)].toSorted())
})

it('Two processes whose groups lock the same records in opposite order both go on', async () => {
	const both = (name: string, then: string, on: Database) => [
		change((tx) => tx.run(lock, { name }), on),
		change(async (tx) => {
			await tx.run(lock, { name: then })
			await tx.run(insert, { text: `${then} ${Math.random()}` })
		}, on),
	]
	const began = performance.now()
	const rounds = 20
	for (let round = 0; round < rounds; round++) await Promise.all([...both('a', 'b', db), ...both('b', 'a', other)])
	expect(await notes()).toHaveLength(2 * rounds)
	// PostgreSQL looks for a deadlock only after a second.
	expect(performance.now() - began).toBeLessThan(rounds * 1_000)
})

describe('a lock that is taken with the commit', () => {
	it('is waited for as by a change alone', async () => {
		takeTime()
		await sql.query(`begin; select from records where name = 'a' for update`)
		const changes = [note('one'), note('at the commit a'), note('three')]
		await expect.poll(isWaited).toBe(true)
		// Far longer than a change waits for a lock in the middle of a group.
		await sql.query('select pg_sleep(0.3); commit')
		expect(await settled(changes)).toEqual(['stored', 'stored', 'stored'])
	})

	it.each([1, 3])('has the changes run again when PostgreSQL ends a deadlock by it: %i', async (count) => {
		takeTime()
		await sql.query(`begin; select from records where name = 'b' for update`)
		const lockA = async (tx: Transaction) => {
			await tx.run(lock, { name: 'a' })
			await tx.run(insert, { text: 'at the commit b' })
		}
		const others = Array.from({ length: count - 1 }, (_, index) => note(String(index)))
		const changes = [change(lockA), ...others]
		await expect.poll(isWaited).toBe(true)
		// Whoever waits first looks for the deadlock first, and loses; on a slow machine it may be this one.
		await sql.query(`select from records where name = 'a' for update`).catch(() => {})
		await sql.query('rollback')
		expect(await settled(changes)).toEqual(Array(count).fill('stored'))
		expect(await notes()).toHaveLength(count)
	})
})

it('A lost connection fails the changes of its group, and those that come after are stored', async () => {
	await note('known', throughProxy)
	takeTime()
	const cut = async (tx: Transaction) => {
		await tx.run(insert, { text: 'lost' })
		proxy.cut()
		await proxy.listen()
		await tx.run(insert, { text: 'lost too' })
	}
	const ends = await settled([note('before it', throughProxy), change(cut, throughProxy), note('behind it', throughProxy)])
	expect(ends).toEqual([expect.any(Error), expect.any(Error), 'stored'])
	await note('after', throughProxy)
	expect(await notes()).toEqual(['known', 'behind it', 'after'])
})

it('A commit without an answer leaves the changes of its group unknown, but for those that had failed', async () => {
	takeTime()
	proxy.nextCommit = 'unanswered'
	const mistake = new Error('no')
	const rejected = change(async () => {
		throw mistake
	}, throughProxy)
	const ends = await settled([note('one', throughProxy), note('two', throughProxy), rejected, note('three', throughProxy)])
	const unknown = expect.any(OutcomeUnknown)
	expect(ends).toEqual([unknown, unknown, mistake, unknown])
	vi.useRealTimers()
	await expect.poll(notes).toEqual(['one', 'two', 'three'])
})

it('A change is surely not stored when PostgreSQL ends its connection before the commit that it has been sent', async () => {
	await sql.query(`begin; select from records where name = 'a' for update`)
	const waiting = change(async (tx) => {
		await tx.run(insert, { text: 'gone' })
		await sent(tx, tx.run(lock, { name: 'a' }))
	})
	const ended = settled([waiting])
	const end = async () => (await other.all(endOfWaiting, {})).length
	await expect.poll(end).toBe(1)
	expect(await ended).toEqual([expect.objectContaining({ code: '57P01' })])
	expect(await notes()).toEqual([])
})

it('Without a database every waiting change fails', async () => {
	const gone = await open(proxy.url)
	proxy.cut()
	const ends = await settled([note('one', gone), note('two', gone), note('three', gone)])
	expect(ends).toEqual(Array(3).fill(expect.objectContaining({ message: expect.stringMatching(/ECONNREFUSED|terminated/) })))
	await proxy.listen()
})

it('A statement that comes after the end of its change is not stored', async () => {
	let late: Promise<unknown> | undefined
	const mistake = new Error('no')
	const forgetful = async (tx: Transaction) => {
		await Promise.all([
			Promise.reject(mistake),
			new Promise((turn) => setTimeout(turn, 20)).then(() => {
				late = tx.run(insert, { text: 'late' })
				late.catch(() => {})
			}),
		])
	}
	expect(await settled([note('one'), change(forgetful), change((tx) => tx.run(pause, {}))])).toEqual([
		'stored',
		mistake,
		'stored',
	])
	await expect(late).rejects.toThrow('after the end of its transaction')
	expect(await notes()).toEqual(['one'])
})

it('Those that come while the first waits for the turn of its organization share its transaction', async () => {
	await sql.query(`begin; select from records where name = 'a' for update`)
	const turn = (tx: Transaction) => tx.once('turn', () => tx.run(lock, { name: 'a' }))
	const idInTurn = () => change(async (tx) => turn(tx).then(async () => (await tx.get(transactionId, {}))?.id))
	const first = idInTurn()
	// Far longer than a group takes more.
	await sql.query('select pg_sleep(0.2)')
	const second = idInTurn()
	await sql.query('select pg_sleep(0.2)')
	takeTime()
	await sql.query('commit')
	expect(await second).toBe(await first)
})

it.each([
	['whose turns another process has', 'turn of '],
	['of whose records a session has the rows', 'row of '],
])('Organizations %s leave connections to others, which go on', async (_, prefix) => {
	const names = Array.from({ length: 20 }, (_, index) => `${prefix}${index}`)
	await sql.query('insert into records select unnest($1::text[])', [names])
	await sql.query(`begin; select from records where name like '${prefix}%' for update`)
	const inTurn = (name: string) => async (tx: Transaction) => {
		const take = () => tx.run(lock, { name })
		await (prefix === 'turn of ' ? tx.once('turn', take) : take())
		await tx.run(insert, { text: name })
	}
	const held = settled(names.map((name) => db.transaction(inTurn(name), { organizationId: name })))
	await expect.poll(async () => (await other.all(waitingForRecords, {})).length).toBeGreaterThan(3)
	await note('another')
	await sql.query('commit')
	expect(await held).toEqual(names.map(() => 'stored'))
	expect(await notes()).toEqual(expect.arrayContaining(['another', ...names]))
})
