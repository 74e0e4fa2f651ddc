import type { Knex } from 'knex'

/** Whether the client link of a draft works, and a draft can be paid. */
export async function up(knex: Knex): Promise<void> {
	await knex.schema.alterTable('organizations', (table) => {
		table.boolean('publishDrafts').notNullable().defaultTo(true)
	})
}
