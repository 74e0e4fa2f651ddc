import type { Knex } from 'knex'

/** On SQLite a table is kept in the order of its rowid, and its key in an index beside: attempts need the key alone. */
export async function up(knex: Knex): Promise<void> {
	if (knex.client.config.client !== 'better-sqlite3') return
	await knex.raw('alter table webhook_attempts rename to attempts_before')
	await knex.raw(`create table webhook_attempts ("organizationId" text not null, "deliveryId" text not null, number integer not null,
		"startedAt" bigint not null, "durationMs" integer not null, "responseStatus" integer, "responseBody" text, error text,
		primary key ("organizationId", "deliveryId", number)) without rowid`)
	await knex.raw('insert into webhook_attempts select * from attempts_before')
	await knex.raw('drop table attempts_before')
}
