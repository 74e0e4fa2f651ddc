import type { Knex } from 'knex'

/** Of a link, the hashes of the provider's values that lost a conflict, by field: they stay overruled until they change. */
export async function up(knex: Knex): Promise<void> {
	await knex.schema.alterTable('sync_links', (table) => {
		table.json('overruled')
	})
}
