import type { Knex } from 'knex'

/** How many bytes the requests of an organization have stored on a day: days since 1970-01-01 in UTC. */
export async function up(knex: Knex): Promise<void> {
	await knex.schema.createTable('stored_bytes', (table) => {
		table.text('organizationId').notNullable().references('organizationId').inTable('organizations')
		table.integer('day').notNullable()
		table.bigInteger('bytes').notNullable()
		table.primary(['organizationId', 'day'])
	})
}
