import type { Knex } from 'knex'

/** The PDFs of sent invoices, as bytes: what a client has does not change with a new version of Remit. */
export async function up(knex: Knex): Promise<void> {
	await knex.schema.createTable('documents', (table) => {
		table.text('organizationId').notNullable()
		table.text('id').notNullable()
		table.text('invoiceId').notNullable()
		// Hash of what the document shows. The same again is answered with the same bytes.
		table.text('contentHash').notNullable()
		table.text('sha256').notNullable()
		table.bigInteger('size').notNullable()
		table.binary('bytes').notNullable()
		table.bigInteger('createdAt').notNullable()
		table.primary(['organizationId', 'id'])
		table.unique(['organizationId', 'invoiceId', 'contentHash'])
	})
}
