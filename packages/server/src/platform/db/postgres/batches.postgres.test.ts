// Short changes of different organizations that wait for a connection share one, and no caller notices.
import pg from 'pg'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { DatabaseProxy } from '../../../../test/database-proxy.ts'
import { startTestServer, type Tenant, type TestServer } from '../../../../test/harness.ts'
import { readConfig } from '../../../config.ts'
import { type Database, OutcomeUnknown, query, type Rows, type Transaction, UniqueViolation } from '../database.ts'
import { openDatabase } from '../drivers/open.ts'

interface Note {
	readonly organizationId: string
	readonly text: string
}

const insert = query<Note>((knex, row) => knex('notes').insert(row))
const insertMany = query<Rows>((knex, { rows }) =>
	knex.raw(
		`insert into notes ("organizationId", text) select "organizationId", text from json_populate_recordset(null::notes, ?::json)`,
		[rows],
	),
)
const insertions = { tables: ['notes'], query: insertMany }
const own = query<{ organizationId: string }, { text: string }>((knex, key) => knex('notes').where(key).select('text'))
const lock = query<{ name: string }>((knex, key) => knex('records').where(key).forUpdate())
const fails = query<object>((knex) => knex.raw('select 1 / 0'))
const sleepsTooLong = query<object>((knex) => knex.raw('select pg_sleep(5)'))
const transactionId = query<object, { id: string }>((knex) => knex.raw('select pg_current_xact_id()::text as id'))

let server: TestServer
let proxy: DatabaseProxy
let sql: pg.Client
/** Outside of what `sql` has begun. */
let other: pg.Client
let db: Database
beforeAll(async () => {
	server = await startTestServer({ DATABASE_CONNECTIONS: 4 })
	const url = server.settings.DATABASE_URL as string
	sql = new pg.Client(url)
	other = new pg.Client(url)
	await Promise.all([sql.connect(), other.connect()])
	// These organizations are in no other table.
	await sql.query('alter table change_times drop constraint change_times_organizationid_foreign')
	await sql.query(
		'create table notes (id serial primary key, "organizationId" text, text text unique, written timestamptz default statement_timestamp())',
	)
	await sql.query(`create table records (name text primary key); insert into records values ('a')`)
	proxy = await new DatabaseProxy(url).listen()
	// Half of them only read.
	const settings = { DATABASE_URL: proxy.url, DATABASE_CONNECTIONS: '4', DATABASE_QUERY_SECONDS: '1' }
	db = await openDatabase({ ...readConfig({}), ...server.settings, ...readConfig(settings) }, pino({ level: 'silent' }))
})
afterEach(async () => {
	vi.useRealTimers()
	await sql.query('rollback; delete from notes')
})
afterAll(async () => {
	await db.close()
	proxy.cut()
	await Promise.all([sql.end(), other.end()])
	await server.close()
})

type Change = (tx: Transaction, organizationId: string) => Promise<unknown>

let organizations = 0
const newOrganization = () => `org_${String(++organizations).padStart(6, '0')}`

interface Circumstances {
	/** Of each change; of its own otherwise. */
	readonly organizationIds?: readonly string[]
	/** Called when nothing else has a connection any more. */
	readonly onAlone?: () => unknown
}

/** Runs changes that wait for a connection together; returns what became of each. */
async function together(
	changes: readonly Change[],
	{ organizationIds = changes.map(newOrganization), onAlone }: Circumstances = {},
) {
	await other.query('insert into change_times select unnest($1::text[]), 0 on conflict do nothing', [organizationIds])
	let enter = () => {}
	const entered = new Promise<void>((resolve) => {
		enter = resolve
	})
	const occupied = ['one', 'two'].map((name) => db.transaction(() => entered, { organizationId: `org_before_${name}` }))
	const all = changes.map((change, index) => {
		const organizationId = organizationIds[index] as string
		return db.transaction((tx) => change(tx, organizationId), { organizationId, isShort: true })
	})
	const ended = Promise.allSettled(all)
	enter()
	await Promise.all(occupied)
	onAlone?.()
	return (await ended).map((end) => (end.status === 'fulfilled' ? end.value : (end.reason as Error)))
}

const note =
	(text: string): Change =>
	async (tx, organizationId) => {
		await tx.run(insert, { organizationId, text })
		return 'stored'
	}
/** Writes, and tells in which transaction. */
const idOf: Change = async (tx, organizationId) => {
	await tx.run(insert, { organizationId, text: String(Math.random()) })
	return (await tx.get(transactionId, {}))?.id
}
const notes = async () => (await other.query('select text from notes order by text')).rows.map(({ text }) => text)

it('They share a transaction, and none sees what another writes', async () => {
	const counts: number[] = []
	const look: Change = async (tx, organizationId) => {
		const id = await idOf(tx, organizationId)
		counts.push((await tx.all(own, { organizationId })).length)
		return id
	}
	const ids = await together(Array(10).fill(look))
	expect(new Set(ids).size).toBe(1)
	expect(counts).toEqual(Array(10).fill(1))
	expect(await notes()).toHaveLength(10)
})

it('They leave rows that one statement writes for all of them, but for those of one that fails', async () => {
	const leave =
		(text: string): Change =>
		async (tx, organizationId) => {
			tx.shared?.later(insertions, { organizationId, text })
			return 'stored'
		}
	const mistake = new Error('no')
	const lose: Change = async (tx, organizationId) => {
		await leave('lost')(tx, organizationId)
		throw mistake
	}
	const losePart: Change = async (tx, organizationId) => {
		await leave('two')(tx, organizationId)
		await tx.attempt(() => lose(tx, organizationId)).catch(() => {})
		return 'stored'
	}
	expect(await together([leave('one'), lose, losePart, leave('three')])).toEqual(['stored', mistake, 'stored', 'stored'])
	const { rows } = await other.query('select text, written from notes order by text')
	expect(rows.map(({ text }) => text)).toEqual(['one', 'three', 'two'])
	expect(new Set(rows.map(({ written }) => written.getTime())).size).toBe(1)
	const ends = await together([leave('four'), leave('one'), leave('five')])
	expect(ends).toEqual(['stored', expect.any(UniqueViolation), 'stored'])
	expect(await notes()).toEqual(['five', 'four', 'one', 'three', 'two'])
})

it('They are stored without the one that fails, which hears why', async () => {
	await together([note('taken')])
	const mistake = new Error('no')
	const reject: Change = async (tx, organizationId) => {
		await note('undone')(tx, organizationId)
		throw mistake
	}
	const ends = await together([note('one'), reject, note('two'), note('taken'), (tx) => tx.run(fails, {})])
	expect(ends).toEqual(['stored', mistake, 'stored', expect.any(UniqueViolation), expect.objectContaining({ code: '22012' })])
	expect(await notes()).toEqual(['one', 'taken', 'two'])
})

it('One that fails before it has written anything costs the others nothing', async () => {
	let runs = 0
	const counted: Change = (tx, organizationId) => note(`note ${++runs}`)(tx, organizationId)
	const mistake = new Error('no')
	const reject: Change = async (tx, organizationId) => {
		await tx.once('turn', () => tx.run(lock, { name: 'a' }))
		await tx.all(own, { organizationId })
		throw mistake
	}
	const keep: Change = (tx, organizationId) =>
		tx.attempt(() => reject(tx, organizationId)).catch(() => note('kept')(tx, organizationId))
	expect(await together([counted, reject, keep, counted])).toEqual(['stored', mistake, 'stored', 'stored'])
	expect(await notes()).toEqual(['kept', 'note 1', 'note 2'])
})

it('One whose turn another process has waits by itself', async () => {
	const organizationIds = [newOrganization(), newOrganization(), newOrganization()]
	await sql.query('insert into change_times select unnest($1::text[]), 0', [organizationIds])
	await sql.query(`begin; select from change_times where "organizationId" = '${organizationIds[1]}' for update`)
	const turn = query<{ organizationId: string }>((knex, key) => knex('change_times').where(key).forUpdate())
	const inTurn: Change = async (tx, organizationId) => {
		await tx.run(turn, { organizationId })
		return idOf(tx, organizationId)
	}
	const all = together([inTurn, inTurn, inTurn], { organizationIds })
	await expect.poll(notes).toHaveLength(2)
	await sql.query('commit')
	const [first, second, third] = await all
	expect(third).toBe(first)
	expect(second).not.toBe(first)
})

it('They are stored beside one that hides a failure of its part, of which nothing is stored', async () => {
	const hidePart: Change = async (tx, organizationId) => {
		await tx
			.attempt(async () => {
				await note('undone')(tx, organizationId)
				throw new Error('no')
			})
			.catch(() => {})
		return note('behind it')(tx, organizationId)
	}
	expect(await together([note('one'), hidePart, note('two')])).toEqual(Array(3).fill('stored'))
	expect(await notes()).toEqual(['behind it', 'one', 'two'])
})

it('They are stored beside one that hides that its query failed, which fails', async () => {
	const hide: Change = async (tx, organizationId) => {
		await note('hidden')(tx, organizationId)
		await tx.run(fails, {}).catch(() => {})
	}
	expect(await together([note('one'), hide, note('two')])).toEqual(['stored', expect.any(Error), 'stored'])
	expect(await notes()).toEqual(['one', 'two'])
})

it('An organization whose change failed stays out of the next, and costs the others one attempt', async () => {
	let runs = 0
	const counted: Change = (tx, organizationId) => note(`note ${++runs}`)(tx, organizationId)
	const changes: Change[] = [counted, (tx) => tx.run(fails, {}), counted]
	const organizationIds = changes.map(newOrganization)
	const ends = ['stored', expect.any(Error), 'stored']
	expect(await together(changes, { organizationIds })).toEqual(ends)
	expect(runs).toBe(4)
	expect(await together(changes, { organizationIds })).toEqual(ends)
	expect(runs).toBe(6)
})

it('An organization whose row cannot be written stays out of the next', async () => {
	await other.query('create table own_notes ("organizationId" text, text text, unique ("organizationId", text))')
	const insertOwn = query<Rows>((knex, { rows }) =>
		knex.raw(
			`insert into own_notes ("organizationId", text) select "organizationId", text from json_populate_recordset(null::own_notes, ?::json)`,
			[rows],
		),
	)
	const insertions = { tables: ['own_notes'], query: insertOwn }
	let runs = 0
	const leave: Change = async (tx, organizationId) => {
		runs++
		tx.shared?.later(insertions, { organizationId, text: 'taken' })
	}
	const leaveNew: Change = async (tx, organizationId) => {
		runs++
		tx.shared?.later(insertions, { organizationId, text: `note ${runs}` })
	}
	const organizationIds = ['a', 'b', 'c'].map(newOrganization)
	await other.query(`insert into own_notes values ($1, 'taken')`, [organizationIds[1]])
	const ends = [undefined, expect.any(UniqueViolation), undefined]
	expect(await together([leaveNew, leave, leaveNew], { organizationIds })).toEqual(ends)
	expect(runs).toBe(6)
	expect(await together([leaveNew, leave, leaveNew], { organizationIds })).toEqual(ends)
	expect(runs).toBe(9)
})

it('One that waits for a lock does not hold up the others', async () => {
	await sql.query(`begin; select from records where name = 'a' for update`)
	const waits: Change = async (tx, organizationId) => {
		await tx.run(lock, { name: 'a' })
		return note('waits')(tx, organizationId)
	}
	const ends = together([note('one'), waits, note('two')])
	await expect.poll(notes).toEqual(['one', 'two'])
	await sql.query('commit')
	expect(await ends).toEqual(Array(3).fill('stored'))
})

it('A few changes of an organization are in one after the other, and many form a group, beside them', async () => {
	// However slow the machine is, the group then takes all.
	vi.useFakeTimers({ toFake: ['setTimeout'] })
	const [twice, often, once] = [newOrganization(), newOrganization(), newOrganization()]
	const organizationIds = [twice, twice, ...Array(5).fill(often), once]
	const ids = await together(Array(8).fill(idOf), { organizationIds })
	expect(new Set(ids).size).toBe(3)
	expect(ids).toEqual([ids[0], ids[1], ...Array(5).fill(ids[2]), ids[0]])
})

const named = query<Rows, Note>((knex, { rows }) =>
	knex.raw(
		`insert into notes ("organizationId", text) select "organizationId", text from json_populate_recordset(null::notes, ?::json)
		returning "organizationId", text || ' of ' || pg_current_xact_id() as text`,
		[rows],
	),
)
/** Asks with the others, and has the answer of its own row. */
const asks =
	(text: string): Change =>
	async (tx, organizationId) =>
		(await tx.shared?.together?.(named, { organizationId, text } as Note))?.text

it('They ask with one statement, each for a row of its own', async () => {
	const [first, second, third] = (await together([asks('one'), asks('two'), asks('three')])) as string[]
	const id = first?.split(' of ')[1]
	expect([first, second, third]).toEqual(['one', 'two', 'three'].map((text) => `${text} of ${id}`))
	const { rows } = await other.query('select count(distinct written)::int as statements from notes')
	expect(rows).toEqual([{ statements: 1 }])
})

it('When the statement fails that they ask with, each begins again by itself, and none stays out of the next', async () => {
	const organizationIds = [newOrganization(), newOrganization()]
	const asksOrWrites =
		(text: string): Change =>
		async (tx, organizationId) =>
			tx.shared?.together ? asks('the same')(tx, organizationId) : note(text)(tx, organizationId)
	expect(await together([asksOrWrites('one'), asksOrWrites('two')], { organizationIds })).toEqual(['stored', 'stored'])
	expect(await notes()).toEqual(['one', 'two'])
	const [first, second] = await together([idOf, idOf], { organizationIds })
	expect(second).toBe(first)
})

it('One that takes too long fails alone', async () => {
	const slow: Change = (tx) => tx.run(sleepsTooLong, {})
	const ends = await together([note('one'), slow, note('two')])
	expect(ends).toEqual(['stored', expect.objectContaining({ code: '57014' }), 'stored'])
	expect(await notes()).toEqual(['one', 'two'])
})

it('A lost connection fails all of them, and nothing is stored', async () => {
	const alone = Promise.withResolvers<void>()
	const cut: Change = async (tx, organizationId) => {
		await note('lost')(tx, organizationId)
		await alone.promise
		proxy.cut()
		await proxy.listen()
		return note('lost, too')(tx, organizationId)
	}
	const ends = await together([note('one'), cut, note('two')], { onAlone: alone.resolve })
	expect(ends).toEqual(Array(3).fill(expect.any(Error)))
	expect(await together([note('after')])).toEqual(['stored'])
	expect(await notes()).toEqual(['after'])
})

it('A commit without an answer leaves all of them unknown', async () => {
	const alone = Promise.withResolvers<void>()
	const last: Change = async (tx, organizationId) => {
		await alone.promise
		proxy.nextCommit = 'unanswered'
		return note('two')(tx, organizationId)
	}
	const ends = await together([note('one'), last], { onAlone: alone.resolve })
	expect(ends).toEqual(Array(2).fill(expect.any(OutcomeUnknown)))
	await expect.poll(notes).toEqual(['one', 'two'])
})

it('A payment, which may be for many invoices, takes no part in them', async () => {
	const tenants = await Promise.all(['one', 'two', 'three'].map(() => server.newTenant()))
	const [first, second, paying] = tenants as [Tenant, Tenant, Tenant]
	const invoice = await paying.remit.invoices.create({ currency: 'EUR', totalCents: 100, status: 'sent' })
	await Promise.all([first, second].map(({ remit }) => remit.companies.create({ name: 'Before' })))
	let enter = () => {}
	const entered = new Promise<void>((resolve) => {
		enter = resolve
	})
	const { connections } = server.db
	const [, writes] = connections?.() ?? []
	expect(writes).toBeDefined()
	const occupied = Array.from({ length: 5 }, (_, n) =>
		server.db.transaction(() => entered, { organizationId: `org_before_${n}` }),
	)
	const begun = vi.spyOn(server.db, 'transaction')
	const [one, two, payment] = [
		first.remit.companies.create({ name: 'One' }),
		second.remit.companies.create({ name: 'Two' }),
		paying.remit.payments.create({
			amountCents: 100,
			currency: 'EUR',
			allocations: [{ invoiceId: invoice.id, amountCents: 100 }],
		}),
	]
	const ofTenants = new Set(tenants.map(({ organizationId }) => organizationId))
	await expect.poll(() => begun.mock.calls.filter(([, options]) => ofTenants.has(options?.organizationId ?? '')).length).toBe(3)
	begun.mockRestore()
	enter()
	const ids = [(await one).id, (await two).id, (await payment).id]
	await Promise.all(occupied)
	const { rows } = await other.query(
		`select id, xmin::text from companies where id = any($1) union all select id, xmin::text from payments where id = any($1)`,
		[ids],
	)
	const transactions = ids.map((id) => rows.find((row) => row.id === id).xmin)
	expect(transactions[1]).toBe(transactions[0])
	expect(transactions[2]).not.toBe(transactions[0])
})
