import type { Knex } from 'knex'

/** Deliveries are found by their record and by the type of their event. */
export async function up(knex: Knex): Promise<void> {
	await knex.schema.alterTable('webhook_deliveries', (table) => {
		table.index(['organizationId', 'resourceId', 'id'], 'webhook_deliveries_by_resource')
		table.index(['organizationId', 'eventType', 'id'], 'webhook_deliveries_by_type')
	})
}
