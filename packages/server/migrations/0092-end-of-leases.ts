import type { Knex } from 'knex'

/** It only adds: what servers of before do not know of a lease, the database does for them. */
export const needs = 0

/**
 * The end of a delivery's lease has a column of its own, which no index of PostgreSQL has: a claim then writes no entry in any of them, if
 * the page of the row has room for its next version.
 */
export async function up(knex: Knex): Promise<void> {
	await knex.schema.alterTable('webhook_deliveries', (table) => {
		table.bigInteger('leaseEnd')
	})
	const sqlite = knex.client.config.client === 'better-sqlite3'
	for (const statement of sqlite ? ofSqlite : ofPostgres) await knex.raw(statement)
}

const ofSqlite = [
	// What is under way is passed over without its row.
	'drop index webhook_deliveries_due',
	`create index webhook_deliveries_due on webhook_deliveries ("organizationId", "endpointId", "nextAttemptAt", id, "leaseEnd")
		where "nextAttemptAt" is not null`,
	'drop index webhook_deliveries_leased',
	'create index webhook_deliveries_leased on webhook_deliveries ("organizationId", id) where (leased or "leaseEnd" is not null)',
]

const ofPostgres = [
	'alter table webhook_deliveries set (fillfactor = 50)',
	// A server of before would claim, pause or make again what a newer one has under way, and neither of them may complete what the other has.
	`create function keep_leases() returns trigger language plpgsql as $$ begin
		if old."leaseEnd" > extract(epoch from clock_timestamp()) * 1000 then return null; end if;
		new."leaseEnd" := null;
		return new;
	end $$`,
	`create trigger webhook_deliveries_keep_leases before update on webhook_deliveries for each row
		when (old."leaseEnd" = new."leaseEnd") execute function keep_leases()`,
]
