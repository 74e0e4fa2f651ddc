import type { Knex } from 'knex'

/** SQLite keeps a table in the order of its rowid, and the primary key in a separate index: attempts need only the key. */
export async function up(knex: Knex): Promise<void> {
	if (knex.client.config.client !== 'better-sqlite3') return
	await knex.raw('alter table webhook_attempts rename to attempts_before')
	await knex.raw(`create table webhook_attempts ("organizationId" text not null, "deliveryId" text not null, number integer not null,
		"startedAt" bigint not null, "durationMs" integer not null, "responseStatus" integer, "responseBody" text, error text,
		primary key ("organizationId", "deliveryId", number)) without rowid`)
	await knex.raw('insert into webhook_attempts select * from attempts_before')
	await knex.raw('drop table attempts_before')
}
