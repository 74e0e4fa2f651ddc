// The tables of a database, as the database describes them.

/** Runs SQL and returns its rows. */
export type Ask = (sql: string, values?: unknown[]) => Promise<Record<string, unknown>[]>

export interface Table {
	readonly name: string
	readonly columns: string[]
	/** Columns of every primary key and unique index, in order. */
	readonly unique: string[][]
	/** Columns of every foreign key. */
	readonly foreign: string[][]
}

export const readTables = (dialect: 'sqlite' | 'postgres', ask: Ask) =>
	dialect === 'sqlite' ? readSqlite(ask) : readPostgres(ask)

async function readSqlite(ask: Ask): Promise<Table[]> {
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

async function readPostgres(ask: Ask): Promise<Table[]> {
	const columnsOf = (relation: string, numbers: string) =>
		`(select array_agg(a.attname::text order by k.place) from unnest(${numbers}) with ordinality as k(number, place)
			join pg_attribute a on a.attrelid = ${relation} and a.attnum = k.number)`
	return (await ask(`select c.relname as name,
		array(select attname::text from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped) as columns,
		array(select to_json(${columnsOf('i.indrelid', 'i.indkey::int2[]')}) from pg_index i where i.indrelid = c.oid and i.indisunique) as unique,
		array(select to_json(${columnsOf('f.conrelid', 'f.conkey')}) from pg_constraint f where f.conrelid = c.oid and f.contype = 'f') as foreign
		from pg_class c where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace`)) as unknown as Table[]
}
