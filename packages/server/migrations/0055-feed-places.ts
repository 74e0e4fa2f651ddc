import type { Knex } from 'knex'

/**
 * The places of events count for each organization by itself, from where the sequence was: a reader may have passed a place whose event
 * is gone.
 *
 * A server of the version before takes places from the sequence: the lock waits for one that does so now, and the drop ends its way to
 * give more, since they would be neither above those of the counters nor different from them.
 */
export async function up(knex: Knex): Promise<void> {
	await knex.schema.createTable('feed_places', (table) => {
		table.text('organizationId').notNullable().primary()
		table.bigInteger('last').notNullable()
	})
	// SQLite orders the feed by position.
	if (knex.client.config.client === 'better-sqlite3') return
	await knex.raw('alter sequence event_places owned by none')
	await knex.raw(`insert into feed_places ("organizationId", last)
		select "organizationId", (select last_value from event_places) from organizations`)
	await knex.raw('drop sequence event_places')
}
