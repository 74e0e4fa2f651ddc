import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
	await knex.schema.createTable('pipelines', (table) => {
		table.text('organizationId').notNullable().references('organizationId').inTable('organizations')
		table.text('id').notNullable()
		table.text('name').notNullable()
		table.json('stages').notNullable()
		table.bigInteger('createdAt').notNullable()
		table.bigInteger('updatedAt').notNullable()
		table.primary(['organizationId', 'id'])
	})
	await knex.schema.createTable('deals', (table) => {
		table.text('organizationId').notNullable()
		table.text('id').notNullable()
		table.text('name').notNullable()
		table.text('companyId')
		table.text('pipelineId').notNullable()
		table.text('stage').notNullable()
		table.boolean('autoAdvance').notNullable()
		table.text('currency').notNullable()
		table.bigInteger('valueCents')
		table.bigInteger('hourlyRateCents')
		table.bigInteger('createdAt').notNullable()
		table.bigInteger('updatedAt').notNullable()
		table.integer('version').notNullable()
		table.primary(['organizationId', 'id'])
		table.foreign(['organizationId', 'pipelineId']).references(['organizationId', 'id']).inTable('pipelines')
		table.foreign(['organizationId', 'companyId']).references(['organizationId', 'id']).inTable('companies')
		table.index(['organizationId', 'companyId', 'createdAt', 'id'], 'deals_by_company')
	})
}
