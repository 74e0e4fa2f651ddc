import type { Knex } from 'knex'

/** Mappings, and what each said at every version: work that began with one version goes on with it. */
export async function up(knex: Knex): Promise<void> {
	const sqlite = knex.client.config.client === 'better-sqlite3'
	// The second sort key of lists, by bytes on both databases.
	const bytewise = sqlite ? 'text' : 'text collate "C"'
	const definition = (table: Knex.CreateTableBuilder) => {
		table.json('source').notNullable()
		table.json('target').notNullable()
		table.json('fields').notNullable()
		table.json('match')
	}
	await knex.schema.createTable('mappings', (table) => {
		table.text('organizationId').notNullable().references('organizationId').inTable('organizations')
		table.specificType('id', bytewise).notNullable()
		table.text('name').notNullable()
		definition(table)
		table.text('status').notNullable()
		table.json('validation').notNullable()
		table.bigInteger('createdAt').notNullable()
		table.bigInteger('updatedAt').notNullable()
		table.bigInteger('deletedAt')
		table.integer('version').notNullable()
		table.primary(['organizationId', 'id'])
		table.index(['organizationId', 'createdAt', 'id'], 'mappings_by_creation')
		table.index(['organizationId', 'status', 'createdAt', 'id'], 'mappings_by_status')
	})
	await knex.schema.createTable('mapping_versions', (table) => {
		table.text('organizationId').notNullable()
		table.specificType('mappingId', bytewise).notNullable()
		table.integer('version').notNullable()
		definition(table)
		table.bigInteger('createdAt').notNullable()
		table.primary(['organizationId', 'mappingId', 'version'])
		table.foreign(['organizationId', 'mappingId']).references(['organizationId', 'id']).inTable('mappings')
	})
}
