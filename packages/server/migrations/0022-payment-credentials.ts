import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
	await knex.schema.createTable('payment_credentials', (table) => {
		table.text('organizationId').primary().references('organizationId').inTable('organizations')
		table.text('processor').notNullable()
		// JSON of both secrets and the organization, sealed.
		table.text('sealed').notNullable()
		table.text('secretKeyLastFour').notNullable()
		table.text('webhookSecretLastFour').notNullable()
		table.bigInteger('updatedAt').notNullable()
	})
}
