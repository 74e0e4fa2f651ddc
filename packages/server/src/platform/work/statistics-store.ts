// The statistics of tables that are young. PostgreSQL looks once a minute for tables that have grown; until then it plans by none, and takes any
// index that begins with the organization to be as good as another: creating an invoice then read all of the organization's events.
import { type Database, query } from '../db/database.ts'

/** Rows from which on PostgreSQL's own minute is soon enough. */
const grown = 10_000

const analysis = query<object>((knex) =>
	knex.raw(`do $$ declare young regclass; begin
		for young in select oid from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace
			and reltuples < ${grown} and pg_stat_get_live_tuples(oid) > greatest(2 * reltuples, 50) and pg_has_role(relowner, 'usage')
		loop execute format('analyze (skip_locked) %s', young); end loop; end $$`),
)

/** Counts the rows of each young table that has twice as many as when they were counted last. */
export const analyzeYoungTables = (db: Database): Promise<unknown> =>
	db.transaction((tx) => tx.run(analysis, {}), { durable: false })
