import type { Knex } from 'knex'

/**
 * Companies by their changes. On SQLite the index by name also has the words of a company: a search for words that very many have walks
 * it in its order, and rows of neighbouring names stand on as many pages of the table. PostgreSQL limits an entry to less than a text
 * may be long.
 */
export async function up(knex: Knex): Promise<void> {
	const sqlite = knex.client.config.client === 'better-sqlite3'
	await knex.raw(`create index companies_by_change on companies ("organizationId", "updatedAt", id) where "deletedAt" is null`)
	if (!sqlite) return
	await knex.raw('drop index companies_by_name')
	await knex.raw(
		`create index companies_by_name on companies ("organizationId", "sortName", id, "searchText") where "deletedAt" is null`,
	)
}
