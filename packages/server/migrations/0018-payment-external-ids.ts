import type { Knex } from 'knex'

/** A payment is stored once for each page of the processor, also when the page's link is unknown here. */
export async function up(knex: Knex): Promise<void> {
	await knex.schema.alterTable('payments', (table) => {
		table.text('externalId')
	})
	await knex.raw(`update payments set "externalId" = (select "externalId" from payment_links
		where payment_links."organizationId" = payments."organizationId" and payment_links.id = payments."linkId")`)
	await knex.schema.alterTable('payments', (table) => {
		table.unique(['organizationId', 'processor', 'externalId'], { indexName: 'payments_external' })
	})
}
