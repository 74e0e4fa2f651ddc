import type { Knex } from 'knex'

/**
 * The words of a deleted company stay in the index, as a kind of their own: its invoices, which still name it, are found by them. The
 * triggers are those of migration 0079, but for the kind.
 */
export async function up(knex: Knex): Promise<void> {
	const sqlite = knex.client.config.client === 'better-sqlite3'
	for (const statement of sqlite ? sqliteTriggers : postgresTriggers) await knex.raw(statement)
	await knex.raw(
		`insert into search_words ${entriesOf('r', 'companies as r,', sqlite)} and r."deletedAt" is not null
			${sqlite ? 'order by 1, 2, 3, 4, 5' : ''} on conflict do nothing`,
	)
}

const kindOf = (row: string) => `case when ${row}."deletedAt" is null then 'company' else 'deleted_company' end`

/** The words of a row, and their number from 0. */
const wordsOf = (row: string, sqlite: boolean) =>
	sqlite
		? `json_each('["' || replace(${row}."searchText", ' ', '","') || '"]') as w`
		: `unnest(string_to_array(${row}."searchText", ' ')) with ordinality as w(value, key)`

/** The entry of the first word is the whole title: what begins it finds that entry. */
const wordOf = (row: string, sqlite: boolean) => {
	const text = `${row}."searchText"`
	const title = sqlite
		? `case instr(${text}, ' / ') when 0 then ${text} else substr(${text}, 1, instr(${text}, ' / ') - 1) end`
		: `split_part(${text}, ' / ', 1)`
	return `case w.key when ${sqlite ? 0 : 1} then '=' || substr(${title}, 1, 200) else w.value end`
}

const entriesOf = (row: string, from: string, sqlite: boolean) =>
	`select ${row}."organizationId", ${kindOf(row)}, ${wordOf(row, sqlite)}, -${row}."createdAt", ${row}.id
		from ${from} ${sqlite ? '' : 'lateral '}${wordsOf(row, sqlite)} where w.value <> '/' and ${row}."searchText" <> ''`

const insertion = (sqlite: boolean) =>
	sqlite
		? `insert or ignore into search_words ${entriesOf('new', '', true)};`
		: `insert into search_words ${entriesOf('new', '', false)} on conflict do nothing;`

const deletion = (sqlite: boolean) =>
	`delete from search_words where "organizationId" = old."organizationId" and kind = ${kindOf('old')} and place = -old."createdAt"
		and id = old.id and word in (select ${wordOf('old', sqlite)} from ${wordsOf('old', sqlite)});`

const sqliteTriggers = [
	...['insert', 'update', 'delete'].map((event) => `drop trigger companies_words_${event}`),
	`create trigger companies_words_insert after insert on companies when new."searchText" <> '' begin ${insertion(true)} end`,
	`create trigger companies_words_update after update of "searchText", "deletedAt" on companies
		when new."searchText" is not old."searchText" or new."deletedAt" is not old."deletedAt"
		begin ${deletion(true)} ${insertion(true)} end`,
	`create trigger companies_words_delete after delete on companies when old."searchText" <> '' begin ${deletion(true)} end`,
]

const postgresTriggers = [
	`create or replace function index_companies() returns trigger language plpgsql as $$ begin
		if tg_op <> 'INSERT' then ${deletion(false)} end if;
		if tg_op <> 'DELETE' then ${insertion(false)} end if;
		return null;
	end $$`,
	'drop trigger companies_words_insert on companies',
	`create trigger companies_words_insert after insert on companies for each row when (new."searchText" <> '')
		execute function index_companies()`,
]
