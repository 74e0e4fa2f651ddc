import type { Knex } from 'knex'

/** Links whose other side is gone are gone through by id. */
export async function up(knex: Knex): Promise<void> {
	await knex.raw('drop index sync_links_gone')
	await knex.raw(
		`create index sync_links_gone on sync_links ("organizationId", "connectionId", object, kind, "goneRunId", "recordId") where "goneRunId" is not null`,
	)
}
