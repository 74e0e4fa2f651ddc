import type { Knex } from 'knex'

/** The provider's record that matches a record of Remit and could not be written to it, and the run that said so last; null for none. */
export async function up(knex: Knex): Promise<void> {
	// Ids are compared by bytes on both databases.
	const bytewise = knex.client.config.client === 'better-sqlite3' ? 'text' : 'text collate "C"'
	await knex.schema.alterTable('sync_links', (table) => {
		table.text('heldBy')
		table.specificType('heldRunId', bytewise)
	})
	await knex.raw(
		`create index sync_links_held on sync_links ("organizationId", "connectionId", object, kind, "heldBy") where "heldBy" is not null`,
	)
}
