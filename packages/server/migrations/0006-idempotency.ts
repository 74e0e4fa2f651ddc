import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
	await knex.schema.createTable('idempotency_keys', (table) => {
		table.text('organizationId').notNullable().references('organizationId').inTable('organizations')
		table.text('keyId').notNullable()
		table.text('operationId').notNullable()
		table.text('idempotencyKey').notNullable()
		table.text('requestHash').notNullable()
		table.integer('status').notNullable()
		table.json('headers').notNullable()
		table.text('body').notNullable()
		table.bigInteger('createdAt').notNullable()
		table.primary(['organizationId', 'keyId', 'operationId', 'idempotencyKey'])
		table.index(['organizationId', 'createdAt'], 'idempotency_keys_by_age')
	})
}
