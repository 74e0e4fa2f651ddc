import type { Knex } from 'knex'

/** Links that ended with the deletion of both records: when the provider's one returns, so does the one of Remit. */
export async function up(knex: Knex): Promise<void> {
	// Ids are compared by bytes on both databases.
	const sqlite = knex.client.config.client === 'better-sqlite3'
	const bytewise = sqlite ? 'text' : 'text collate "C"'
	await knex.schema.createTable('sync_ended_links', (table) => {
		table.text('organizationId').notNullable().references('organizationId').inTable('organizations')
		table.specificType('connectionId', bytewise).notNullable()
		table.text('object').notNullable()
		table.text('kind').notNullable()
		table.text('externalId').notNullable()
		table.specificType('recordId', bytewise).notNullable()
		table.bigInteger('endedAt').notNullable()
		table.primary(['organizationId', 'connectionId', 'object', 'kind', 'externalId'])
	})
	if (!sqlite) return
	await knex.raw('drop trigger companies_search_update')
	await knex.raw(searchUpdate)
}

/** As in migration 0003, and a company that is live again is found again. */
const searchUpdate = `create trigger companies_search_update after update of "searchText", "deletedAt" on companies
	when new."searchText" <> old."searchText" or (new."deletedAt" is null) <> (old."deletedAt" is null) begin
	delete from company_search where rowid = old.rowid;
	insert into company_search(rowid, "searchText")
		select new.rowid, new."organizationId" || '_' || replace(new."searchText", ' ', ' ' || new."organizationId" || '_')
		where new."deletedAt" is null;
end`
