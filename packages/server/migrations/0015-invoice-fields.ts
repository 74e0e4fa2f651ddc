import type { Knex } from 'knex'

// Adds new fields to the JSON of earlier invoices (parties and line items); a field that is there keeps its value.
export async function up(knex: Knex): Promise<void> {
	const sqlite = knex.client.config.client === 'better-sqlite3'
	for (const party of ['billTo', 'billFrom']) {
		await knex.raw(
			sqlite
				? `update invoices set ?? = json_insert(??, '$.phone', null, '$.taxId', null) where ?? is not null`
				: `update invoices set ?? = (jsonb '{"phone": null, "taxId": null}' || cast(?? as jsonb))::json where ?? is not null`,
			[party, party, party],
		)
	}
	await knex.raw(
		sqlite
			? `update invoices set "lineItems" = (select json_group_array(
					json_insert(value, '$.taxRateId', null, '$.durationSeconds', null, '$.timeEntryIds', json('[]')))
				from json_each(invoices."lineItems")) where "lineItems" <> '[]'`
			: `update invoices set "lineItems" = (select json_agg(
					jsonb '{"taxRateId": null, "durationSeconds": null, "timeEntryIds": []}' || line order by place)
				from jsonb_array_elements(cast("lineItems" as jsonb)) with ordinality as lines(line, place))
				where cast("lineItems" as text) <> '[]'`,
	)
}
