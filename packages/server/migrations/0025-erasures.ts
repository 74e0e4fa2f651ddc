import type { Knex } from 'knex'

/** That something was erased, by whom and when, and nothing of what it was. */
export async function up(knex: Knex): Promise<void> {
	await knex.schema.createTable('erasures', (table) => {
		table.text('organizationId').notNullable().references('organizationId').inTable('organizations')
		table.text('id').notNullable()
		// organization | person
		table.text('kind').notNullable()
		// The user who ran the command; null for one without a name.
		table.text('erasedBy')
		table.bigInteger('startedAt').notNullable()
		// Null while it runs, or when it was broken off.
		table.bigInteger('finishedAt')
		table.integer('rowCount').notNullable()
		table.primary(['organizationId', 'id'])
	})
}
