import type { Knex } from 'knex'

/** Who made an API key or an invitation; of those that are there the audit log knows it. */
export async function up(knex: Knex): Promise<void> {
	const object = knex.client.config.client === 'better-sqlite3' ? 'json_object' : 'json_build_object'
	for (const [table, kind] of [
		['api_keys', 'api_key'],
		['invitations', 'invitation'],
	] as const) {
		await knex.schema.alterTable(table, (columns) => {
			columns.json('createdBy')
		})
		await knex.raw(
			`update ?? set "createdBy" = (
				select ${object}('type', l."actorType", 'id', l."actorId") from audit_log as l
				where l."organizationId" = ??."organizationId" and l."resourceType" = ? and l."resourceId" = ??.id
					and l.action = 'created' and l."actorType" in ('user', 'api_key')
				limit 1
			)`,
			[table, table, kind, table],
		)
	}
}
