import type { Knex } from 'knex'

/** Links by which a person connects an account without a key, and where such a link may lead back to. */
export async function up(knex: Knex): Promise<void> {
	await knex.schema.alterTable('connections', (table) => {
		table.text('linkHash')
		table.bigInteger('linkExpiresAt')
		table.bigInteger('linkUsedAt')
		// How often credentials were tested by it.
		table.integer('linkTries').notNullable().defaultTo(0)
		table.text('linkReturnUrl')
		// The hash of the cookie of the browser that began an authorization by a link; null for one that a caller began.
		table.text('stateBrowser')
		table.index(['linkHash'], 'connections_by_link')
	})
	await knex.schema.alterTable('organizations', (table) => {
		table.json('connectReturnOrigins').notNullable().defaultTo('[]')
	})
}
