import type { Knex } from 'knex'

/** It only adds: servers of before keep to the pause of a receiver. */
export const needs = 0

/** A person may end the pause that a receiver asked for. */
export async function up(knex: Knex): Promise<void> {
	await knex.schema.alterTable('webhook_endpoints', (table) => {
		// When a person last did so; null until then.
		table.bigInteger('resumedAt')
	})
}
