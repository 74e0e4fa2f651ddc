import type { Knex } from 'knex'

/** One open error of a sync and record: a row for each run that failed anew would be as many as there are runs. */
export async function up(knex: Knex): Promise<void> {
	const bytewise = knex.client.config.client === 'better-sqlite3' ? 'text' : 'text collate "C"'
	await knex.schema.alterTable('sync_record_errors', (table) => {
		// The first of the runs, one after the other, that ended with the one that failed last.
		table.specificType('firstRunId', bytewise).notNullable().defaultTo('')
		table.bigInteger('lastFailedAt').notNullable().defaultTo(0)
		table.integer('count').notNullable().defaultTo(1)
	})
	await knex.raw(`delete from sync_record_errors where "resolvedAt" is null and exists (
		select 1 from sync_record_errors later where later."organizationId" = sync_record_errors."organizationId"
		and later."syncId" = sync_record_errors."syncId" and later.direction = sync_record_errors.direction
		and later."recordKey" = sync_record_errors."recordKey" and later."resolvedAt" is null and later."runId" > sync_record_errors."runId")`)
	await knex.raw(`update sync_record_errors set "firstRunId" = "runId", "lastFailedAt" = "createdAt"`)
	await knex.schema.alterTable('sync_record_errors', (table) => {
		table.dropUnique(['organizationId', 'runId', 'direction', 'recordKey'], 'sync_record_errors_by_key')
		table.dropIndex(['organizationId', 'runId', 'id'], 'sync_record_errors_by_run')
		table.index(['organizationId', 'syncId', 'runId', 'id'], 'sync_record_errors_by_run')
	})
	await knex.raw('drop index sync_record_errors_open')
	await knex.raw(
		`create unique index sync_record_errors_open on sync_record_errors ("organizationId", "syncId", direction, "recordKey") where "resolvedAt" is null`,
	)
	await knex.raw(
		`create index sync_record_errors_resolved on sync_record_errors ("organizationId", "runId") where "resolvedAt" is not null`,
	)
}
