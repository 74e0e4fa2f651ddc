import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
	await knex.schema.alterTable('organizations', (table) => {
		for (const column of address) table.text(column)
		table.text('locale').notNullable().defaultTo('en-US')
		table.text('defaultCurrency').notNullable().defaultTo('USD')
		table.bigInteger('hourlyRateCents')
		table.text('paymentTerms')
		table.bigInteger('updatedAt').notNullable().defaultTo(0)
		table.integer('version').notNullable().defaultTo(1)
	})
	await knex('organizations').update({ updatedAt: knex.ref('createdAt') })
}

const address = [
	'contactName',
	'addressLine1',
	'addressLine2',
	'city',
	'state',
	'postalCode',
	'country',
	'email',
	'phone',
	'taxId',
]
