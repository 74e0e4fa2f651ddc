import type { Knex } from 'knex'

/**
 * The organizations that have ever written a record of more than 32,000 characters: their lists are read with care. The texts of
 * an invoice besides its lines have 20,000 characters at most.
 */
export async function up(knex: Knex): Promise<void> {
	await knex.schema.createTable('long_records', (table) => {
		table.text('organizationId').notNullable().references('organizationId').inTable('organizations').primary()
	})
	await knex.raw(`insert into long_records ("organizationId") select distinct "organizationId" from invoices
		where length(cast("lineItems" as text)) > 12000`)
}
