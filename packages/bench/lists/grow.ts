// Fills an organization with copies of its records, by SQL: indexes and triggers go first, and indexes come back at the end.
import { beginningOf } from '../../server/src/platform/base/ids.ts'
import { type Copied, tables } from './columns.ts'
import { openSql, type Sql, type Where } from './sql.ts'

/** The copies have so many different times, in the days before now. */
const slots = 1_000
const spanMs = 20 * 86_400_000

/** About half of the records are older. */
export const middle = (now: number) => now - spanMs / 2

export async function grow(where: Where, organizationId: string, count: number, now: number): Promise<void> {
	const sql = await openSql(where)
	const isSqlite = sql.dialect === 'sqlite'
	await sql.run(
		isSqlite
			? 'pragma journal_mode = off; pragma synchronous = off; pragma cache_size = -1000000; pragma foreign_keys = off'
			: `set session_replication_role = replica; set synchronous_commit = off; set maintenance_work_mem = '512MB'; set work_mem = '256MB'`,
	)
	const times = Array.from({ length: slots }, (_, k) => Math.floor(now - spanMs + (k * spanMs) / slots))
	await sql.run(`create table slots (k integer primary key, at bigint, digits text);
		insert into slots values ${times.map((at, k) => `(${k}, ${at}, '${beginningOf('evt', at).slice('evt_'.length)}')`).join(', ')}`)
	const endpoints = await sql.rows(`select id from webhook_endpoints where "organizationId" = '${organizationId}'`)
	const all = Object.entries(tables(endpoints.map(({ id }) => id as string)))
	for (const [table, copied] of all) await copy(sql, table, copied, organizationId, count)
	await indexWords(sql, all, organizationId, count)
	await sql.run(`delete from record_counts where "organizationId" = '${organizationId}';
		insert into record_counts ("organizationId", kind, part, live) select "organizationId", 'company', 0, count(*) from companies
			where "deletedAt" is null group by "organizationId";
		drop table slots`)
	if (isSqlite) await sql.run('pragma journal_mode = wal')
	else {
		await sql.run(`update feed_places set last = (select max(place) from events)`)
		await sql.run('vacuum analyze')
	}
	await sql.close()
}

const numbers = (count: number) =>
	`(with recursive numbers(n) as (select cast(1 as bigint) union all select n + 1 from numbers where n < ${count}) select n from numbers) as numbers
		join slots on k = (n - 1) / ${count / slots}`

async function copy(sql: Sql, table: string, { source, columns }: Copied, organizationId: string, count: number): Promise<void> {
	const indexes = await indexesOf(sql, table)
	for (const { name } of indexes) await sql.run(`drop index "${name}"`)
	const triggers = sql.dialect === 'sqlite' ? await triggersOf(sql, table) : []
	for (const { name } of triggers) await sql.run(`drop trigger "${name}"`)
	const names = (await columnsOf(sql, table)).filter((name) => name !== 'rowid')
	const [into, from] = [names.map((name) => `"${name}"`), names.map((name) => columns[name] ?? `"${name}"`)]
	await sql.run(`insert into ${table} (${into}) select ${from} from ${numbers(count)} cross join (
		select * from ${table} where "organizationId" = '${organizationId}' and ${source ?? 'true'} limit 1) as source`)
	for (const { definition } of [...indexes, ...triggers]) await sql.run(definition as string)
}

/** Their words, as the triggers would make them. */
async function indexWords(sql: Sql, all: readonly [string, Copied][], organizationId: string, count: number): Promise<void> {
	const entries = all.flatMap(([, { indexed, columns }]) =>
		(indexed?.words ?? []).map(
			(word) =>
				`select '${organizationId}', '${indexed?.kind}', ${word}, -(${columns.createdAt}), ${columns.id} from ${numbers(count)}`,
		),
	)
	await sql.run(
		`insert into search_words ("organizationId", kind, word, place, id) ${entries.join(' union all ')} order by 1, 2, 3, 4, 5`,
	)
}

/** Those that do not belong to a constraint. */
export const indexesOf = ({ rows, dialect }: Sql, table: string) =>
	rows(
		dialect === 'sqlite'
			? `select name, sql as definition from sqlite_master where type = 'index' and tbl_name = '${table}' and sql is not null`
			: `select indexname as name, indexdef as definition from pg_indexes where tablename = '${table}'
				and not exists (select 1 from pg_constraint where conname = indexname)`,
	)

const triggersOf = ({ rows }: Sql, table: string) =>
	rows(`select name, sql as definition from sqlite_master where type = 'trigger' and tbl_name = '${table}'`)

async function columnsOf({ rows, dialect }: Sql, table: string): Promise<string[]> {
	const found = await rows(
		dialect === 'sqlite'
			? `select name from pragma_table_info('${table}')`
			: `select column_name as name from information_schema.columns where table_name = '${table}'`,
	)
	return found.map(({ name }) => name as string)
}
