import type { Knex } from 'knex'

/** A recovery walks the retries of an endpoint, and a list those of one type; both are few beside what was skipped, or succeeded. */
export async function up(knex: Knex): Promise<void> {
	await knex.raw(
		`create index webhook_deliveries_retrying on webhook_deliveries ("organizationId", "endpointId", id) where status = 'retrying'`,
	)
	await knex.schema.alterTable('webhook_deliveries', (table) => {
		table.index(['organizationId', 'endpointId', 'eventType', 'id'], 'webhook_deliveries_by_endpoint_and_type')
	})
}
