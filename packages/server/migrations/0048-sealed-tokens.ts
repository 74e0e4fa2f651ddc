import type { Knex } from 'knex'

/** The token of a client link, sealed: null in links that an older version made, of the nonce and its key. */
export async function up(knex: Knex): Promise<void> {
	await knex.schema.alterTable('client_links', (table) => {
		table.text('sealedToken')
	})
}
