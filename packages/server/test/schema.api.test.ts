// The real schema of the database, and how it runs the product's own queries: every table and key belongs to an
// organization, and every list, filter and look-up has its index however large the table is.
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migrations } from '../migrations/index.ts'
import { findKeyByHash, listKeys } from '../src/auth/store.ts'
import { findCompany, listCompanies, lockCompany } from '../src/companies/store.ts'
import { type Db, Statements } from '../src/db.ts'
import { dealExists } from '../src/deals/store.ts'
import { insertNumbered, isBuried } from '../src/invoices/numbering.ts'
import { findInvoice, listInvoices, lockInvoice, removeInvoice } from '../src/invoices/store.ts'
import { findOrganization } from '../src/organizations/store.ts'
import { startTestServer, type TestServer } from './harness.ts'

let server: TestServer
let ask: (sql: string, values?: unknown[]) => Promise<Record<string, unknown>[]>
let end: () => unknown
beforeAll(async () => {
	server = await startTestServer()
	const { DATABASE_URL, DATA_DIR } = server.settings
	if (DATABASE_URL) {
		const client = new pg.Client(DATABASE_URL)
		await client.connect()
		ask = async (sql, values) => (await client.query(sql, values)).rows
		end = () => client.end()
	} else {
		const file = new Sqlite(join(DATA_DIR as string, 'remit.db'))
		ask = async (sql, values = []) => {
			const statement = file.prepare(sql)
			if (statement.reader) return statement.all(values) as Record<string, unknown>[]
			statement.run(values)
			return []
		}
		end = () => file.close()
	}
})
afterAll(async () => {
	await end()
	await server.close()
})

interface Table {
	readonly name: string
	readonly columns: string[]
	/** Columns of every primary key and unique index, in order. */
	readonly unique: string[][]
	/** Columns of every foreign key. */
	readonly foreign: string[][]
}

const readSchema = () => (server.db.dialect === 'sqlite' ? readSqlite() : readPostgres())

async function readSqlite(): Promise<Table[]> {
	const tables = await ask(
		"select name from pragma_table_list where type = 'table' and schema = 'main' and name not like 'sqlite_%'",
	)
	return Promise.all(
		tables.map(async ({ name }) => {
			const info = await ask('select name, pk from pragma_table_info(?)', [name])
			const indexes = await ask('select name from pragma_index_list(?) where "unique" = 1', [name])
			const unique = await Promise.all(
				indexes.map((index) => ask('select name from pragma_index_info(?) order by seqno', [index.name])),
			)
			const key = info.filter(({ pk }) => Number(pk) > 0).sort((a, b) => Number(a.pk) - Number(b.pk))
			const foreign = Map.groupBy(await ask('select id, "from" from pragma_foreign_key_list(?)', [name]), ({ id }) => id)
			return {
				name: String(name),
				columns: info.map((column) => String(column.name)),
				unique: [key, ...unique]
					.filter(({ length }) => length > 0)
					.map((columns) => columns.map((column) => String(column.name))),
				foreign: [...foreign.values()].map((columns) => columns.map(({ from }) => String(from))),
			}
		}),
	)
}

async function readPostgres(): Promise<Table[]> {
	const columnsOf = (relation: string, numbers: string) =>
		`(select array_agg(a.attname::text order by k.place) from unnest(${numbers}) with ordinality as k(number, place)
			join pg_attribute a on a.attrelid = ${relation} and a.attnum = k.number)`
	return (await ask(`select c.relname as name,
		array(select attname::text from pg_attribute where attrelid = c.oid and attnum > 0) as columns,
		array(select to_json(${columnsOf('i.indrelid', 'i.indkey::int2[]')}) from pg_index i where i.indrelid = c.oid and i.indisunique) as unique,
		array(select to_json(${columnsOf('f.conrelid', 'f.conkey')}) from pg_constraint f where f.conrelid = c.oid and f.contype = 'f') as foreign
		from pg_class c where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace`)) as unknown as Table[]
}

describe('the schema', () => {
	it('has been brought to the newest migration', async () => {
		const [row] = await ask('select max("number") as latest from migrations')
		expect(Number(row?.latest)).toBe(migrations.length)
	})

	it('has the organization in every table, first in every key, and in every reference', async () => {
		const tables = (await readSchema()).filter(({ name }) => name !== 'migrations')
		expect(tables.map(({ name }) => name)).toEqual(
			expect.arrayContaining(['organizations', 'api_keys', 'companies', 'invoices', 'deals']),
		)
		for (const { name, columns, unique, foreign } of tables) {
			expect({ name, columns }).toEqual({ name, columns: expect.arrayContaining(['organizationId']) })
			// SQLite's full-text index points to companies by their rowid, which no one else sees.
			const keys = unique.filter((key) => !(name === 'companies' && key.join() === 'rowid'))
			expect({ name, keys: keys.length }).not.toEqual({ name, keys: 0 })
			for (const key of keys) expect({ name, first: key[0] }).toEqual({ name, first: 'organizationId' })
			for (const key of foreign) expect({ name, key }).toEqual({ name, key: expect.arrayContaining(['organizationId']) })
		}
	})
})

interface Recorded {
	readonly sql: string
	readonly values: unknown[]
}

/** The SQL that a store function runs, without running it. */
async function record(work: (db: Db) => Promise<unknown>): Promise<Recorded[]> {
	const { dialect } = server.db
	const statements = new Statements<string>(dialect, (sql) => sql)
	const recorded: Recorded[] = []
	const keep = (query: never, params: never): undefined => {
		const { statement, values } = statements.compile(query as never, params as object)
		recorded.push({ sql: statement, values: values(params) })
	}
	const db = {
		dialect,
		all: async (query: never, params: never) => keep(query, params) ?? [],
		column: async (query: never, params: never) => keep(query, params) ?? [],
		get: async (query: never, params: never) => void keep(query, params),
		run: async (query: never, params: never) => keep(query, params) ?? 0,
	}
	await work(db as unknown as Db).catch(() => undefined)
	return recorded
}

/** The plan of each query, a line a step. */
async function plans(recorded: readonly Recorded[]): Promise<string[]> {
	expect(recorded.length).toBeGreaterThan(0)
	const explain = server.db.dialect === 'sqlite' ? 'explain query plan' : 'explain (costs off)'
	const found = []
	for (const { sql, values } of recorded) {
		const rows = await ask(`${explain} ${sql}`, values)
		found.push(rows.map((row) => String(row.detail ?? row['QUERY PLAN'])).join('\n'))
	}
	return found
}

const today = { date: 0, instant: 0 }
const org = () => server.organizationId
const page = { limit: 50, offset: 0 }

/** Each list, with the indexes that may serve it. */
function lists(): [name: string, work: (db: Db) => Promise<unknown>, indexes: string[]][] {
	const found: ReturnType<typeof lists> = []
	const filters = { status: 'sent', dealId: 'dl_1', companyId: 'cmp_1' } as const
	for (let set = 0; set < 8; set++) {
		const used = Object.fromEntries(Object.entries(filters).filter((_, index) => set & (1 << index)))
		const fitting: Record<string, string> = {
			status: 'invoices_by_status',
			dealId: 'invoices_by_deal',
			companyId: 'invoices_by_company',
		}
		const indexes = Object.keys(used).map((name) => fitting[name] as string)
		found.push([
			`invoices by ${Object.keys(used).join(', ') || 'nothing'}`,
			(db) => listInvoices(db, org(), { ...used, ...page }, today),
			indexes.length > 0 ? indexes : ['invoices_by_creation'],
		])
	}
	for (const sortBy of ['name', 'createdAt'] as const) {
		for (const sortOrder of ['asc', 'desc'] as const) {
			found.push([
				`companies by ${sortBy} ${sortOrder}`,
				async (db) => listCompanies(db, org(), { sortBy, sortOrder, ...page }),
				[sortBy === 'name' ? 'companies_by_name' : 'companies_by_creation'],
			])
		}
	}
	return found
}

/** Every look-up of one record. */
const lookUps: [name: string, work: (db: Db) => Promise<unknown>][] = [
	['an invoice', (db) => findInvoice(db, org(), 'inv_1', today)],
	['an invoice to change', (db) => lockInvoice(db, org(), 'inv_1')],
	['an invoice to delete', (db) => removeInvoice(db, org(), 'inv_1')],
	['a company', (db) => findCompany(db, org(), 'cmp_1')],
	['a company to change', (db) => lockCompany(db, org(), 'cmp_1')],
	['a deal', (db) => dealExists(db, org(), 'dl_1')],
	['a deleted number', (db) => isBuried(db, org(), 'INV-0001')],
	['an organization', (db) => findOrganization(db, org())],
	['the next number', (db) => insertNumbered(db, { organizationId: org() }, async () => true)],
	['a key by its hash', (db) => findKeyByHash(db, 'hash')],
	['the keys of an organization', (db) => listKeys(db, org())],
]

describe.each(['with few rows', 'with many rows'])('every query %s', (size) => {
	beforeAll(async () => {
		const sqlite = server.db.dialect === 'sqlite'
		if (size === 'with many rows') await grow(5_000)
		// So few rows are read faster than any index: PostgreSQL is asked what it would do with more.
		if (!sqlite) await ask(size === 'with few rows' ? 'set enable_seqscan = off' : 'reset enable_seqscan')
		if (!sqlite) await ask(size === 'with few rows' ? 'set enable_bitmapscan = off' : 'reset enable_bitmapscan')
	})

	it('of a list walks an index in the order of the list', async () => {
		for (const [name, work, indexes] of lists()) {
			const [plan] = await plans((await record(work)).slice(0, 1))
			expect({ name, plan }).toEqual({ name, plan: expect.stringMatching(new RegExp(indexes.join('|'))) })
			expect({ name, plan }).not.toEqual({ name, plan: expect.stringMatching(/TEMP B-TREE|\bSort\b|Seq Scan|^SCAN/m) })
		}
	})

	it('of a search asks the full-text index, and counts by it', async () => {
		const searched = await record((db) =>
			listCompanies(db, org(), { search: 'grown 17', sortBy: 'name', sortOrder: 'asc', ...page }),
		)
		expect(searched).toHaveLength(2)
		for (const plan of await plans(searched)) {
			const sqlite = server.db.dialect === 'sqlite'
			const few = size === 'with few rows'
			// PostgreSQL filters a handful of rows without it.
			expect(plan).toMatch(
				sqlite ? /company_search VIRTUAL TABLE INDEX/ : few ? /Index Scan using companies_|companies_search/ : /companies_search/,
			)
			expect(plan).not.toMatch(/Seq Scan|SCAN companies\b/)
		}
	})

	it('for one record, a key or a number goes by an index', async () => {
		// Some of these tables have few rows at any size.
		if (server.db.dialect === 'postgres') await ask('set enable_seqscan = off')
		for (const [name, work] of lookUps) {
			for (const plan of await plans(await record(work))) {
				expect({ name, plan }).toEqual({
					name,
					plan: expect.stringMatching(/USING (COVERING )?INDEX|Index (Only )?Scan|Bitmap Index Scan/),
				})
				expect({ name, plan }).not.toEqual({ name, plan: expect.stringMatching(/Seq Scan|^SCAN/m) })
			}
		}
	})
})

/** Fills the tables of the lists by SQL, as copies of one row. */
async function grow(rows: number): Promise<void> {
	const company = (await server.ask('POST', '/api/companies', { body: { name: 'Grown' } })).body.id
	const dealId = await server.newDeal()
	await server.ask('POST', '/api/invoices')
	const changed: Record<string, Record<string, string>> = {
		companies: {
			id: "'cmp_grown' || n",
			name: "'Grown ' || n",
			sortName: "'grown ' || n",
			searchText: "'grown ' || n",
			createdAt: 'n',
		},
		invoices: {
			id: "'inv_grown' || n",
			invoiceNumber: "'GROWN-' || n",
			status: "case n % 5 when 0 then 'sent' when 1 then 'paid' else 'draft' end",
			dealId: `case n % 10 when 0 then '${dealId}' end`,
			companyId: `case n % 7 when 0 then '${company}' end`,
			createdAt: 'n',
		},
	}
	for (const { name, columns } of await readSchema()) {
		const values = changed[name]
		if (!values) continue
		const copied = columns.filter((column) => !['rowid', 'searchVector'].includes(column))
		const quoted = copied.map((column) => `"${column}"`).join(', ')
		const selected = copied.map((column) => values[column] ?? `"${column}"`).join(', ')
		await ask(`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${rows})
			insert into ${name} (${quoted}) select ${selected} from (select * from ${name} where "organizationId" = '${org()}' limit 1) as source, numbers`)
	}
	// PostgreSQL gathers statistics by itself, a while later; SQLite never does.
	if (server.db.dialect === 'postgres') await ask('vacuum analyze')
}
