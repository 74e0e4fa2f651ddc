import type { Knex } from 'knex'

/** Marks organizations whose data is made up, so that a server on the internet can say so. */
export async function up(knex: Knex): Promise<void> {
	await knex.schema.alterTable('organizations', (table) => {
		table.boolean('isDemo').notNullable().defaultTo(false)
	})
}
