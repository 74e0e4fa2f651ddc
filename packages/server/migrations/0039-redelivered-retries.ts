import type { Knex } from 'knex'

/** A redelivery takes deliveries that wait for a retry, too, or those with one status, or all. */
export async function up(knex: Knex): Promise<void> {
	await knex.schema.alterTable('webhook_endpoints', (table) => {
		// The status that a redelivery asked for which goes on; null when it asked for none.
		table.text('againStatus')
	})
	await knex.raw('drop index webhook_deliveries_by_endpoint_undelivered')
	await knex.raw(`create index webhook_deliveries_by_endpoint_undelivered on webhook_deliveries ("organizationId", "endpointId", id)
		where status in ('skipped', 'exhausted', 'retrying')`)
}
