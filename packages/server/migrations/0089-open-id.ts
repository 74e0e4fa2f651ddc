import type { Knex } from 'knex'

/** By which identity at the OpenID Connect provider a person signs in; both null until the first time. */
export async function up(knex: Knex): Promise<void> {
	await knex.schema.alterTable('users', (table) => {
		table.text('issuer')
		table.text('subject')
		// An identity finds the person, and through the person the organization, as an address does.
		table.index(['subject'], 'users_by_subject')
	})
	await knex.raw('create unique index users_subject on users ("organizationId", issuer, subject) where subject is not null')
	// Who is signed in by the provider has no link that would name the invitation.
	await knex.schema.alterTable('invitations', (table) => {
		table.index(['email'], 'invitations_by_email')
	})
}
