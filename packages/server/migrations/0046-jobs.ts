import type { Knex } from 'knex'

/** Work that is due without a request: a row is written in the transaction that makes it due. */
export async function up(knex: Knex): Promise<void> {
	const bytewise = knex.client.config.client === 'better-sqlite3' ? 'text' : 'text collate "C"'
	await knex.schema.createTable('jobs', (table) => {
		// '' for the server's own.
		table.specificType('organizationId', bytewise).notNullable()
		table.specificType('kind', bytewise).notNullable()
		// '' for a job of the whole organization.
		table.specificType('resourceId', bytewise).notNullable()
		// Null while a worker has the job and nobody has made it due again.
		table.bigInteger('dueAt')
		// Not null while a worker has the job; the worker's token.
		table.bigInteger('leaseUntil')
		// Attempts since the last success, with the one under way.
		table.integer('attempt').notNullable().defaultTo(0)
		table.text('checkpoint')
		table.text('lastError')
		table.primary(['organizationId', 'kind', 'resourceId'])
	})
	await knex.raw('create index jobs_due on jobs (coalesce("leaseUntil", "dueAt"))')
}
