// Migrations while servers work on the database: none keeps a client of a large table waiting, and the runner gives way.
import type { Knex } from 'knex'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildIndex } from '../migrations/build-index.ts'
import { migrations } from '../migrations/index.ts'
import type { Migration } from '../migrations/migration.ts'
import { migrate } from '../src/platform/db/drivers/migrate.ts'
import { newEmptyPostgres } from './databases.ts'
import { connect, fillTables, findWaits } from './migration-waits.ts'

/** The last one from before the rules of docs/decisions/migrations.md. */
const lastOfBefore = 90

let database: Awaited<ReturnType<typeof newEmptyPostgres>>
let knex: Knex
beforeAll(async () => {
	database = await newEmptyPostgres()
	knex = connect(database.url)
})
afterAll(async () => {
	await knex.destroy()
	await database.drop()
})

async function start(known: readonly Migration[]): Promise<void> {
	await knex.raw('drop schema public cascade; create schema public')
	await migrate({ postgresUrl: database.url }, 'upgrade', { known })
	await fillTables(knex)
}

const statement = (...sql: string[]) => ({
	async up(knex: Knex) {
		for (const text of sql) await knex.raw(text)
	},
})
const outside = (up: Migration['up']) => ({ up, inTransaction: false })

describe('what keeps clients of a large table waiting is found in', () => {
	beforeAll(() => start(migrations))

	it.each([
		['a column whose default differs from row to row', 'alter table invoices add column seed double precision default random()'],
		['an index', 'create index invoices_slow on invoices ("createdAt")'],
		['a column that may no longer be null', 'alter table invoices alter column notes set not null'],
		['another type of a column', 'alter table invoices alter column "invoiceNumber" type varchar(50)'],
		['a condition', 'alter table invoices add constraint sane check ("totalCents" >= 0)'],
		[
			'a reference',
			'alter table invoices add constraint sane foreign key ("organizationId", "companyId") references companies ("organizationId", id)',
		],
		['a unique column', 'alter table invoices add constraint sane unique (id)'],
	])('%s', async (_, sql) => {
		const waits = await findWaits(knex, statement(sql))
		expect(waits).toContainEqual(expect.stringMatching(/^invoices is read from end to end while \w+Lock keeps clients from it$/))
	})

	it('values for all rows at once', async () => {
		const [wait] = await findWaits(knex, statement(`update invoices set notes = 'none'`))
		expect(wait).toMatch(/^2000 rows of invoices are changed/)
	})

	it('an index that is not built concurrently, outside of a transaction', async () => {
		const [wait] = await findWaits(
			knex,
			outside((knex) => knex.raw('create index invoices_slow on invoices ("createdAt")')),
		)
		expect(wait).toMatch(/^outside of a transaction.*create index invoices_slow/)
		await knex.raw('drop index invoices_slow')
	})
})

describe('nobody waits for', () => {
	beforeAll(() => start(migrations))

	it.each([
		[
			'a column without a value, or with one for all',
			'alter table invoices add column a text, add column b int not null default 0',
		],
		['a column that goes', 'alter table invoices drop column notes'],
		['a condition that is checked later', 'alter table invoices add constraint sane check ("totalCents" >= 0) not valid'],
		['a new table', 'create table notes (id text primary key); create index notes_by_id on notes (id)'],
		[
			'a trigger',
			'create trigger none before insert on invoices for each row execute function suppress_redundant_updates_trigger()',
		],
	])('%s', async (_, sql) => {
		expect(await findWaits(knex, statement(sql))).toEqual([])
	})

	it('the check of a condition, after which the column may not be null', async () => {
		await knex.raw('alter table invoices add constraint sane check (notes is not null) not valid')
		const check = statement('alter table invoices validate constraint sane')
		expect(await findWaits(knex, check)).toEqual([])
		await check.up(knex)
		expect(await findWaits(knex, statement('alter table invoices alter column notes set not null'))).toEqual([])
	})

	it('an index that is built concurrently', async () => {
		const build = outside((knex, online) => buildIndex(knex, online, 'invoices_fast', 'on invoices ("createdAt")'))
		expect(await findWaits(knex, build)).toEqual([])
	})
})

describe('of the migrations after 0090', () => {
	const since = migrations.slice(lastOfBefore)

	it('each says which servers can serve beside it', () => {
		const silent = since.filter(({ needs = Infinity }, index) => needs >= lastOfBefore + index + 1)
		expect(silent.map(({ name }) => name)).toEqual([])
	})

	it.each(since.map((migration, index) => [migration.name, migration, lastOfBefore + index] as const))(
		'%s keeps nobody waiting',
		async (_, migration, before) => {
			await start(migrations.slice(0, before))
			expect(await findWaits(knex, migration)).toEqual([])
		},
	)

	it('0096 keeps writers out, and then waits for no reader', async () => {
		await start(migrations.slice(0, 95))
		const reader = connect(database.url)
		await reader.raw('begin; select 1 from invoices')
		const migrating = migrate({ postgresUrl: database.url, waitMs: 0 }, 'upgrade', { known: migrations.slice(0, 96) })
		await expect(migrating.finally(() => reader.destroy())).resolves.toEqual(['0096-sums-of-what-is-due'])
	})
})

describe('the runner', () => {
	const one: Migration = { name: '0001-one', ...statement('create table invoices (id text primary key, notes text)') }
	const add: Migration = { name: '0002-two', needs: 0, ...statement('alter table invoices add column a text') }
	let client: Knex
	beforeAll(() => {
		client = connect(database.url)
	})
	afterAll(() => client.destroy())

	const upTo = (...known: Migration[]) => migrate({ postgresUrl: database.url, waitMs: 20_000 }, 'upgrade', { known })
	const restart = async () => {
		await knex.raw('drop schema public cascade; create schema public')
		await upTo(one)
	}

	it('gives way to the clients behind it while another holds the table, and comes through when that has ended', async () => {
		await restart()
		await client.raw('begin; select 1 from invoices')
		const migrating = upTo(one, add)
		const waiting = `select 1 from pg_locks where relation = 'invoices'::regclass and not granted`
		await expect.poll(async () => (await knex.raw(waiting)).rowCount, { interval: 10 }).toBe(1)
		const began = performance.now()
		await knex.raw('select count(*) from invoices')
		expect(performance.now() - began).toBeLessThan(1_000)
		await client.raw('commit')
		expect(await migrating).toEqual(['0002-two'])
	})

	it('says what it waited for, when that does not end', async () => {
		await restart()
		await client.raw('begin; select 1 from invoices')
		const migrating = migrate({ postgresUrl: database.url, waitMs: 100 }, 'upgrade', { known: [one, add] })
		await expect(migrating).rejects.toThrow(/a migration waited in vain for a lock that others hold.*alter table invoices/)
		await client.raw('rollback')
		expect(await upTo(one, add)).toEqual(['0002-two'])
	})

	it('builds an index while a client writes, once for two processes, and anew where it was broken off', async () => {
		await restart()
		const build: Migration = {
			name: '0002-index',
			needs: 0,
			...outside((knex, online) => buildIndex(knex, online, 'invoices_by_notes', 'on invoices (notes)')),
		}
		await knex.raw(`insert into invoices values ('a', 'same'), ('b', 'same')`)
		// As a process leaves it that ends meanwhile.
		await expect(knex.raw('create unique index concurrently invoices_by_notes on invoices (notes)')).rejects.toThrow(
			'could not create unique',
		)
		await client.raw(`begin; update invoices set notes = 'other' where id = 'a'`)
		const building = [upTo(one, build), upTo(one, build)]
		const waiting = `select 1 from pg_stat_activity where query like '%index concurrently%' and wait_event_type = 'Lock' and datname = current_database()`
		await expect.poll(async () => (await knex.raw(waiting)).rowCount, { interval: 10 }).toBe(1)
		await knex.raw(`insert into invoices values ('c', 'new')`)
		await client.raw('commit')
		expect((await Promise.all(building)).flat()).toEqual(['0002-index'])
		const { rows } = await knex.raw(
			`select indisvalid, indisunique from pg_index where indexrelid = 'invoices_by_notes'::regclass`,
		)
		expect(rows).toEqual([{ indisvalid: true, indisunique: false }])
	})

	it('serves a database that is ahead by what only adds, or by what takes away what it does not use, and no other', async () => {
		await restart()
		await upTo(one, add)
		const newer: string[] = []
		const older = (...known: Migration[]) =>
			migrate({ postgresUrl: database.url }, 'upgrade', { known, onNewer: (names) => newer.push(...names) })
		expect(await older(one)).toEqual([])
		expect(newer.splice(0)).toEqual(['0002-two'])
		const drop: Migration = { name: '0003-three', needs: 2, ...statement('alter table invoices drop column notes') }
		await upTo(one, add, drop)
		expect(await older(one, add)).toEqual([])
		expect(newer).toEqual(['0003-three'])
		await expect(older(one)).rejects.toThrow('The database is at migration 3, this version of Remit knows 1: run the newer Remit')
	})
})
