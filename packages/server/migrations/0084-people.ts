import type { Knex } from 'knex'

/** The people of an organization, their sessions, and the links by which they join or set a new password. */
export async function up(knex: Knex): Promise<void> {
	const bytewise = knex.client.config.client === 'better-sqlite3' ? 'text' : 'text collate "C"'
	const owned = (table: Knex.CreateTableBuilder) => {
		table.text('organizationId').notNullable().references('organizationId').inTable('organizations')
		table.specificType('id', bytewise).notNullable()
		table.primary(['organizationId', 'id'])
	}
	await knex.schema.createTable('users', (table) => {
		owned(table)
		table.text('email').notNullable()
		table.text('name').notNullable()
		table.text('role').notNullable()
		// argon2id, as a PHC string; null for a person who cannot sign in with a password.
		table.text('passwordHash')
		table.bigInteger('lastSignInAt')
		table.bigInteger('removedAt')
		table.bigInteger('createdAt').notNullable()
		table.bigInteger('updatedAt').notNullable()
		table.integer('version').notNullable()
		// Signing in finds the organization by the address.
		table.index(['email'], 'users_by_email')
	})
	await knex.raw('create unique index users_email on users ("organizationId", email) where "removedAt" is null')
	await knex.raw('create index users_by_creation on users ("organizationId", "createdAt", id) where "removedAt" is null')
	await knex.schema.createTable('sessions', (table) => {
		owned(table)
		// SHA-256, base64url, as the hash of a key: it finds the organization.
		table.text('hash').notNullable()
		table.text('userId').notNullable()
		table.text('userAgent')
		table.text('address')
		table.bigInteger('createdAt').notNullable()
		table.bigInteger('lastSeenAt').notNullable()
		table.bigInteger('expiresAt').notNullable()
		table.index(['hash'], 'sessions_hash')
		table.index(['organizationId', 'createdAt', 'id'], 'sessions_by_creation')
		table.index(['organizationId', 'userId', 'createdAt', 'id'], 'sessions_by_person')
	})
	await knex.schema.createTable('invitations', (table) => {
		owned(table)
		table.text('hash').notNullable()
		table.text('email').notNullable()
		table.text('role').notNullable()
		table.bigInteger('emailedAt')
		table.bigInteger('expiresAt').notNullable()
		table.bigInteger('createdAt').notNullable()
		table.index(['hash'], 'invitations_hash')
		table.unique(['organizationId', 'email'], { indexName: 'invitations_email' })
		table.index(['organizationId', 'createdAt', 'id'], 'invitations_by_creation')
	})
	await knex.schema.createTable('password_resets', (table) => {
		table.text('organizationId').notNullable().references('organizationId').inTable('organizations')
		// A person has one at most.
		table.text('userId').notNullable()
		table.text('hash').notNullable()
		table.bigInteger('expiresAt').notNullable()
		table.primary(['organizationId', 'userId'])
		table.index(['hash'], 'password_resets_hash')
	})
}
