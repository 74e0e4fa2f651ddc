import type { Knex } from 'knex'

/** The bounds of the counts by latency, in milliseconds. */
const bounds = [5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000]

/** The attempts of an endpoint by the hour, of a day: a row is used again after 24 hours. */
export async function up(knex: Knex): Promise<void> {
	const sqlite = knex.client.config.client === 'better-sqlite3'
	await knex.schema.createTable('webhook_endpoint_hours', (table) => {
		table.text('organizationId').notNullable()
		table.specificType('endpointId', sqlite ? 'text' : 'text collate "C"').notNullable()
		// The hour's place in its day, from 0 to 23.
		table.integer('place').notNullable()
		// Hours since 1970.
		table.integer('hour').notNullable()
		table.integer('succeeded').notNullable()
		table.integer('failed').notNullable()
		// Of the attempts that were answered: the sum, the longest, and their number by latency.
		table.bigInteger('totalMs').notNullable()
		table.integer('longestMs').notNullable()
		for (const bound of bounds) table.integer(`upTo${bound}`).notNullable()
		table.integer('longer').notNullable()
		table.primary(['organizationId', 'endpointId', 'place'])
		table.foreign(['organizationId', 'endpointId']).references(['organizationId', 'id']).inTable('webhook_endpoints')
	})
}
