import type { Knex } from 'knex'

/** When the goods or services of an invoice, and of each of its lines, were supplied. */
export async function up(knex: Knex): Promise<void> {
	await knex.schema.alterTable('invoices', (table) => {
		table.bigInteger('periodStart')
		table.bigInteger('periodEnd')
	})
	const sqlite = knex.client.config.client === 'better-sqlite3'
	await knex.raw(
		sqlite
			? `update invoices set "lineItems" = (select json_group_array(
					json_insert(value, '$.periodStart', null, '$.periodEnd', null) order by key)
				from json_each(invoices."lineItems")) where "lineItems" <> '[]'`
			: `update invoices set "lineItems" = (select json_agg(jsonb '{"periodStart": null, "periodEnd": null}' || line order by place)
				from jsonb_array_elements(cast("lineItems" as jsonb)) with ordinality as lines(line, place))
				where cast("lineItems" as text) <> '[]'`,
	)
}
