import type { Knex } from 'knex'

/** What has changed since a time, in the order of the changes; the entries of a user; contacts by their e-mail address in any case. */
const indexes = {
	contacts_by_change: '"updatedAt", id, "deletedAt"',
	contacts_by_email: 'lower(email), "createdAt", id, "deletedAt"',
	deals_by_change: '"updatedAt", id, "deletedAt"',
	time_entries_by_change: '"updatedAt", id',
	time_entries_by_user: '"userId", "startedAt", id',
}

export async function up(knex: Knex): Promise<void> {
	for (const [name, columns] of Object.entries(indexes))
		await knex.raw(`create index ?? on ?? ("organizationId", ${columns})`, [name, name.split('_by_')[0] as string])
}
