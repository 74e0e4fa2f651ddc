import type { Knex } from 'knex'

/**
 * A host is proven at the networks where it answered, as JSON: its name may lead to others later. A row whose key has a `/` is of a
 * network (`192.0.2.1/32`), whichever names lead there.
 */
export async function up(knex: Knex): Promise<void> {
	await knex.schema.alterTable('webhook_hosts', (table) => {
		table.text('networks').notNullable().defaultTo('[]')
	})
}
