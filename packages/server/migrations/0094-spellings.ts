import type { Knex } from 'knex'

/** It only adds a job: servers of before leave it to newer ones. */
export const needs = 0

/** Records of before are found by all spellings, too (search/hits/renew-store.ts). */
export async function up(knex: Knex): Promise<void> {
	await knex.raw(
		`insert into jobs ("organizationId", kind, "resourceId", "dueAt") select '', 'searchTexts', '', cast(? as bigint)
			where exists (select 1 from organizations) on conflict do nothing`,
		[Date.now()],
	)
}
