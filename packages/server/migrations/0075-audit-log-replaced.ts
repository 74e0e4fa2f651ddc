import type { Knex } from 'knex'

/**
 * On SQLite a trigger before an insert makes each insert keep copies of the pages that it changes: 25 µs, for every change of a record.
 * With `recursive_triggers`, which the server's connection sets (platform/db/drivers/sqlite.ts), a replacement fires the trigger against deleting.
 */
export async function up(knex: Knex): Promise<void> {
	if (knex.client.config.client === 'better-sqlite3') await knex.raw('drop trigger audit_log_is_not_replaced')
}
