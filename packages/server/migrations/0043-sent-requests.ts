import type { Knex } from 'knex'

/** An attempt keeps what its request had that nothing else tells: the URL of that moment, and the signature, whose secret may be gone. */
export async function up(knex: Knex): Promise<void> {
	await knex.schema.alterTable('webhook_attempts', (table) => {
		// JSON. Null: nothing was sent, or by a version that did not keep it.
		table.text('request')
	})
}
