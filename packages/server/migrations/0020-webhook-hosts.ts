import type { Knex } from 'knex'

/**
 * What is known of the hosts that webhooks go to, whichever organization asked for it: a stranger's host must not hear more for
 * being named by several. A host that has taken a delivery counts as proven.
 */
export async function up(knex: Knex): Promise<void> {
	await knex.schema.createTable('webhook_hosts', (table) => {
		table.text('host').primary()
		// When it first answered 2xx.
		table.bigInteger('provenAt')
		// Until then: the attempts since this time, and the end of the lease of the one that is under way.
		table.bigInteger('hourBegan').notNullable()
		table.integer('attempts').notNullable()
		table.bigInteger('leaseUntil').notNullable()
	})
	await knex.schema.alterTable('webhook_endpoints', (table) => {
		table.text('host').notNullable().defaultTo('')
	})
	for (const { organizationId, id, url } of await knex('webhook_endpoints').select('organizationId', 'id', 'url')) {
		const host = new URL(url).hostname.replace(/\.$/, '')
		await knex('webhook_endpoints').where({ organizationId, id }).update({ host })
	}
	await knex.raw(`insert into webhook_hosts (host, "provenAt", "hourBegan", attempts, "leaseUntil")
		select p.host, max(p."createdAt"), 0, 0, 0 from webhook_endpoints p where exists (select 1 from webhook_deliveries d
			where d."organizationId" = p."organizationId" and d."endpointId" = p.id and d.status = 'succeeded')
		group by p.host`)
}
