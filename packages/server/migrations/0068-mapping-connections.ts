import type { Knex } from 'knex'

/** The connection by whose fields a mapping is validated; null for none. */
export async function up(knex: Knex): Promise<void> {
	// Ids are compared by bytes on both databases.
	const bytewise = knex.client.config.client === 'better-sqlite3' ? 'text' : 'text collate "C"'
	await knex.schema.alterTable('mappings', (table) => {
		table.specificType('connectionId', bytewise)
	})
}
