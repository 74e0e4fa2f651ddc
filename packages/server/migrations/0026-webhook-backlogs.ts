import type { Knex } from 'knex'

/** What is left to do of a pause, a deletion or a redelivery, which change an endpoint's deliveries in parts. */
export async function up(knex: Knex): Promise<void> {
	const bytewise = knex.client.config.client === 'better-sqlite3' ? 'text' : 'text collate "C"'
	await knex.schema.alterTable('webhook_endpoints', (table) => {
		// Waiting deliveries up to this id are still to be skipped or cancelled.
		table.specificType('skipUpTo', bytewise)
		// Skipped and exhausted deliveries after and up to these ids are still to be made again.
		table.specificType('againAfter', bytewise)
		table.specificType('againUpTo', bytewise)
	})
	await knex.raw(`create index webhook_endpoints_backlogs on webhook_endpoints ("organizationId", id)
		where "skipUpTo" is not null or "againUpTo" is not null`)
	await knex.raw(`create index webhook_deliveries_by_endpoint_undelivered on webhook_deliveries ("organizationId", "endpointId", id)
		where status in ('skipped', 'exhausted')`)
}
