import type { Knex } from 'knex'

/** Logo and accent colour of an organization. A sent invoice keeps those that it was sent with; the bytes of a logo are stored once. */
export async function up(knex: Knex): Promise<void> {
	await knex.schema.alterTable('organizations', (table) => {
		table.json('logo')
		table.text('accentColor')
	})
	await knex.schema.alterTable('invoices', (table) => {
		table.json('branding')
	})
	await knex.schema.createTable('logos', (table) => {
		table.text('organizationId').notNullable()
		table.text('sha256').notNullable()
		table.binary('bytes').notNullable()
		table.bigInteger('createdAt').notNullable()
		// When an invoice was first sent with it: from then on it stays.
		table.bigInteger('usedAt')
		table.primary(['organizationId', 'sha256'])
	})
}
