import type { Knex } from 'knex'

/** Tax numbers of buyers; VAT id, register, bank account and footer of sellers. */
export async function up(knex: Knex): Promise<void> {
	await knex.schema.alterTable('companies', (table) => {
		table.text('taxId')
		table.text('vatId')
	})
	await knex.schema.alterTable('organizations', (table) => {
		table.text('vatId')
		table.text('registration')
		table.json('bankAccount')
		table.text('footer')
	})
	const sqlite = knex.client.config.client === 'better-sqlite3'
	for (const party of ['billTo', 'billFrom'])
		await knex.raw(
			sqlite
				? `update invoices set ?? = json_insert(??, ${fields.map((field) => `'$.${field}', null`).join(', ')}) where ?? is not null`
				: `update invoices set ?? = (jsonb '{${fields.map((field) => `"${field}": null`).join(', ')}}' || cast(?? as jsonb))::json
					where ?? is not null`,
			[party, party, party],
		)
}

const fields = ['vatId', 'registration', 'bankAccount', 'footer']
