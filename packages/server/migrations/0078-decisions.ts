import type { Knex } from 'knex'

/** How many records of a sync are open errors, and what callers decide of links and conflicts until a run does it. */
export async function up(knex: Knex): Promise<void> {
	// Ids are compared by bytes on both databases.
	const bytewise = knex.client.config.client === 'better-sqlite3' ? 'text' : 'text collate "C"'
	await knex.schema.alterTable('syncs', (table) => {
		table.integer('openErrors').notNullable().defaultTo(0)
	})
	await knex.raw(`update syncs set "openErrors" = (select count(*) from sync_record_errors e
		where e."organizationId" = syncs."organizationId" and e."syncId" = syncs.id and e."resolvedAt" is null)`)
	await knex.schema.alterTable('sync_record_errors', (table) => {
		table.text('decision')
	})
	await knex.raw(
		`create index sync_record_errors_open_by_id on sync_record_errors ("organizationId", "syncId", id) where "resolvedAt" is null`,
	)
	await knex.schema.alterTable('sync_links', (table) => {
		table.text('decision')
		// The sync whose runs do it: those of another way know nothing of its conflict.
		table.specificType('decidedFor', bytewise)
	})
	await knex.raw(
		`create index sync_links_decided on sync_links ("organizationId", "connectionId", object, kind, "decidedFor", "recordId") where decision is not null`,
	)
}
