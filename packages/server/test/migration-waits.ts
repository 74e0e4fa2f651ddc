// What a migration would make the clients of large tables wait for, found on small ones: by the locks that it holds, and by what it read
// and changed under them. `pnpm bench --only migrations` measures the same on ten million rows.
import knexFactory, { type Knex } from 'knex'
import type { Migration } from '../migrations/migration.ts'

/** A batch, above which changes belong into background work. */
const mostRows = 1_000

const strong = ['ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock']

/** What may run outside of a transaction: it takes no lock that a client meets. */
const harmless =
	/^(create (unique )?index concurrently|drop index concurrently|reindex \w+ concurrently|alter index \S+ rename to|alter table \S+ validate constraint) /i

export const connect = (url: string): Knex => knexFactory({ client: 'pg', connection: url, pool: { min: 0, max: 1 } })

/** Fills the tables whose names are like this with rows of no meaning, past their references. */
export async function fillTables(knex: Knex, rows = 2 * mostRows, like = '%'): Promise<void> {
	const { rows: columns } = await knex.raw(
		`select table_name as name, column_name as "column", data_type as type from information_schema.columns
			where table_schema = 'public' and table_name <> 'migrations' and table_name like ? order by ordinal_position`,
		[like],
	)
	const tables = Map.groupBy<string, { name: string; column: string; type: string }>(columns, ({ name }) => name)
	await knex.raw('set session_replication_role = replica')
	for (const [table, of] of tables) {
		const names = of.map(({ column }) => `"${column}"`).join(', ')
		const values = of.map(({ type }) => byType[type] ?? 'n').join(', ')
		await knex.raw(`insert into "${table}" (${names}) select ${values} from generate_series(1, ${rows}) n`)
	}
	await knex.raw('set session_replication_role = default')
}

const byType: Record<string, string> = { text: 'n::text', json: `'{}'`, bytea: `int4send(n)`, boolean: 'false' }

/** Runs the migration on filled tables; returns a sentence for each wait of clients, none when it is fit to run beside servers. */
export const findWaits = (knex: Knex, migration: Pick<Migration, 'up' | 'inTransaction'>): Promise<string[]> =>
	migration.inTransaction === false ? findStatements(knex, migration) : findLocks(knex, migration)

async function findStatements(knex: Knex, { up }: Pick<Migration, 'up'>): Promise<string[]> {
	const statements: string[] = []
	const note = ({ sql }: { sql: string }) => statements.push(sql)
	knex.on('query', note)
	await up(knex, true).finally(() => knex.off('query', note))
	const wrong = statements.filter((sql) => !harmless.test(sql.trim()))
	return wrong.map((sql) => `outside of a transaction, and no lock of it is known to be harmless: ${sql.trim()}`)
}

interface Use {
	readonly oid: number
	readonly table: string
	readonly read: number
	readonly changed: number
	/** Of the locks that this transaction holds. */
	readonly modes: readonly string[]
}

/** The counters go on from transaction to transaction, until PostgreSQL collects them. */
async function readUse(knex: Knex): Promise<Map<number, Use>> {
	const { rows } =
		await knex.raw(`select c.oid, c.relname as "table", s.seq_tup_read::int as read, (s.n_tup_upd + s.n_tup_del)::int as changed,
			array(select mode from pg_locks l where l.relation = c.oid and l.pid = pg_backend_pid()) as modes
		from pg_class c join pg_stat_xact_user_tables s on s.relid = c.oid order by c.relname`)
	return new Map(rows.map((row: Use) => [row.oid, row]))
}

async function findLocks(knex: Knex, { up }: Pick<Migration, 'up'>): Promise<string[]> {
	await knex.raw('begin')
	try {
		const before = await readUse(knex)
		await up(knex, false)
		const after = await readUse(knex)
		return [...before.values()].flatMap(({ oid, read, changed }) => {
			const now = after.get(oid)
			if (!now) return []
			const lock = now.modes.find((mode) => strong.includes(mode))
			const rows = now.changed - changed
			return [
				...(lock && now.read > read ? [`${now.table} is read from end to end while ${lock} keeps clients from it`] : []),
				...(rows > mostRows ? [`${rows} rows of ${now.table} are changed, and clients wait for each until the end`] : []),
			]
		})
	} finally {
		await knex.raw('rollback')
	}
}
