import type { Knex } from 'knex'

/**
 * The places of events count for each organization by itself. Its row is made, from its highest place, when it next gives places.
 *
 * A server of the version before takes places from the sequence: the drop waits for one that does so now, and ends its way to give
 * more, since they would be neither above those of the counter nor different from them.
 */
export async function up(knex: Knex): Promise<void> {
	await knex.schema.createTable('feed_places', (table) => {
		table.text('organizationId').notNullable().primary()
		table.bigInteger('last').notNullable()
	})
	// SQLite orders the feed by position.
	if (knex.client.config.client !== 'better-sqlite3') await knex.raw('drop sequence event_places')
}
