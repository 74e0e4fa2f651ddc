import type { Knex } from 'knex'

/** One rejected event holds the later events of its record back for a while only, or not at all. */
export async function up(knex: Knex): Promise<void> {
	await knex.schema.alterTable('webhook_endpoints', (table) => {
		table.text('ordering').notNullable().defaultTo('resource')
	})
	await knex.schema.alterTable('webhook_deliveries', (table) => {
		// It holds no later delivery of its record back.
		table.boolean('outOfOrder').notNullable().defaultTo(false)
		// Until when a delivery that was rejected holds the later ones of its record back; null when it does not, or until it is done.
		table.bigInteger('holdsUntil')
	})
	// Those that were rejected before begin to hold now, but where the endpoint is down.
	await knex.raw(
		`update webhook_deliveries set "holdsUntil" = "updatedAt" + 300000 where status = 'retrying' and exists (select 1 from webhook_endpoints p
			where p."organizationId" = webhook_deliveries."organizationId" and p.id = webhook_deliveries."endpointId" and p."failingSince" is null)`,
	)
	await knex.raw('create index webhook_deliveries_holding on webhook_deliveries ("holdsUntil") where "holdsUntil" is not null')
}
