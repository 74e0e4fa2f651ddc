import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
	const sqlite = knex.client.config.client === 'better-sqlite3'
	await knex.schema.createTable('events', (table) => {
		// The order in which events were written.
		if (sqlite) table.increments('position')
		else table.bigIncrements('position', { primaryKey: false })
		table.text('organizationId').notNullable().references('organizationId').inTable('organizations')
		table.text('id').notNullable()
		table.text('type').notNullable()
		table.text('resourceType').notNullable()
		table.text('resourceId').notNullable()
		table.integer('sequence').notNullable()
		table.bigInteger('timestamp').notNullable()
		table.json('actor').notNullable()
		table.text('requestId')
		table.json('changes')
		table.json('data').notNullable()
		if (sqlite) table.unique(['organizationId', 'id'])
		else table.primary(['organizationId', 'id'])
		// Without the resource's type, which the prefix of its id tells.
		table.unique(['organizationId', 'resourceId', 'sequence'], { indexName: 'events_by_resource' })
		table.index(['organizationId', 'position'], 'events_by_position')
	})
}
