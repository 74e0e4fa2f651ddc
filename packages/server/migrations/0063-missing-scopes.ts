import type { Knex } from 'knex'

/** The scopes that a connection needs and was not given. It is known from the next token on. */
export async function up(knex: Knex): Promise<void> {
	await knex.schema.alterTable('connections', (table) => {
		table.json('missingScopes').notNullable().defaultTo('[]')
	})
}
