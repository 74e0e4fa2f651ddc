import type { Knex } from 'knex'

/** Headers that a receiver wants in each request. Their values may be secrets: sealed, and in no answer. */
export async function up(knex: Knex): Promise<void> {
	await knex.schema.alterTable('webhook_endpoints', (table) => {
		table.json('headerNames').notNullable().defaultTo('[]')
		table.text('headers')
	})
}
