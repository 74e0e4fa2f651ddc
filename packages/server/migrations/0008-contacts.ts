import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
	const bytewise = knex.client.config.client === 'better-sqlite3' ? 'text' : 'text collate "C"'
	await knex.schema.createTable('contacts', (table) => {
		table.text('organizationId').notNullable().references('organizationId').inTable('organizations')
		table.specificType('id', bytewise).notNullable()
		table.text('name').notNullable()
		table.text('email')
		table.text('phone')
		table.text('companyId')
		table.bigInteger('createdAt').notNullable()
		table.bigInteger('updatedAt').notNullable()
		table.bigInteger('deletedAt')
		table.integer('version').notNullable()
		table.primary(['organizationId', 'id'])
		table.foreign(['organizationId', 'companyId']).references(['organizationId', 'id']).inTable('companies')
		table.index(['organizationId', 'createdAt', 'id'], 'contacts_by_creation')
		table.index(['organizationId', 'companyId', 'createdAt', 'id'], 'contacts_by_company')
	})
	await knex.schema.alterTable('pipelines', (table) => {
		table.integer('version').notNullable().defaultTo(1)
		table.index(['organizationId', 'createdAt', 'id'], 'pipelines_by_creation')
	})
	// No foreign key to contacts, because SQLite cannot add one to a table. Their rows are never removed, so none can dangle.
	await knex.schema.alterTable('deals', (table) => {
		table.text('contactId')
		table.bigInteger('deletedAt')
		table.index(['organizationId', 'createdAt', 'id'], 'deals_by_creation')
		table.index(['organizationId', 'contactId', 'createdAt', 'id'], 'deals_by_contact')
		table.index(['organizationId', 'pipelineId', 'createdAt', 'id'], 'deals_by_pipeline')
		table.index(['organizationId', 'stage', 'createdAt', 'id'], 'deals_by_stage')
	})
	if (bytewise !== 'text') {
		for (const table of ['deals', 'pipelines']) await knex.raw(`alter table ?? alter column id type ${bytewise}`, [table])
	}
}
