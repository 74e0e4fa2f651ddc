import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
	await knex.schema.createTable('organizations', (table) => {
		table.text('organizationId').primary()
		table.text('name').notNullable()
		table.text('timeZone').notNullable()
		table.text('taxRounding').notNullable()
		table.bigInteger('nextInvoiceNumber').notNullable()
		table.bigInteger('createdAt').notNullable()
	})
}
