import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
	const sqlite = knex.client.config.client === 'better-sqlite3'
	const bytewise = sqlite ? 'text' : 'text collate "C"'
	await knex.schema.createTable('audit_log', (table) => {
		table.text('organizationId').notNullable().references('organizationId').inTable('organizations')
		// Ids sort by time.
		table.specificType('id', bytewise).notNullable()
		table.bigInteger('createdAt').notNullable()
		table.text('action').notNullable()
		table.text('resourceType').notNullable()
		table.specificType('resourceId', bytewise).notNullable()
		table.text('operation').notNullable()
		table.text('actorType').notNullable()
		table.specificType('actorId', bytewise)
		table.text('address')
		table.text('requestId')
		table.json('before')
		table.json('after')
		table.bigInteger('erasedAt')
		table.primary(['organizationId', 'id'])
		table.index(['organizationId', 'resourceId', 'id'], 'audit_log_by_resource')
		table.index(['organizationId', 'actorId', 'id'], 'audit_log_by_actor')
	})
	for (const statement of sqlite ? sqliteTriggers() : postgresTriggers()) await knex.raw(statement)
}

// The one change that the triggers let through is an erasure: a person's data must go on request, so `before`, `after` and
// `address` become null together with an `erasedAt`. Who did what and when stays.
const kept = [
	...['organizationId', 'id', 'createdAt', 'action', 'resourceType', 'resourceId'],
	...['operation', 'actorType', 'actorId', 'requestId'],
]
const isErasure = (isSame: string) =>
	`new."before" is null and new."after" is null and new."address" is null and new."erasedAt" is not null and ${kept
		.map((column) => `new."${column}" ${isSame} old."${column}"`)
		.join(' and ')}`

const sqliteTriggers = () => [
	`create trigger audit_log_keeps before update on audit_log when not (${isErasure('is')})
		begin select raise(abort, 'audit_log is append only'); end`,
	`create trigger audit_log_stays before delete on audit_log begin select raise(abort, 'audit_log is append only'); end`,
]

const postgresTriggers = () => [
	`create function audit_log_is_append_only() returns trigger language plpgsql as $$
		begin raise exception 'audit_log is append only'; end $$`,
	`create trigger audit_log_keeps before update on audit_log for each row
		when (not (${isErasure('is not distinct from')})) execute function audit_log_is_append_only()`,
	`create trigger audit_log_stays before delete on audit_log for each row execute function audit_log_is_append_only()`,
	`create trigger audit_log_is_not_emptied before truncate on audit_log execute function audit_log_is_append_only()`,
]
