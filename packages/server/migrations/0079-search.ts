import type { Knex } from 'knex'

/**
 * One index of words for the search in all kinds of record. Rows are found by the beginning of a word, in the order of the index, so a
 * search stops after as many as it needs; the full-text indexes of the databases read all that match first.
 */
export async function up(knex: Knex): Promise<void> {
	const sqlite = knex.client.config.client === 'better-sqlite3'
	await knex.raw(`create table search_words (
		"organizationId" text not null,
		kind text not null,
		word ${sqlite ? 'text' : 'text collate "C"'} not null,
		place bigint not null,
		id ${sqlite ? 'text' : 'text collate "C"'} not null,
		primary key ("organizationId", kind, word, place, id)
	) ${sqlite ? 'without rowid' : ''}`)
	for (const statement of sqlite ? withoutFts : withoutVector) await knex.raw(statement)
	for (const table of Object.keys(kinds)) {
		if (table !== 'companies') await knex.raw(`alter table ${table} add column "searchText" text`)
		await fill(knex, table, sqlite)
		await knex.raw(`insert into search_words ${entriesOf(table, 'r', `${table} as r,`, sqlite)} ${ignoring(sqlite)}`)
		for (const statement of sqlite ? sqliteTriggers(table) : postgresTriggers(table)) await knex.raw(statement)
	}
}

const kinds: Record<string, string> = {
	companies: 'company',
	contacts: 'contact',
	deals: 'deal',
	invoices: 'invoice',
	time_entries: 'time_entry',
}

const withoutFts = ['companies_search_insert', 'companies_search_update'].map((name) => `drop trigger ${name}`)
withoutFts.push('drop table company_search')
const withoutVector = ['alter table companies drop column "searchVector"']

const hasDeleted = (table: string) => ['companies', 'contacts', 'deals'].includes(table)
const isFound = (table: string, row: string) =>
	`${row}."searchText" <> ''${hasDeleted(table) ? ` and ${row}."deletedAt" is null` : ''}`

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

const entriesOf = (table: string, row: string, from: string, sqlite: boolean) =>
	`select ${row}."organizationId", '${kinds[table]}', ${wordOf(row, sqlite)}, -${row}."createdAt", ${row}.id
		from ${from} ${sqlite ? '' : 'lateral '}${wordsOf(row, sqlite)} where w.value <> '/' and ${isFound(table, row)}`

const ignoring = (sqlite: boolean) => `${sqlite ? 'order by 1, 2, 3, 4, 5 ' : ''}on conflict do nothing`

const insertion = (table: string, sqlite: boolean) =>
	sqlite
		? `insert or ignore into search_words ${entriesOf(table, 'new', '', true)};`
		: `insert into search_words ${entriesOf(table, 'new', '', false)} on conflict do nothing;`

const deletion = (table: string, sqlite: boolean) =>
	`delete from search_words where "organizationId" = old."organizationId" and kind = '${kinds[table]}' and place = -old."createdAt"
		and id = old.id and word in (select ${wordOf('old', sqlite)} from ${wordsOf('old', sqlite)});`

const isChanged = (table: string, differs: string) =>
	[
		`new."searchText" ${differs} old."searchText"`,
		...(hasDeleted(table) ? [`new."deletedAt" ${differs} old."deletedAt"`] : []),
	].join(' or ')

const columns = (table: string) => `"searchText"${hasDeleted(table) ? ', "deletedAt"' : ''}`

const sqliteTriggers = (table: string) => [
	`create trigger ${table}_words_insert after insert on ${table} when ${isFound(table, 'new')} begin ${insertion(table, true)} end`,
	`create trigger ${table}_words_update after update of ${columns(table)} on ${table} when ${isChanged(table, 'is not')}
		begin ${deletion(table, true)} ${insertion(table, true)} end`,
	`create trigger ${table}_words_delete after delete on ${table} when old."searchText" <> '' begin ${deletion(table, true)} end`,
]

const postgresTriggers = (table: string) => [
	`create function index_${table}() returns trigger language plpgsql as $$ begin
		if tg_op <> 'INSERT' then ${deletion(table, false)} end if;
		if tg_op <> 'DELETE' then ${insertion(table, false)} end if;
		return null;
	end $$`,
	`create trigger ${table}_words_insert after insert on ${table} for each row when (${isFound(table, 'new')})
		execute function index_${table}()`,
	`create trigger ${table}_words_update after update of ${columns(table)} on ${table} for each row
		when (${isChanged(table, 'is distinct from')}) execute function index_${table}()`,
	`create trigger ${table}_words_delete after delete on ${table} for each row when (old."searchText" <> '')
		execute function index_${table}()`,
]

type Row = Record<string, string | null>

const sources: Record<string, [title: string | undefined, ...others: string[]]> = {
	companies: ['name', 'domain'],
	contacts: ['name', 'email'],
	deals: ['name'],
	invoices: ['invoiceNumber', 'paymentReference'],
	time_entries: [undefined, 'taskName', 'deliverableName', 'description'],
}

/** Gives the rows their text, as billing/search/texts.ts made it when this migration was written. */
async function fill(knex: Knex, table: string, sqlite: boolean): Promise<void> {
	const [title, ...others] = sources[table] as (typeof sources)[string]
	const read = ['organizationId', 'id', ...(title ? [title] : []), ...others]
	const update = sqlite
		? `update ${table} set "searchText" = f.value ->> 2 from json_each(?) as f
			where ${table}."organizationId" = f.value ->> 0 and ${table}.id = f.value ->> 1`
		: `update ${table} set "searchText" = f.value ->> 2 from jsonb_array_elements(cast(? as jsonb)) as f
			where ${table}."organizationId" = f.value ->> 0 and ${table}.id = f.value ->> 1`
	for (let after: [string, string] = ['', '']; ; ) {
		const rows: Row[] = await knex(table)
			.select(read)
			.whereRaw('("organizationId", id) > (?, ?)', after)
			.orderBy(['organizationId', 'id'])
			.limit(1_000)
		const last = rows.at(-1)
		if (!last) return
		const isNumbered = table === 'invoices'
		const texts = rows.map((row) => [
			row.organizationId,
			row.id,
			textOf(
				title && row[title],
				others.map((name) => row[name]),
				isNumbered,
			),
		])
		await knex.raw(update, [JSON.stringify(texts)])
		after = [last.organizationId as string, last.id as string]
	}
}

type Text = string | null | undefined

function textOf(title: Text, others: Text[], isNumbered: boolean): string {
	const withoutZeros = (word: string) => word.replace(/^0+(?=\d+$)/, '')
	const split = (text: string) => (isNumbered ? words(text).map(withoutZeros) : words(text))
	const named = split(title ?? '').slice(0, 64)
	const zeros = [title, ...others].flatMap((text) =>
		text && isNumbered ? words(text).filter((word) => withoutZeros(word) !== word) : [],
	)
	const rest = [...new Set([...others.flatMap((text) => (text ? split(text) : [])), ...zeros])].filter(
		(word) => !named.includes(word),
	)
	return [...named, ...(rest.length > 0 ? ['/', ...rest.slice(0, 64)] : [])].join(' ')
}

const spelled: Record<string, string> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ı: 'i', ς: 'σ' }
const run = /[\p{L}\p{N}]+(?:\+{2,}|[+#]+(?![\p{L}\p{N}+#]))?/gu
const beforeHost = /(?<![\p{L}\p{N}])(?:[a-z][a-z\d+.-]{1,20}:\/\/)?(?:www\.(?=[\p{L}\p{N}]))?/gu
const spaceless = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}ー]+|\p{sc=Hangul}+/u
const parts = new RegExp(`${spaceless.source}|(?:(?!${spaceless.source}).)+`, 'gu')

function words(text: string): string[] {
	const folded = text
		.normalize('NFKD')
		.replace(/\p{M}+/gu, '')
		.toLowerCase()
		.replace(/[ßæœøłđıς]/g, (letter) => spelled[letter] as string)
	return (folded.replace(beforeHost, '').match(run) ?? []).flatMap((word) => {
		const composed = word.normalize('NFC')
		if (!spaceless.test(composed)) return word.slice(0, 200)
		return (composed.match(parts) ?? []).flatMap((part) => {
			if (!spaceless.test(part)) return part.slice(0, 200)
			const characters = [...part]
			const pairs = characters.slice(1).map((character, index) => `${characters[index]}${character}`)
			return [...pairs, characters.at(-1) as string].map((pair) => pair.normalize('NFKD'))
		})
	})
}
