import type { Knex } from 'knex'

/** The first success after an outage brings the retries of its deliveries forward. */
export async function up(knex: Knex): Promise<void> {
	const bytewise = knex.client.config.client === 'better-sqlite3' ? 'text' : 'text collate "C"'
	await knex.schema.alterTable('webhook_deliveries', (table) => {
		// When the schedule, or the receiver, has the next attempt. Null: at `nextAttemptAt`, but a recovery may bring it forward.
		table.bigInteger('scheduledAt')
	})
	await knex.schema.alterTable('webhook_endpoints', (table) => {
		// Retries of deliveries after this id are still to be brought forward, whose last attempt was between these times.
		table.specificType('forwardAfter', bytewise)
		table.bigInteger('forwardFrom')
		table.bigInteger('forwardTo')
	})
	await knex.raw('drop index webhook_endpoints_backlogs')
	await knex.raw(`create index webhook_endpoints_backlogs on webhook_endpoints ("organizationId", id)
		where "skipUpTo" is not null or "againUpTo" is not null or ("forwardAfter" is not null and "failingSince" is null)`)
}
