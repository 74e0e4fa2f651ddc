import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
	await knex.schema.alterTable('invoices', (table) => {
		table.integer('viewCount').notNullable().defaultTo(0)
		// For the job that turns sent invoices overdue.
		table.index(['organizationId', 'status', 'dueDate'], 'invoices_by_due_date')
	})
	await knex.schema.createTable('client_links', (table) => {
		table.text('organizationId').notNullable()
		table.text('invoiceId').notNullable()
		// The server makes the token from this and a secret that is not in the database, which keeps only the token's hash.
		table.text('nonce').notNullable()
		// This look-up cannot start with the organization, because it finds the organization.
		table.text('tokenHash').notNullable()
		table.bigInteger('createdAt').notNullable()
		table.primary(['organizationId', 'invoiceId'])
		table.foreign(['organizationId', 'invoiceId']).references(['organizationId', 'id']).inTable('invoices').onDelete('cascade')
		table.index(['tokenHash'], 'client_links_token')
	})
}
