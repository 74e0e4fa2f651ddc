import type { Knex } from 'knex'

/** A pipeline can let its deals wait until none of their invoices is open. */
export async function up(knex: Knex): Promise<void> {
	await knex.schema.alterTable('pipelines', (table) => {
		table.boolean('advanceWhenAllPaid').notNullable().defaultTo(false)
	})
}
