import type { Knex } from 'knex'

/**
 * Whether a delivery is under way is in no index but one of those that are: as a status it was in four, which each delivery changed twice.
 * A server of an older version beside this one still writes `delivering`, and frees what it had claimed by the end of the lease.
 */
export async function up(knex: Knex): Promise<void> {
	await knex.schema.alterTable('webhook_deliveries', (table) => {
		table.boolean('leased').notNullable().defaultTo(false)
	})
	await knex.raw('create index webhook_deliveries_leased on webhook_deliveries ("organizationId", id) where leased')
	if (knex.client.config.client !== 'better-sqlite3') return
	await knex.raw(
		`update webhook_deliveries set status = case "attemptCount" when 0 then 'pending' else 'retrying' end where status = 'delivering'`,
	)
}
