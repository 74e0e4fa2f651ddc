import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
	const bytewise = knex.client.config.client === 'better-sqlite3' ? 'text' : 'text collate "C"'
	await knex.schema.createTable('tax_rates', (table) => {
		table.text('organizationId').notNullable().references('organizationId').inTable('organizations')
		table.specificType('id', bytewise).notNullable()
		table.text('name').notNullable()
		table.text('label').notNullable()
		table.text('percent').notNullable()
		table.boolean('inclusive').notNullable()
		table.boolean('isDefault').notNullable()
		table.boolean('active').notNullable()
		// Whether an invoice has used the rate: its percentage and `inclusive` can then no longer change.
		table.boolean('used').notNullable()
		table.bigInteger('createdAt').notNullable()
		table.bigInteger('updatedAt').notNullable()
		table.integer('version').notNullable()
		table.primary(['organizationId', 'id'])
		table.index(['organizationId', 'createdAt', 'id'], 'tax_rates_by_creation')
	})
}
