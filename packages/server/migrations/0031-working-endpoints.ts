import type { Knex } from 'knex'

/** An endpoint that works is not held back by the failures of others on its host. */
export async function up(knex: Knex): Promise<void> {
	await knex.schema.alterTable('webhook_endpoints', (table) => {
		// When its attempts began to succeed; null until one has, and again from a failure on.
		table.bigInteger('worksSince')
	})
	await knex.schema.alterTable('webhook_hosts', (table) => {
		// When it went back on probation for its failures; null when it is on probation for another reason, or is proven.
		table.bigInteger('lapsedAt')
	})
}
