import type { Knex } from 'knex'

/** The kinds of records to which a key or an endpoint is limited; null: all. */
export async function up(knex: Knex): Promise<void> {
	for (const name of ['api_keys', 'webhook_endpoints']) {
		await knex.schema.alterTable(name, (table) => {
			table.json('resources')
		})
	}
}
