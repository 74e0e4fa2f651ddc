import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
	await knex.schema.createTable('api_keys', (table) => {
		table.text('organizationId').notNullable().references('organizationId').inTable('organizations')
		table.text('id').notNullable()
		table.text('name').notNullable()
		// SHA-256, base64url. This look-up cannot start with the organization, because it finds the organization.
		table.text('hash').notNullable()
		table.text('lastFour').notNullable()
		table.json('scopes').notNullable()
		table.bigInteger('createdAt').notNullable()
		table.bigInteger('expiresAt')
		table.bigInteger('lastUsedAt')
		table.bigInteger('revokedAt')
		table.primary(['organizationId', 'id'])
		table.index(['hash'], 'api_keys_hash')
	})
}
