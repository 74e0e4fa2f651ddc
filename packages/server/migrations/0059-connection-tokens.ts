import type { Knex } from 'knex'

/** Access tokens of connections, and authorizations that are under way at a provider. */
export async function up(knex: Knex): Promise<void> {
	await knex.schema.alterTable('connections', (table) => {
		// Sealed; null without one.
		table.text('token')
		// Rises with each new token, and when a token is forgotten.
		table.integer('tokenGeneration').notNullable().defaultTo(0)
		// Until when one process alone may ask for a new token.
		table.bigInteger('refreshLeaseUntil')
		// The last authorization that was begun.
		table.text('stateHash')
		// Sealed; null once it was used.
		table.text('stateVerifier')
		table.bigInteger('stateExpiresAt')
		table.bigInteger('stateUsedAt')
		table.text('returnUrl')
		table.index(['stateHash'], 'connections_by_state')
	})
}
