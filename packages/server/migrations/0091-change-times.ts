import type { Knex } from 'knex'

/** It only adds: servers of before write without order, as they did. */
export const needs = 0

/** When the last change of an organization's records was made. */
export async function up(knex: Knex): Promise<void> {
	await knex.schema.createTable('change_times', (table) => {
		table.text('organizationId').notNullable().references('organizationId').inTable('organizations')
		table.bigInteger('changedAt').notNullable()
		table.primary(['organizationId'])
	})
}
