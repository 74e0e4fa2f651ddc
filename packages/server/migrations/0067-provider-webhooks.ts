import type { Knex } from 'knex'

/** What the webhooks of providers need, and the jobs that keep the refresh tokens of connections in use. */
export async function up(knex: Knex): Promise<void> {
	const sqlite = knex.client.config.client === 'better-sqlite3'
	const account = sqlite ? `json_extract(account, '$.externalId')` : `(account ->> 'externalId')`
	await knex.raw(`create index connections_by_account on connections (provider, ${account})`)
	await knex.schema.alterTable('syncs', (table) => {
		// When the provider said that something changed, while a run was under way: another begins when it ends.
		table.bigInteger('webhookAt')
	})
	// Each finds out when it is due.
	await knex.raw(
		`insert into jobs ("organizationId", kind, "resourceId", "dueAt")
		select "organizationId", 'tokenKeepAlive', id, ${Date.now()} from connections where "authType" = 'oauth2' and token is not null`,
	)
}
