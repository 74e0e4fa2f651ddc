import type { Knex } from 'knex'

/** It only adds a job: servers of before leave it to newer ones. */
export const needs = 0

/** Names of before are trimmed and composed, as those that come in (organizations/trim-store.ts). */
export async function up(knex: Knex): Promise<void> {
	await knex.raw(
		`insert into jobs ("organizationId", kind, "resourceId", "dueAt") select '', 'trimNames', '', cast(? as bigint)
			where exists (select 1 from organizations) on conflict do nothing`,
		[Date.now()],
	)
}
