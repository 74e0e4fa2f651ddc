import type { Knex } from 'knex'

/** A user has one running time entry at most. Not unique, since an older version let a user run several. */
export async function up(knex: Knex): Promise<void> {
	await knex.raw('create index time_entries_running on time_entries ("organizationId", "userId") where "endedAt" is null')
}
