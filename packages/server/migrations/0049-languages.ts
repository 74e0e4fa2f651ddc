import type { Knex } from 'knex'

/** Invoices have a language: their own, the company's or the organization's. Null on a sent invoice is English. */
export async function up(knex: Knex): Promise<void> {
	await knex.schema.alterTable('organizations', (table) => {
		table.text('language').notNullable().defaultTo('en')
	})
	await knex.schema.alterTable('companies', (table) => {
		table.text('language')
	})
	await knex.schema.alterTable('invoices', (table) => {
		table.text('language')
		// Whether a caller wrote it, so that a sent invoice which becomes a draft keeps it.
		table.boolean('languageWritten').notNullable().defaultTo(false)
	})
}
