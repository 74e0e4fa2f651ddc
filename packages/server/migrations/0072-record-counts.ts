import type { Knex } from 'knex'

/**
 * How many live companies an organization has, counted as they are written: the list says the exact number, and counting a million rows
 * holds everybody up. The sum of the parts is the number. On PostgreSQL each connection has its part, so that many writers of an
 * organization seldom wait for each other, and takes it at the commit, as the last lock of a transaction: no two can wait in a circle.
 */
export async function up(knex: Knex): Promise<void> {
	const sqlite = knex.client.config.client === 'better-sqlite3'
	await knex.schema.createTable('record_counts', (table) => {
		table.text('organizationId').notNullable()
		table.text('kind').notNullable()
		table.integer('part').notNullable()
		table.bigInteger('live').notNullable()
		table.primary(['organizationId', 'kind', 'part'])
	})
	// The triggers first: PostgreSQL then lets nobody write companies until the commit.
	for (const statement of sqlite ? sqliteTriggers : postgresTriggers) await knex.raw(statement)
	await knex.raw(`insert into record_counts ("organizationId", kind, part, live)
		select "organizationId", 'company', 0, count(*) from companies where "deletedAt" is null group by "organizationId"`)
}

const add = (row: string, part: string, by: string) =>
	`insert into record_counts ("organizationId", kind, part, live) values (${row}."organizationId", 'company', ${part}, ${by})
		on conflict ("organizationId", kind, part) do update set live = record_counts.live + excluded.live;`

const isLive = (row: string) => `${row}."deletedAt" is null`
const hasTurned = `(${isLive('old')}) <> (${isLive('new')})`

const sqliteTriggers = [
	`create trigger companies_count_insert after insert on companies when ${isLive('new')} begin ${add('new', '0', '1')} end`,
	`create trigger companies_count_update after update of "deletedAt" on companies when ${hasTurned}
		begin ${add('new', '0', `iif(${isLive('new')}, 1, -1)`)} end`,
	`create trigger companies_count_delete after delete on companies when ${isLive('old')} begin ${add('old', '0', '-1')} end`,
]

const part = 'pg_backend_pid() % 16'

const postgresTriggers = [
	// A new version of a row finds room on the page of the old one.
	'alter table record_counts set (fillfactor = 25)',
	`create function count_companies() returns trigger language plpgsql as $$ begin
		if tg_op = 'DELETE' then ${add('old', part, '-1')}
		else ${add('new', part, `case when ${isLive('new')} then 1 else -1 end`)} end if;
		return null;
	end $$`,
	`create constraint trigger companies_count_insert after insert on companies deferrable initially deferred for each row
		when (${isLive('new')}) execute function count_companies()`,
	`create constraint trigger companies_count_update after update of "deletedAt" on companies deferrable initially deferred for each row
		when (${hasTurned}) execute function count_companies()`,
	// At once: rows are deleted with their organization only, and after them their number.
	`create trigger companies_count_delete after delete on companies for each row when (${isLive('old')})
		execute function count_companies()`,
]
