import type { Knex } from 'knex'

/**
 * On SQLite `insert or replace` removes an entry without its delete trigger (unless `recursive_triggers` is on), so that an id that
 * is taken must be refused before. On PostgreSQL `on conflict do update` runs the update trigger.
 */
export async function up(knex: Knex): Promise<void> {
	if (knex.client.config.client !== 'better-sqlite3') return
	await knex.raw(`create trigger audit_log_is_not_replaced before insert on audit_log
		when exists (select 1 from audit_log where "organizationId" = new."organizationId" and id = new.id)
		begin select raise(abort, 'audit_log is append only'); end`)
}
