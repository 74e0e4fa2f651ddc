import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
	const sqlite = knex.client.config.client === 'better-sqlite3'
	// Lists sort by these columns, by bytes on both databases: PostgreSQL's default is the collation of the database.
	const bytewise = sqlite ? 'text' : 'text collate "C"'
	await knex.schema.createTable('companies', (table) => {
		// The full-text index points to rows by their rowid. VACUUM keeps a rowid only when it is a named column.
		if (sqlite) table.increments('rowid')
		table.text('organizationId').notNullable().references('organizationId').inTable('organizations')
		table.specificType('id', bytewise).notNullable()
		table.text('name').notNullable()
		for (const column of details) table.text(column)
		table.bigInteger('createdAt').notNullable()
		table.bigInteger('updatedAt').notNullable()
		table.bigInteger('deletedAt')
		table.integer('version').notNullable()
		// For sorting and searching: in lower case and without accents, the same on every database.
		table.specificType('sortName', bytewise).notNullable()
		table.text('searchText').notNullable()
		if (sqlite) table.unique(['organizationId', 'id'])
		else table.primary(['organizationId', 'id'])
		const live = { predicate: knex.whereNull('deletedAt') }
		table.index(['organizationId', 'sortName', 'id'], 'companies_by_name', live)
		table.index(['organizationId', 'createdAt', 'id'], 'companies_by_creation', live)
	})
	for (const statement of sqlite ? sqliteSearch : postgresSearch) await knex.raw(statement)
}

const details = [
	'domain',
	'phone',
	'notes',
	'billingContactName',
	'billingAddressLine1',
	'billingAddressLine2',
	'billingCity',
	'billingState',
	'billingPostalCode',
	'billingCountry',
	'billingEmail',
]

// Each word is indexed with its organization in front, so that the search for the beginning of a word reads the words of one
// organization only.
const indexed = (row: string) =>
	`${row}"organizationId" || '_' || replace(${row}"searchText", ' ', ' ' || ${row}"organizationId" || '_')`

const sqliteSearch = [
	`create virtual table company_search using fts5("searchText", content='', contentless_delete=1,
		tokenize="unicode61 remove_diacritics 0 tokenchars '_'")`,
	`create trigger companies_search_insert after insert on companies when new."deletedAt" is null begin
		insert into company_search(rowid, "searchText") values (new.rowid, ${indexed('new.')});
	end`,
	`create trigger companies_search_update after update of "searchText", "deletedAt" on companies
		when new."searchText" <> old."searchText" or new."deletedAt" is not null begin
		delete from company_search where rowid = old.rowid;
		insert into company_search(rowid, "searchText")
			select new.rowid, ${indexed('new.')} where new."deletedAt" is null;
	end`,
]

const postgresSearch = [
	`alter table companies add column "searchVector" tsvector generated always as
		(array_to_tsvector(string_to_array(${indexed('')}, ' '))) stored`,
	`create index companies_search on companies using gin ("searchVector") where "deletedAt" is null`,
]
