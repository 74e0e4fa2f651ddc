import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
	await knex.schema.alterTable('api_keys', (table) => {
		table.index(['organizationId', 'createdAt', 'id'], 'api_keys_by_creation')
	})
	if (knex.client.config.client !== 'better-sqlite3') await knex.raw('alter table api_keys alter column id type text collate "C"')
}
