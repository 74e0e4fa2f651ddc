import type { Knex } from 'knex'

/** The status that an invoice had before a payment made it `paid`: it has that again when money is missing. */
export async function up(knex: Knex): Promise<void> {
	await knex.schema.alterTable('invoices', (table) => {
		table.text('statusBeforePayment')
	})
}
