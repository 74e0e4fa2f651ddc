import type { Knex } from 'knex'

/** How an organization numbers its invoices, and what explains a gap in its numbers. */
export async function up(knex: Knex): Promise<void> {
	await knex.schema.alterTable('organizations', (table) => {
		table.boolean('numberOnIssue').notNullable().defaultTo(false)
		table.text('invoiceNumberPrefix').notNullable().defaultTo('INV-')
		table.integer('invoiceNumberDigits').notNullable().defaultTo(4)
	})
	// The counter of each series but `INV-`, whose counter is the organization's `nextInvoiceNumber`.
	await knex.schema.createTable('number_series', (table) => {
		table.text('organizationId').notNullable().references('organizationId').inTable('organizations')
		table.text('series').notNullable()
		table.bigInteger('nextNumber').notNullable()
		table.primary(['organizationId', 'series'])
	})
	// Numbers of a series that no invoice got, or that an invoice has no longer, though it was not deleted.
	await knex.schema.createTable('number_skips', (table) => {
		table.text('organizationId').notNullable().references('organizationId').inTable('organizations')
		table.text('id').notNullable()
		table.text('series').notNullable()
		table.bigInteger('firstNumber').notNullable()
		table.bigInteger('lastNumber').notNullable()
		table.text('reason').notNullable()
		table.text('invoiceId')
		table.text('skippedBy').notNullable()
		table.bigInteger('skippedAt').notNullable()
		table.primary(['organizationId', 'id'])
	})
}
