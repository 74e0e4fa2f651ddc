import type { Knex } from 'knex'

/** Connections to other services. */
export async function up(knex: Knex): Promise<void> {
	// The second sort key of lists, by bytes on both databases.
	const sorted = knex.client.config.client === 'better-sqlite3' ? 'text' : 'text collate "C"'
	await knex.schema.createTable('connections', (table) => {
		table.text('organizationId').notNullable().references('organizationId').inTable('organizations')
		table.specificType('id', sorted).notNullable()
		table.text('provider').notNullable()
		table.text('name').notNullable()
		table.text('authType').notNullable()
		table.text('status').notNullable()
		table.text('statusReason')
		table.json('account')
		table.json('config').notNullable()
		table.json('grantedScopes').notNullable()
		table.text('credentialHint')
		table.bigInteger('expiresAt')
		table.bigInteger('lastRefreshedAt')
		table.bigInteger('lastSuccessAt')
		table.json('lastError')
		table.bigInteger('createdAt').notNullable()
		table.bigInteger('updatedAt').notNullable()
		table.integer('version').notNullable()
		// Sealed; in no answer.
		table.text('credentials').notNullable()
		table.primary(['organizationId', 'id'])
		table.index(['organizationId', 'createdAt', 'id'], 'connections_by_creation')
		table.index(['organizationId', 'provider', 'createdAt', 'id'], 'connections_by_provider')
		table.index(['organizationId', 'status', 'createdAt', 'id'], 'connections_by_status')
	})
}
