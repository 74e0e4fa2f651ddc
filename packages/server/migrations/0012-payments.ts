import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
	// No foreign key to invoices: links and payments outlive theirs, so that a payment for a deleted invoice is still recorded.
	await knex.schema.createTable('payment_links', (table) => {
		table.text('organizationId').notNullable().references('organizationId').inTable('organizations')
		table.text('id').notNullable()
		table.text('invoiceId').notNullable()
		table.text('processor').notNullable()
		table.text('externalId').notNullable()
		table.text('url').notNullable()
		table.bigInteger('amountCents').notNullable()
		table.text('currency').notNullable()
		// live | closing (to be deactivated at the processor) | closed | paid
		table.text('status').notNullable()
		table.bigInteger('expiresAt')
		table.bigInteger('createdAt').notNullable()
		table.primary(['organizationId', 'id'])
		table.index(['organizationId', 'invoiceId', 'status'], 'payment_links_by_invoice')
		table.index(['organizationId', 'status'], 'payment_links_by_status')
		// The page of the test processor looks a link up by this id alone.
		table.index(['externalId'], 'payment_links_external')
	})
	await knex.schema.createTable('payments', (table) => {
		table.text('organizationId').notNullable().references('organizationId').inTable('organizations')
		table.text('processor').notNullable()
		table.text('eventId').notNullable()
		table.text('linkId').notNullable()
		table.text('invoiceId').notNullable()
		table.bigInteger('amountCents').notNullable()
		table.text('currency').notNullable()
		table.text('method').notNullable()
		table.text('reference').notNullable()
		// `applied`, or why the payment was not applied.
		table.text('outcome').notNullable()
		table.bigInteger('paidAt').notNullable()
		table.bigInteger('receivedAt').notNullable()
		table.primary(['organizationId', 'processor', 'eventId'])
	})
}
