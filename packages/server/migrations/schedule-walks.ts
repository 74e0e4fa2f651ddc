import type { Knex } from 'knex'

const dayMs = 86_400_000

/**
 * Makes a job due that walks all rows (platform/work/walk.ts), and once more a day later: until the last server of before has ended, it writes as it
 * did, also behind the walk.
 */
export async function scheduleWalks(knex: Knex, kind: string): Promise<void> {
	await knex.raw(
		`insert into jobs ("organizationId", kind, "resourceId", "dueAt")
			select '', '${kind}', walks.id, walks.later + cast(? as bigint) from (select '' as id, 0 as later union all select 'again', ${dayMs}) as walks
			where exists (select 1 from organizations) on conflict do nothing`,
		[Date.now()],
	)
}
