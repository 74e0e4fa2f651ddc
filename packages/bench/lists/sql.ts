// Runs SQL on a database of either kind, past Remit.
import { fileIn } from '../databases.ts'
import { loadPostgres, loadSqlite } from '../server-modules.ts'

/** The settings of a server that say where its database is. */
export type Where = { readonly DATA_DIR: string } | { readonly DATABASE_URL: string }

type Row = Readonly<Record<string, string>>

export interface Sql {
	readonly dialect: 'sqlite' | 'postgres'
	run(sql: string): Promise<void>
	rows(sql: string): Promise<readonly Row[]>
	close(): Promise<void>
}

const [Sqlite, { Client }] = [loadSqlite(), loadPostgres()]

export async function openSql(where: Where): Promise<Sql> {
	if ('DATA_DIR' in where) {
		const db = new Sqlite(fileIn(where.DATA_DIR))
		return {
			dialect: 'sqlite',
			run: async (sql) => db.exec(sql),
			rows: async (sql) => db.prepare<Row>(sql).all(),
			close: async () => db.close(),
		}
	}
	const client = new Client({ connectionString: where.DATABASE_URL, connectionTimeoutMillis: 2_000 })
	await client.connect()
	return {
		dialect: 'postgres',
		run: async (sql) => void (await client.query(sql)),
		rows: async (sql) => ((await client.query(sql)) as { rows: Row[] }).rows,
		close: () => client.end(),
	}
}
