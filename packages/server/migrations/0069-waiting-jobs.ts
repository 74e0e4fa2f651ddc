import type { Knex } from 'knex'

/** What looks for jobs of syncs that wait for too long, since the clock was set back, finds none most of the time, and reads no others. */
export async function up(knex: Knex): Promise<void> {
	await knex.raw(
		`create index jobs_waiting on jobs ("dueAt") where kind in ('syncSchedule', 'syncRun', 'syncWebhook') and "leaseUntil" is null`,
	)
}
