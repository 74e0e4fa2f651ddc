import type { Knex } from 'knex'

/** An organization may charge time in steps of some minutes; an invoice keeps how its entries were rounded. */
export async function up(knex: Knex): Promise<void> {
	for (const name of ['organizations', 'invoices']) {
		await knex.schema.alterTable(name, (table) => {
			table.text('timeRounding').notNullable().defaultTo('none')
			table.integer('timeRoundingMinutes').notNullable().defaultTo(15)
		})
	}
}
