import type { Knex } from 'knex'

/** A sent invoice keeps how its dates and numbers are written; a draft has no buyer and seller of an earlier sending any more. */
export async function up(knex: Knex): Promise<void> {
	await knex.schema.alterTable('invoices', (table) => {
		table.string('locale')
		table.string('timeZone')
		// Whether a caller wrote the buyer and the seller.
		table.boolean('billToWritten').notNullable().defaultTo(false)
		table.boolean('billFromWritten').notNullable().defaultTo(false)
	})
	await knex('invoices').where({ status: 'draft' }).update({ billTo: null, billFrom: null })
	const ofOrganization = (column: string) =>
		knex('organizations').select(column).where('organizations.organizationId', knex.ref('invoices.organizationId'))
	await knex('invoices')
		.whereNotNull('sentAt')
		.whereNot({ status: 'draft' })
		.update({ locale: ofOrganization('locale'), timeZone: ofOrganization('timeZone') })
}
